package elastic

import (
	"context"
	"encoding/json"
	"io"
	"math/rand/v2"
	"net/http"
	"strconv"
	"time"

	"github.com/elastic/go-elasticsearch/v8/esapi"

	"github.com/vimbank/vimbank/memtypes"
)

// ask is one request: what it is for, and how to make it, anew for each attempt.
type ask struct {
	op    string
	index string // it concerns, for errors
	slow  bool   // it may take six times as long
	make  func() esapi.Request
}

// maxAnswer bounds what is read of an answer.
const maxAnswer = 256 << 20

// slowness is how many times longer a slow request may take.
const slowness = 6

// call sends a and decodes the answer into into, unless that is nil. It tries
// again what is worth it, within the time of one request. An answer that is an
// error is a *refusal behind the error.
func (s *Store) call(ctx context.Context, a ask, into any) error {
	if ctx.Err() != nil {
		return canceled(ctx, a.op)
	}
	if s.closed.Load() {
		return errClosed(a.op)
	}
	d := s.opt.Timeout
	if a.slow {
		d *= slowness
	}
	limited, cancel := context.WithTimeout(ctx, d)
	defer cancel()
	var err error
	for n := 0; ; n++ {
		var rest time.Duration
		if rest, err = s.once(limited, a, into); err == nil {
			return nil
		}
		if n >= s.opt.Retry.Max || !again(err) || !sleep(limited, s.pause(n, rest)) {
			break
		}
	}
	if ctx.Err() != nil {
		return canceled(ctx, a.op)
	}
	return s.verdict(a, d, limited.Err(), err)
}

// once sends a one time. rest is how long the server asks to be left alone.
func (s *Store) once(ctx context.Context, a ask, into any) (rest time.Duration, err error) {
	res, err := a.make().Do(ctx, s.client)
	if err != nil {
		return 0, &noAnswer{err}
	}
	defer res.Body.Close()
	body, err := io.ReadAll(io.LimitReader(res.Body, maxAnswer+1))
	if err != nil {
		return 0, &noAnswer{err}
	}
	if res.StatusCode/100 != 2 {
		secs, _ := strconv.Atoi(res.Header.Get("Retry-After"))
		return time.Duration(max(secs, 0)) * time.Second, newRefusal(res.StatusCode, res.Header, body)
	}
	if len(body) > maxAnswer {
		return 0, &strange{what: "an answer of more than " + strconv.Itoa(maxAnswer>>20) + " MiB"}
	}
	if into == nil {
		into = &json.RawMessage{}
	}
	if err := json.Unmarshal(body, into); err != nil {
		return 0, &strange{what: describe(res.Header, body), err: err}
	}
	return 0, nil
}

// again reports whether another attempt may go better.
func again(err error) bool {
	switch e := err.(type) {
	case *noAnswer:
		return !e.hopeless()
	case *refusal:
		return e.busy()
	}
	return true // strange: cut short, or a proxy's page
}

// pause is how long to wait before attempt n+1.
func (s *Store) pause(n int, rest time.Duration) time.Duration {
	most := min(s.opt.Retry.Base<<min(n, 20), s.opt.Retry.Cap)
	return max(rand.N(max(most, 1)), rest)
}

// sleep waits; it reports false if ctx ends first.
func sleep(ctx context.Context, d time.Duration) bool {
	if end, ok := ctx.Deadline(); ok && time.Until(end) <= d {
		return false
	}
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-ctx.Done():
		return false
	case <-t.C:
		return true
	}
}

// describe says what an answer is that is not as wanted.
func describe(h http.Header, body []byte) string {
	kind := h.Get("Content-Type")
	if kind == "" {
		kind = "unknown type"
	}
	return strconv.Itoa(len(body)) + " bytes of " + brief(kind)
}

func canceled(ctx context.Context, op string) error {
	return memtypes.Errorf(op, memtypes.Canceled, "%w", context.Cause(ctx))
}

func errClosed(op string) error {
	return memtypes.Errorf(op, memtypes.Unavailable, "the index is closed")
}
