package openai

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/vimbank/vimbank/llm"
	"github.com/vimbank/vimbank/memtypes"
)

// link sends the client's requests. It lets only a good status through, with a
// capped body, and turns every other into an error with its code and wait: the
// client itself keeps neither headers nor bounds.
type link struct {
	http    *http.Client
	maxBody int64
	key     string // only to take it out of messages
}

// maxMessage bounds what is read of an answer that only explains a failure.
const maxMessage = 16 << 10

// Do implements the client's HTTPDoer.
func (l *link) Do(req *http.Request) (*http.Response, error) {
	const op = "openai.Do"
	req.Header.Set("User-Agent", "vimbank")
	res, err := l.http.Do(req)
	if err != nil {
		return nil, memtypes.Errorf(op, memtypes.Unavailable, "%w", err)
	}
	if res.StatusCode >= 200 && res.StatusCode < 300 {
		res.Body = http.MaxBytesReader(nil, res.Body, l.maxBody)
		return res, nil
	}
	defer res.Body.Close()
	body, _ := io.ReadAll(io.LimitReader(res.Body, maxMessage)) // best effort: the status says enough
	cause := &refusal{status: res.StatusCode, message: l.redact(explanation(body))}
	return nil, &memtypes.Error{Op: op, Code: cause.code(), Err: cause.advise(res.Header)}
}

// stay refuses to follow a redirect: keys and texts go where the configuration says.
func stay(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }

// redact takes the key out of a server's words and shortens them.
func (l *link) redact(s string) string {
	if l.key != "" {
		s = strings.ReplaceAll(s, l.key, "***")
	}
	if r := []rune(s); len(r) > 200 {
		s = string(r[:200]) + "…"
	}
	return s
}

// refusal is an answer with a status that is no success.
type refusal struct {
	status  int
	message string
}

func (r *refusal) Error() string {
	s := fmt.Sprintf("status %d", r.status)
	if t := http.StatusText(r.status); t != "" {
		s += " " + t
	}
	if r.message != "" {
		s += ": " + r.message
	}
	return s
}

// code is Invalid where the server refuses what was sent, else Unavailable: a
// wrong key, model or path is no fault of the text, and is cured at the server
// or in the configuration.
func (r *refusal) code() memtypes.Code {
	switch r.status {
	case http.StatusBadRequest, http.StatusRequestEntityTooLarge, http.StatusUnprocessableEntity:
		return memtypes.Invalid
	}
	return memtypes.Unavailable
}

// advise says whether and when another try may help.
func (r *refusal) advise(h http.Header) error {
	switch {
	case strings.Contains(r.message, "insufficient_quota"):
		return llm.Final(r) // a 429 that no wait cures
	case r.status == http.StatusRequestTimeout, r.status == http.StatusTooEarly, r.status == http.StatusTooManyRequests,
		r.status >= 500 && r.status != http.StatusNotImplemented:
		if wait, ok := retryAfter(h); ok {
			return &llm.RetryAfter{Wait: wait, Err: r}
		}
		return r
	case r.status >= 300 && r.status < 400:
		return llm.Final(fmt.Errorf("%w: redirects are not followed, put the final address into base_url", r))
	}
	return llm.Final(r)
}

// retryAfter reads the wait that a server asks for: in milliseconds, in
// seconds, or as a date, which is compared with the server's own clock.
func retryAfter(h http.Header) (time.Duration, bool) {
	if ms, err := strconv.ParseFloat(h.Get("Retry-After-Ms"), 64); err == nil {
		return span(ms / 1e3), true
	}
	v := h.Get("Retry-After")
	if s, err := strconv.ParseFloat(v, 64); err == nil {
		return span(s), true
	}
	at, err := http.ParseTime(v)
	now, err2 := http.ParseTime(h.Get("Date"))
	if errors.Join(err, err2) != nil {
		return 0, false
	}
	return at.Sub(now), true
}

// span turns seconds into a duration of at most a year; what is no number is none.
func span(seconds float64) time.Duration {
	const year = 365 * 24 * 3600
	if !(seconds > 0) {
		return 0
	}
	return time.Duration(min(seconds, year) * float64(time.Second))
}

// explanation finds the words of a failure in the forms that servers use:
// {"error":{"message","code"}}, {"error":"..."}, {"detail":"..."}, {"message":"..."}, plain text.
func explanation(body []byte) string {
	var all struct {
		Error   json.RawMessage `json:"error"`
		Detail  json.RawMessage `json:"detail"`
		Message string          `json:"message"`
	}
	if json.Unmarshal(body, &all) != nil {
		return strings.Join(strings.Fields(string(body)), " ")
	}
	var inner struct {
		Message string `json:"message"`
		Code    any    `json:"code"`
	}
	if json.Unmarshal(all.Error, &inner) == nil && inner.Message != "" {
		if code, ok := inner.Code.(string); ok && code != "" {
			return inner.Message + " (" + code + ")"
		}
		return inner.Message
	}
	for _, raw := range []json.RawMessage{all.Error, all.Detail} {
		var s string
		if json.Unmarshal(raw, &s) == nil && s != "" {
			return s
		}
	}
	if all.Message != "" {
		return all.Message
	}
	return string(body)
}
