package admit

import (
	"cmp"
	"fmt"
	"regexp"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/vimbank/vimbank/memtypes"
)

// Code says which rule decided: stable, to count and to act on.
type Code string

// The codes, in the order in which the rules are asked; the first one decides.
const (
	OK            Code = "ok"             // no rule objected
	Empty         Code = "empty"          // nothing to see: blank, control or invisible characters only
	TooLarge      Code = "too_large"      // over the limit of one memory
	NotText       Code = "not_text"       // invalid UTF-8, or a NUL byte
	Secret        Code = "secret"         // a key, token, password or card number
	Echo          Code = "echo"           // a recalled text that comes back
	Duplicate     Code = "duplicate"      // the same words as a memory of this scope
	NearDuplicate Code = "near_duplicate" // all but the same words, and nothing new in them
)

// Action is what a rule does when it strikes.
type Action string

// The actions. The empty Action is Refuse.
const (
	Refuse Action = "refuse"
	Redact Action = "redact" // take the secret out and keep the rest; for secrets only
	Allow  Action = "allow"
)

// Options sets the rules. The zero value, and a nil pointer, are ready to use.
type Options struct {
	Secrets    Action // empty means Refuse
	Echoes     Action // Refuse or Allow; empty means Refuse
	Duplicates Action // Refuse or Allow; empty means Refuse
	// MaxText is the limit of a text in bytes, at most memtypes.MaxText, which zero means.
	MaxText int
	// EchoWindow is how long after its recall a text that comes back is an
	// echo. Zero means 24 hours.
	EchoWindow time.Duration
	// Similarity is the share of common shingles from which on two texts of the
	// same telling words are near-duplicates, in (0,1]. Zero means 1: the same
	// words in the same order. A lower share, such as .95, takes a moved
	// sentence for no news, but also "from Oslo to Lisbon" for "from Lisbon to
	// Oslo" where the text around it is long enough.
	Similarity float64
}

// Recalled is a text that was recalled to the scope of the draft. At, Text and
// ID are needed; the others make for fewer mistakes.
type Recalled struct {
	ID      memtypes.ID
	Text    string
	Title   string
	Speaker string
	When    time.Time // when it happened or was said: Memory.When
	At      time.Time // when it was recalled
	// Query is what was asked. Who asks the same question again says it again:
	// a draft that is the question is no echo of the answer.
	Query string
}

// Facts is what the engine knows around a draft. Every field may be zero; a
// rule without its facts does not strike.
type Facts struct {
	Now time.Time
	// ID is the draft's own. A fact about this very memory never speaks against
	// it: writing the same thing again is the ledger's to answer, with Same.
	ID memtypes.ID
	// Recalled are the texts lately recalled to the draft's scope.
	Recalled []Recalled
	// Similar are active memories like the draft: best found by a search for its text.
	Similar []memtypes.Memory
}

// Verdict is what became of a draft.
type Verdict struct {
	Action     Action         // Allow, Redact or Refuse
	Code       Code           // OK unless a rule struck
	Reason     string         // a sentence for people, without the secret; empty if OK
	Of         memtypes.ID    // the memory that it repeats or echoes
	Similarity float64        // to Of, in (0,1]; 1 for Echo and Duplicate
	Findings   []Finding      // the secrets found, also when they are allowed
	Draft      memtypes.Draft // what may be stored: the draft, or its redacted copy
}

// Err is nil unless the verdict is Refuse; then Refused, or Invalid if the
// draft could not be stored under any rules.
func (v *Verdict) Err() error {
	if v.Action != Refuse {
		return nil
	}
	code := memtypes.Refused
	switch v.Code {
	case Empty, TooLarge, NotText:
		code = memtypes.Invalid
	}
	return memtypes.Errorf("admit.Check", code, "%s: %s", v.Code, v.Reason)
}

// Rules judges drafts. Safe for concurrent use.
type Rules struct {
	o        Options
	patterns []pattern
	prefix   *regexp.Regexp
}

