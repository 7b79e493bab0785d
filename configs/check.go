package configs

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/vimbank/vimbank/fusion"
	"github.com/vimbank/vimbank/memtypes"
	"github.com/vimbank/vimbank/upkeep"
)

// rule is what one setting must keep to.
type rule struct {
	key    string
	value  any
	ok     bool
	wanted string
}

// check refuses settings out of range. What only the room itself can tell, such
// as whether an address is one, is checked there, when it is opened.
func (l *Loaded) check() error {
	c := &l.Config
	rules := slices.Concat(c.choices(), c.ranges(), c.backends(), c.Upkeep.rules(), endpointRules("embedder", c.Embedder.Kind, &c.Embedder.Endpoint),
		endpointRules("completer", c.Completer.Kind, &c.Completer.Endpoint))
	for _, r := range rules {
		if !r.ok {
			return l.bad(r.key, fmt.Sprint(r.value), r.wanted)
		}
	}
	return nil
}

// one is that v is one of some words.
func one(key, v string, of ...string) rule {
	return rule{key, v, slices.Contains(of, v), strings.Join(of, ", ")}
}

// whole is that v is from low to high.
func whole(key string, v, low, high int) rule {
	return rule{key, v, v >= low && v <= high, fmt.Sprintf("a whole number from %d to %d", low, high)}
}

// long is that d takes some time, and ends.
func long(key string, d time.Duration) rule {
	return rule{key, formatDuration(d), d > 0 && d < Forever, "a duration above 0"}
}

func (c *Config) choices() []rule {
	profiles := make([]string, 0, 6)
	for _, p := range fusion.Profiles() {
		profiles = append(profiles, string(p))
	}
	return []rule{
		one("embedder.kind", c.Embedder.Kind, "local", "openai", "none"),
		one("completer.kind", c.Completer.Kind, "none", "openai"),
		one("recall.profile", c.Recall.Profile, profiles...),
		one("admit.secrets", c.Admit.Secrets, "refuse", "redact", "allow"),
		one("admit.echoes", c.Admit.Echoes, "refuse", "allow"),
		one("admit.duplicates", c.Admit.Duplicates, "refuse", "allow"),
	}
}

func (c *Config) ranges() []rule {
	share := func(key string, v float64) rule { return rule{key, v, v > 0 && v <= 1, "a number above 0 and up to 1"} }
	// Beyond some 700 units the threshold exp(-keep/unit) is no number above 0 any more.
	keep := func(key string, d time.Duration) rule {
		ok := d > 0 && (d == Forever || d.Seconds() <= 700*c.Forgetting.Unit.Seconds())
		return rule{"forgetting.keep." + key, formatDuration(d), ok, "a duration above 0 and up to 700 times forgetting.unit, or forever"}
	}
	const many = 1 << 30
	return []rule{
		whole("recall.k", c.Recall.K, 1, memtypes.MaxK),
		{"paper.lambda_dialogue", c.Paper.LambdaDialogue, c.Paper.LambdaDialogue > 0, "a number above 0"},
		{"paper.lambda_task", c.Paper.LambdaTask, c.Paper.LambdaTask > 0, "a number above 0"},
		long("paper.unit", c.Paper.Unit),
		long("forgetting.unit", c.Forgetting.Unit),
		keep("knowledge", c.Forgetting.Keep.Knowledge),
		keep("dialogue", c.Forgetting.Keep.Dialogue),
		keep("task", c.Forgetting.Keep.Task),
		long("forgetting.grace", c.Forgetting.Grace),
		share("forgetting.max_share", c.Forgetting.MaxShare),
		long("forgetting.max_jump", c.Forgetting.MaxJump),
		whole("forgetting.max_items", c.Forgetting.MaxItems, 1, many),
		whole("admit.max_bytes", c.Admit.MaxBytes, 1, memtypes.MaxText),
		long("admit.echo_window", c.Admit.EchoWindow),
		share("admit.similarity", c.Admit.Similarity),
		whole("index.binary_above", c.Index.BinaryAbove, -1, many),
		whole("embedder.dim", c.Embedder.Dim, 0, 1<<16),
		whole("embedder.batch", c.Embedder.Batch, 1, 4096),
		whole("completer.daily_tokens", c.Completer.DailyTokens, 0, 1<<40),
	}
}

func (u *Upkeep) rules() (out []rule) {
	for _, job := range []struct{ key, spec string }{
		{"decay", u.Decay}, {"purge", u.Purge}, {"reconcile", u.Reconcile}, {"snapshot", u.Snapshot},
	} {
		_, err := upkeep.Parse(job.spec)
		out = append(out, rule{"upkeep." + job.key, job.spec, job.spec == "" || err == nil,
			`five cron fields in UTC, such as "17 3 * * *", @daily, @every 6h, or "" for never`})
	}
	return out
}

// endpointRules are those of an endpoint; address and model are needed where it is used.
func endpointRules(section, kind string, e *Endpoint) []rule {
	used := kind == "openai"
	return []rule{
		{section + ".base_url", e.BaseURL, !used || e.BaseURL != "", "the server's address, such as http://127.0.0.1:8080/v1"},
		{section + ".model", e.Model, !used || e.Model != "", "the name of a model that the server has"},
		e.credential(section).rule(),
		long(section+".timeout", e.Timeout),
		whole(section+".tries", e.Tries, 1, 20),
		whole(section+".concurrency", e.Concurrency, 1, 256),
	}
}
