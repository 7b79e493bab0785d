package configs

import (
	"time"

	"github.com/vimbank/vimbank/admit"
	"github.com/vimbank/vimbank/forgetting"
	"github.com/vimbank/vimbank/fusion"
	"github.com/vimbank/vimbank/llm"
	"github.com/vimbank/vimbank/llm/openai"
	"github.com/vimbank/vimbank/memtypes"
)

// Options are those of package fusion.
func (p Paper) Options() fusion.Options {
	return fusion.Options{Unit: p.Unit, DialogueLambda: p.LambdaDialogue, TaskLambda: p.LambdaTask}
}

// Options are those of package forgetting; its LastRun and Confirmed are a run's own.
func (f Forgetting) Options() forgetting.Options {
	threshold := func(keep time.Duration) float64 {
		if keep == Forever {
			return 0 // never forgotten
		}
		return forgetting.ThresholdFor(keep, f.Unit)
	}
	return forgetting.Options{
		Strength: f.Unit,
		Thresholds: map[memtypes.Kind]float64{
			memtypes.Knowledge: threshold(f.Keep.Knowledge),
			memtypes.Dialogue:  threshold(f.Keep.Dialogue),
			memtypes.TaskKind:  threshold(f.Keep.Task),
		},
		Grace: f.Grace, MaxShare: f.MaxShare, MaxJump: f.MaxJump, MaxItems: f.MaxItems,
	}
}

// Options are those of package admit.
func (a Admit) Options() admit.Options {
	return admit.Options{
		Secrets: admit.Action(a.Secrets), Echoes: admit.Action(a.Echoes), Duplicates: admit.Action(a.Duplicates),
		MaxText: a.MaxBytes, EchoWindow: a.EchoWindow, Similarity: a.Similarity,
	}
}

// Options are those of package openai. They read the key, so they fail with
// Invalid where its variable or file has none.
func (e *Embedder) Options() (openai.EmbedderOptions, error) {
	o, err := e.Endpoint.options("embedder")
	return openai.EmbedderOptions{
		Options: o, Dim: e.Dim, Batch: e.Batch,
		QueryModel: e.QueryModel, QueryPrefix: e.QueryPrefix, PassagePrefix: e.PassagePrefix,
	}, err
}

// Options are those of package openai, read like those of an Embedder.
func (c *Completer) Options() (openai.Options, error) { return c.Endpoint.options("completer") }

func (e *Endpoint) options(section string) (openai.Options, error) {
	key, err := e.credential(section).read()
	return openai.Options{
		APIKey: key.Reveal(), Timeout: e.Timeout, Concurrency: e.Concurrency,
		Retry: &llm.RetryOptions{Tries: e.Tries},
	}, err
}

func (e *Endpoint) credential(section string) credential {
	return credential{section, "api_key", e.APIKey, e.APIKeyEnv, e.APIKeyFile}
}
