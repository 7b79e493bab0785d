package openai

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"sync/atomic"

	oai "github.com/sashabaranov/go-openai"

	"github.com/vimbank/vimbank/llm"
	"github.com/vimbank/vimbank/memtypes"
)

// Completer answers prompts by a server. Make one with [NewCompleter]; Close it when done.
type Completer struct {
	s *server
	// plain is set once the server has answered a prompt only without its
	// schema: it is then not asked for structured output again.
	plain atomic.Bool
}

var _ llm.Completer = (*Completer)(nil)

// NewCompleter makes a Completer of model at baseURL. It sends nothing;
// settings that cannot be used are Invalid.
func NewCompleter(baseURL, model string, o *Options) (*Completer, error) {
	s, err := connect("openai.NewCompleter", baseURL, model, o)
	if err != nil {
		return nil, err
	}
	return &Completer{s: s}, nil
}

// Fingerprint is openai:<model>.
func (c *Completer) Fingerprint() string { return "openai:" + c.s.model }

// Close gives the idle connections up.
func (c *Completer) Close() error { c.s.close(); return nil }

// Complete sends r as a system and a user message. A schema goes with it as
// structured output; a server that refuses this gets the schema in the
// instructions instead. A refusal by the model or its filter is Refused; an
// empty answer, and one with a schema that was cut at the limit, are Unavailable.
func (c *Completer) Complete(ctx context.Context, r llm.Request) (llm.Response, error) {
	const op = "openai.Complete"
	if strings.TrimSpace(r.Prompt) == "" {
		return llm.Response{}, memtypes.BadField(op, "prompt", r.Prompt, "text that is not blank")
	}
	if r.Schema != nil && !json.Valid(r.Schema) {
		return llm.Response{}, memtypes.BadField(op, "schema", memtypes.Remark("what is no JSON"), "a JSON schema")
	}
	structured := r.Schema != nil && !c.plain.Load()
	a, err := c.ask(ctx, op, r, structured)
	if !structured || memtypes.CodeOf(err) != memtypes.Invalid || err == nil {
		return a, err
	}
	// Invalid may mean the schema or the prompt: without the schema one sees which.
	b, err2 := c.ask(ctx, op, r, false)
	if err2 != nil {
		return llm.Response{}, err
	}
	c.plain.Store(true)
	return b, nil
}

// ask sends r once, under the guards.
func (c *Completer) ask(ctx context.Context, op string, r llm.Request, structured bool) (a llm.Response, err error) {
	req := c.request(r, structured)
	err = c.s.do(ctx, op, func(ctx context.Context) error {
		res, err := c.s.client.CreateChatCompletion(ctx, req)
		if errors.Is(err, oai.ErrReasoningModelMaxTokensDeprecated) {
			// The library vets max_tokens by the model's name, before sending.
			//lint:ignore SA1019 see request
			req.MaxTokens, req.MaxCompletionTokens = 0, r.MaxTokens
			res, err = c.s.client.CreateChatCompletion(ctx, req)
		}
		if err != nil {
			return err
		}
		a, err = read(op, res, r.Schema != nil)
		return err
	})
	return a, err
}

func (c *Completer) request(r llm.Request, structured bool) oai.ChatCompletionRequest {
	//lint:ignore SA1019 most servers know max_tokens only
	req := oai.ChatCompletionRequest{Model: c.s.model, MaxTokens: r.MaxTokens}
	system := r.System
	if structured {
		req.ResponseFormat = &oai.ChatCompletionResponseFormat{
			Type:       oai.ChatCompletionResponseFormatTypeJSONSchema,
			JSONSchema: &oai.ChatCompletionResponseFormatJSONSchema{Name: "answer", Schema: json.RawMessage(r.Schema), Strict: true},
		}
	} else if r.Schema != nil {
		system = strings.TrimSpace(system + "\n\nAnswer with one JSON value and nothing else. It must follow this JSON schema:\n" + string(r.Schema))
	}
	if system != "" {
		req.Messages = append(req.Messages, oai.ChatCompletionMessage{Role: oai.ChatMessageRoleSystem, Content: system})
	}
	req.Messages = append(req.Messages, oai.ChatCompletionMessage{Role: oai.ChatMessageRoleUser, Content: r.Prompt})
	return req
}

// read takes the answer out of res.
func read(op string, res oai.ChatCompletionResponse, schema bool) (llm.Response, error) {
	if len(res.Choices) == 0 {
		return llm.Response{}, memtypes.Errorf(op, memtypes.Unavailable, "found no choice in the answer, wanted one")
	}
	first := res.Choices[0]
	a := llm.Response{Text: first.Message.Content, PromptTokens: max(res.Usage.PromptTokens, 0), AnswerTokens: max(res.Usage.CompletionTokens, 0)}
	switch {
	case first.Message.Refusal != "" || first.FinishReason == oai.FinishReasonContentFilter:
		return llm.Response{}, memtypes.Errorf(op, memtypes.Refused, "the model refuses to answer")
	case schema && first.FinishReason == oai.FinishReasonLength:
		return llm.Response{}, memtypes.Errorf(op, memtypes.Unavailable, "%w", llm.Final(errors.New("the answer was cut at the limit of tokens")))
	case strings.TrimSpace(a.Text) == "":
		return llm.Response{}, memtypes.Errorf(op, memtypes.Unavailable, "found an empty answer, wanted text")
	}
	return a, nil
}
