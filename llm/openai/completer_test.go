package openai_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/vimbank/vimbank/llm"
	"github.com/vimbank/vimbank/llm/openai"
	"github.com/vimbank/vimbank/memtypes"
)

func newCompleter(t *testing.T, f *fake, model string) *openai.Completer {
	t.Helper()
	o := quick()
	c, err := openai.NewCompleter(f.URL, model, &o)
	if err != nil {
		t.Fatalf("NewCompleter: %v", err)
	}
	t.Cleanup(func() { c.Close() })
	return c
}

// told makes a handler of a whole answer.
func told(text, finish string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) { reply(w, chat(text, finish)) }
}

func TestComplete(t *testing.T) {
	f := newFake(t)
	c := newCompleter(t, f, "model-y")
	got, err := c.Complete(t.Context(), llm.Request{System: "be short", Prompt: "how is it?", MaxTokens: 9})
	if want := (llm.Response{Text: "fine", PromptTokens: 7, AnswerTokens: 2}); err != nil || got != want {
		t.Fatalf("got %+v, %v, want %+v", got, err, want)
	}
	sent := f.calls()[0]
	if sent["model"] != "model-y" || sent["max_tokens"] != 9.0 || sent["response_format"] != nil {
		t.Errorf("sent %v, want model-y, 9 tokens and no response format", sent)
	}
	var roles []string
	for _, m := range sent["messages"].([]any) {
		roles = append(roles, m.(map[string]any)["role"].(string)+": "+m.(map[string]any)["content"].(string))
	}
	if got, want := strings.Join(roles, "\n"), "system: be short\nuser: how is it?"; got != want {
		t.Errorf("sent %q, want %q", got, want)
	}
	if got := c.Fingerprint(); got != "openai:model-y" {
		t.Errorf("fingerprint %q, want openai:model-y", got)
	}
}

// The library refuses max_tokens for models with some names, at any server.
func TestCompleteBoundsAModelThatTheLibraryVets(t *testing.T) {
	f := newFake(t)
	if _, err := newCompleter(t, f, "o3-local").Complete(t.Context(), llm.Request{Prompt: "x", MaxTokens: 9}); err != nil {
		t.Fatal(err)
	}
	if sent := f.calls()[0]; sent["max_completion_tokens"] != 9.0 || sent["max_tokens"] != nil {
		t.Errorf("sent %v, want max_completion_tokens 9 and no max_tokens", sent)
	}
}

func TestCompleteWithASchema(t *testing.T) {
	schema := []byte(`{"type":"object"}`)
	f := newFake(t)
	if _, err := newCompleter(t, f, "m").Complete(t.Context(), llm.Request{Prompt: "x", Schema: schema}); err != nil {
		t.Fatal(err)
	}
	format := f.calls()[0]["response_format"].(map[string]any)
	inner := format["json_schema"].(map[string]any)
	if format["type"] != "json_schema" || inner["strict"] != true || inner["schema"].(map[string]any)["type"] != "object" {
		t.Errorf("sent format %v, want the schema, strict", format)
	}
}

func TestCompleteFallsBackWhereSchemasAreRefused(t *testing.T) {
	f := newFake(t, says(400, `{"error":{"message":"response_format is not supported"}}`))
	c := newCompleter(t, f, "m")
	ask := func() {
		t.Helper()
		if _, err := c.Complete(t.Context(), llm.Request{System: "be exact", Prompt: "x", Schema: []byte(`{"type":"object"}`)}); err != nil {
			t.Fatal(err)
		}
	}
	ask()
	calls := f.calls()
	if len(calls) != 2 || calls[0]["response_format"] == nil || calls[1]["response_format"] != nil {
		t.Fatalf("sent %v, want one call with the schema and one without", calls)
	}
	system := calls[1]["messages"].([]any)[0].(map[string]any)["content"].(string)
	if !strings.HasPrefix(system, "be exact") || !strings.Contains(system, `{"type":"object"}`) {
		t.Errorf("instructions %q, want the caller's own and the schema", system)
	}
	ask()
	if calls = f.calls(); len(calls) != 3 || calls[2]["response_format"] != nil {
		t.Errorf("%d calls, want 3: a server that knows no schemas is not asked for them again", len(calls))
	}
}

func TestCompleteTellsABadPromptFromABadSchema(t *testing.T) {
	tooLong := says(400, `{"error":{"message":"prompt too long"}}`)
	f := newFake(t, tooLong, tooLong)
	c := newCompleter(t, f, "m")
	r := llm.Request{Prompt: "x", Schema: []byte(`{}`)}
	_, err := c.Complete(t.Context(), r)
	wantCode(t, err, memtypes.Invalid)
	if _, err := c.Complete(t.Context(), r); err != nil {
		t.Fatal(err)
	}
	if calls := f.calls(); calls[2]["response_format"] == nil {
		t.Error("the schema is no longer sent, though it was the prompt that was refused")
	}
}

func TestCompleterFaults(t *testing.T) {
	plain, schema := llm.Request{Prompt: "x"}, llm.Request{Prompt: "x", Schema: []byte(`{}`)}
	refuses := says(200, `{"choices":[{"finish_reason":"stop","message":{"content":"","refusal":"I will not"}}]}`)
	for _, tt := range []struct {
		name  string
		fault http.HandlerFunc
		r     llm.Request
		code  memtypes.Code
		calls int
	}{
		{"500", says(500, ""), plain, memtypes.Unavailable, 3},
		{"429", says(429, "", "Retry-After", "0"), plain, memtypes.Unavailable, 3},
		{"empty answer", told("", "stop"), plain, memtypes.Unavailable, 3},
		{"no choice", says(200, `{"choices":[]}`), plain, memtypes.Unavailable, 3},
		{"cut JSON", cutOff, plain, memtypes.Unavailable, 3},
		{"cut at the limit", told(`{"a":`, "length"), schema, memtypes.Unavailable, 1},
		{"refusal", refuses, plain, memtypes.Refused, 1},
		{"filtered", told("", "content_filter"), plain, memtypes.Refused, 1},
		{"10 MB", told(strings.Repeat("la ", 4<<20), "stop"), plain, memtypes.Unavailable, 1},
		{"endless", endless(`{"choices":[{"message":{"content":"`), plain, memtypes.Unavailable, 1},
	} {
		t.Run(tt.name, func(t *testing.T) {
			f := newFake(t, tt.fault)
			f.sticky = true
			got, err := newCompleter(t, f, "m").Complete(t.Context(), tt.r)
			wantCode(t, err, tt.code)
			if got != (llm.Response{}) {
				t.Errorf("got %+v with an error, want nothing", got)
			}
			if n := len(f.calls()); n != tt.calls {
				t.Errorf("%d calls (%v), want %d", n, err, tt.calls)
			}
		})
	}
}

func TestCompleteKeepsAPlainAnswerCutAtTheLimit(t *testing.T) {
	f := newFake(t, told("once upon", "length"))
	if got, err := newCompleter(t, f, "m").Complete(t.Context(), llm.Request{Prompt: "x"}); err != nil || got.Text != "once upon" {
		t.Errorf("got %+v, %v, want the text so far", got, err)
	}
}

func TestCompleteChecksItsInput(t *testing.T) {
	f := newFake(t)
	c := newCompleter(t, f, "m")
	for _, r := range []llm.Request{{}, {Prompt: " "}, {Prompt: "x", Schema: []byte("{")}} {
		_, err := c.Complete(t.Context(), r)
		wantCode(t, err, memtypes.Invalid)
	}
	if n := len(f.calls()); n != 0 {
		t.Errorf("%d calls were sent, want none", n)
	}
}