// New makes the rules that o asks for. It fails with Invalid if o makes no sense.
func New(o *Options) (*Rules, error) {
	var f Options
	if o != nil {
		f = *o
	}
	if err := f.check(); err != nil {
		return nil, err
	}
	f.Secrets, f.Echoes, f.Duplicates = cmp.Or(f.Secrets, Refuse), cmp.Or(f.Echoes, Refuse), cmp.Or(f.Duplicates, Refuse)
	f.MaxText = cmp.Or(f.MaxText, memtypes.MaxText)
	f.EchoWindow = cmp.Or(f.EchoWindow, 24*time.Hour)
	f.Similarity = cmp.Or(f.Similarity, 1)
	return &Rules{o: f, patterns: patterns(), prefix: regexp.MustCompile(prefix)}, nil
}

func (o *Options) check() error {
	const op = "admit.Options"
	for _, a := range []struct {
		name   string
		v      Action
		redact bool
	}{{"secrets", o.Secrets, true}, {"echoes", o.Echoes, false}, {"duplicates", o.Duplicates, false}} {
		switch {
		case a.v == "" || a.v == Refuse || a.v == Allow || a.v == Redact && a.redact:
		case a.redact:
			return memtypes.BadField(op, a.name, string(a.v), "refuse, redact or allow")
		default:
			return memtypes.BadField(op, a.name, string(a.v), "refuse or allow")
		}
	}
	switch {
	case o.MaxText < 0 || o.MaxText > memtypes.MaxText:
		return memtypes.BadField(op, "max_text", o.MaxText, fmt.Sprintf("1 to %d bytes, or 0 for the most", memtypes.MaxText))
	case o.EchoWindow < 0:
		return memtypes.BadField(op, "echo_window", o.EchoWindow, "a positive duration, or 0 for the default")
	case !(o.Similarity >= 0 && o.Similarity <= 1):
		return memtypes.BadField(op, "similarity", o.Similarity, "a share above 0 and up to 1, or 0 for the default")
	}
	return nil
}

// Check judges d by the rules in the order of their codes.
func (r *Rules) Check(d memtypes.Draft, f Facts) Verdict {
	v := Verdict{Action: Allow, Code: OK, Draft: d}
	if code, reason := r.shape(d.Text); code != OK {
		v.Action, v.Code, v.Reason = Refuse, code, reason
		return v
	}
	if r.secrets(&v); v.Action == Refuse {
		return v
	}
	strikes := r.o.Echoes == Refuse && r.echo(&v, &f) || r.o.Duplicates == Refuse && r.duplicate(&v, &f)
	if strikes {
		v.Action = Refuse
	}
	return v
}

// WantsSimilar says whether Facts.Similar can matter to d, so that the engine
// need not search for the drafts that no rule compares.
func (r *Rules) WantsSimilar(d *memtypes.Draft) bool {
	return r.o.Duplicates == Refuse && comparable(d)
}

// shape judges what is no text at all, before any other rule reads it.
func (r *Rules) shape(text string) (Code, string) {
	switch {
	case len(text) > r.o.MaxText:
		return TooLarge, fmt.Sprintf("the text has %d bytes; one memory holds at most %d, longer documents go in as segments", len(text), r.o.MaxText)
	case !utf8.ValidString(text):
		return NotText, "the text is not valid UTF-8"
	case strings.IndexByte(text, 0) >= 0:
		return NotText, "the text has a NUL byte"
	case strings.IndexFunc(text, visible) < 0:
		return Empty, "the text is blank"
	}
	return OK, ""
}

// visible is false for space, control characters and marks without a glyph,
// such as the zero-width space; an emoji and a lone "?" can be seen.
func visible(c rune) bool {
	return !unicode.IsSpace(c) && !unicode.IsControl(c) && !unicode.Is(unicode.Cf, c) && c != '\u3164' && c != '\u2800'
}
