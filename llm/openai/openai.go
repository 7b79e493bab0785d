// Package openai asks any server that speaks the OpenAI protocol for
// embeddings and completions: the one gate of the go-openai library.
//
// It promises bounds that the library does not have: a time-out a try, a cap on
// every answer, retries with jitter, a breaker, a limit on calls at once, no
// redirects, and no way to the addresses where clouds hand out credentials. It
// checks every vector before it gives it on. Keys appear in no error.
//
// Errors carry a code to act on: Unavailable where the server fails or refuses
// the caller (tried again only where that may help), Invalid where it refuses
// the text itself, Incompatible where its vectors are not of the kind that the
// embedder was opened with. What a model says is not checked here: every caller
// must cope with a wrong answer.
package openai

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"time"

	oai "github.com/sashabaranov/go-openai"

	"github.com/vimbank/vimbank/llm"
	"github.com/vimbank/vimbank/memtypes"
)

// Options sets how a server is asked. The zero value is ready to use.
type Options struct {
	APIKey      string              // sent as a bearer token; empty: none is sent
	Timeout     time.Duration       // of one try, body included; zero means 30 s
	MaxBody     int64               // bytes of an answer; zero means 8 MiB
	Concurrency int                 // calls at once; zero means 4. Sixteen times as many may wait, more are Full
	Retry       *llm.RetryOptions   // nil: its zero value
	Breaker     *llm.BreakerOptions // nil: its zero value
}

// String gives the settings without the key.
func (o Options) String() string {
	if o.APIKey != "" {
		o.APIKey = "***"
	}
	type bare Options
	return fmt.Sprintf("%+v", bare(o))
}

// GoString is String: no way of printing Options shows the key.
func (o Options) GoString() string { return o.String() }

// server is one model at one base URL, with its guards.
type server struct {
	client *oai.Client
	link   *link
	guard  llm.Guard
	model  string
}

// connect checks the settings and makes a server; nothing is sent. op names the caller in errors.
func connect(op, baseURL, model string, o *Options) (*server, error) {
	if o == nil {
		o = &Options{}
	}
	u, err := checkURL(op, baseURL)
	if err != nil {
		return nil, err
	}
	if strings.TrimSpace(model) == "" {
		return nil, memtypes.BadField(op, "model", model, "the name of a model that the server has")
	}
	if strings.ContainsFunc(o.APIKey, func(r rune) bool { return r <= ' ' || r > '~' }) {
		return nil, memtypes.BadField(op, "api_key", memtypes.Remark("a blank or another character that a key cannot have"), "printable ASCII")
	}
	timeout := cmp.Or(o.Timeout, 30*time.Second)
	l := &link{
		http:    &http.Client{Transport: transport(u.Hostname()), CheckRedirect: stay},
		maxBody: cmp.Or(o.MaxBody, 8<<20),
		key:     o.APIKey,
	}
	c := oai.DefaultConfig(o.APIKey)
	c.BaseURL, c.HTTPClient = strings.TrimRight(u.String(), "/"), l
	seats := cmp.Or(o.Concurrency, 4)
	return &server{
		client: oai.NewClientWithConfig(c),
		link:   l,
		model:  model,
		guard: llm.Chain(
			llm.Retry(o.Retry), llm.Breaker("model "+model, o.Breaker),
			llm.Limit(seats, 16*seats), llm.Timeout(timeout),
		),
	}, nil
}

// checkURL admits an http or https address of a host, with a path or without.
func checkURL(op, s string) (*url.URL, error) {
	const wanted = "an address such as http://127.0.0.1:8080/v1, without user, query or fragment"
	u, err := url.Parse(s)
	if err != nil {
		return nil, memtypes.BadField(op, "base_url", memtypes.Remark("what is no address"), wanted) // err would repeat a password
	}
	if (u.Scheme != "http" && u.Scheme != "https") || u.Hostname() == "" || u.User != nil || u.RawQuery != "" || u.Fragment != "" {
		return nil, memtypes.BadField(op, "base_url", u.Redacted(), wanted)
	}
	return u, nil
}

// do runs one call of the client under the guards; its error has a code.
func (s *server) do(ctx context.Context, op string, call func(context.Context) error) error {
	return s.guard(ctx, func(ctx context.Context) error { return classify(ctx, op, call(ctx)) })
}

// classify gives err the code to act on.
func classify(ctx context.Context, op string, err error) error {
	if err == nil {
		return nil
	}
	if ctx.Err() != nil {
		return memtypes.Errorf(op, memtypes.Canceled, "%w", context.Cause(ctx))
	}
	if e, ok := errors.AsType[*memtypes.Error](err); ok {
		return e
	}
	if e, ok := errors.AsType[*http.MaxBytesError](err); ok {
		return memtypes.Errorf(op, memtypes.Unavailable, "found an answer of over %d bytes, wanted less: %w", e.Limit, llm.Final(err))
	}
	if errors.Is(err, oai.ErrChatCompletionInvalidModel) {
		return memtypes.Errorf(op, memtypes.Invalid, "field \"model\": %w", err)
	}
	return memtypes.Errorf(op, memtypes.Unavailable, "the answer cannot be read: %w", err)
}

// close gives the idle connections up.
func (s *server) close() { s.link.http.CloseIdleConnections() }
