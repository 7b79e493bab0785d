package engine

import (
	"cmp"
	"context"
	"fmt"
	"time"

	"github.com/vimbank/vimbank/admit"
	"github.com/vimbank/vimbank/memtypes"
	"github.com/vimbank/vimbank/segment"
	"github.com/vimbank/vimbank/stores/ledger"
)

// pieces cuts a long document into segments, each a draft of its own; every
// other draft is its own only piece. The segments of a draft with a key have
// the keys "key#0", "key#1", ...: the same document gives the same memories.
func pieces(d memtypes.Draft) []memtypes.Draft {
	if d.Kind != memtypes.Knowledge || d.Layer == memtypes.Thought || len(d.Text) <= wholeUpTo {
		return []memtypes.Draft{d}
	}
	segments := segment.Split(d.Text, nil)
	if len(segments) < 2 {
		return []memtypes.Draft{d}
	}
	out := make([]memtypes.Draft, len(segments))
	for i, s := range segments {
		out[i] = d
		out[i].Text, out[i].Part, out[i].Title = s.Text, i, headed(d.Title, s.Heading)
		if d.Key != "" {
			out[i].Key = pieceKey(d.Key, i)
		}
	}
	return out
}

func pieceKey(key string, i int) string { return fmt.Sprintf("%s#%d", key, i) }

// headed is the title of a piece that stands under a heading of its document.
func headed(title, heading string) string {
	if heading == "" || title == heading {
		return title
	}
	if both := title + " > " + heading; title != "" && len(both) <= 1024 {
		return both
	}
	return cmp.Or(title, heading)
}

// wholeUpTo is the length in bytes up to which a document stays one memory:
// an abstract or a section is found better whole than in two halves.
const wholeUpTo = 4096

// intake gathers what one call of Remember hands to the ledger.
type intake struct {
	engine  *Engine
	now     time.Time
	receipt *Receipt
	edits   []ledger.Edit
	known   map[memtypes.ID]*memtypes.Memory  // active ones of the same IDs, where it was worth asking
	place   []int                             // of each edit's result in the receipt
	prints  map[uint64][]*memtypes.Memory     // by admit.Fingerprint: what the index cannot know yet
	like    map[memtypes.ID][]memtypes.Memory // what each may be a duplicate of, where that was asked ahead
}

// take considers all pieces of a draft, unless its key is a document's or, if it
// is one, another's.
func (in *intake) take(ctx context.Context, draft int, d memtypes.Draft, parts []memtypes.Draft) error {
	of, err := in.taken(ctx, d, parts)
	if err != nil {
		return err
	}
	if of != "" {
		r := Remembered{Draft: draft}
		r.reused(d.Key, of)
		in.engine.counts.judged(KeyReused)
		in.receipt.Results = append(in.receipt.Results, r)
		return nil
	}
	for _, piece := range parts {
		if err := in.consider(ctx, draft, piece); err != nil {
			return err
		}
	}
	return nil
}

// consider judges one piece of a draft and takes it in unless it is refused.
func (in *intake) consider(ctx context.Context, draft int, d memtypes.Draft) error {
	r := Remembered{Draft: draft, Status: Stored}
	m, err := memtypes.New(d, in.now)
	if err != nil {
		return err
	}
	if k := in.known[m.ID]; k != nil && ledger.Content(k) == ledger.Content(&m) {
		in.receipt.Results = append(in.receipt.Results, Remembered{Draft: draft, ID: k.ID, Rev: k.Rev, Status: Known, Code: admit.OK})
		return nil
	}
	v, err := in.judge(ctx, d, &m)
	if err != nil {
		return err
	}
	if r.Code, r.Reason, r.Of = v.Code, v.Reason, v.Of; v.Action == admit.Refuse {
		r.Status = Refused
		in.receipt.Results = append(in.receipt.Results, r)
		return nil
	}
	if v.Action == admit.Redact {
		if m, err = memtypes.New(v.Draft, in.now); err != nil {
			return err
		}
	}
	r.ID = m.ID
	in.place = append(in.place, len(in.receipt.Results))
	in.receipt.Results = append(in.receipt.Results, r)
	in.edits = append(in.edits, ledger.Edit{Op: ledger.Insert, Memory: m})
	return nil
}

// judge asks the rules of admission about d, which would become m.
func (in *intake) judge(ctx context.Context, d memtypes.Draft, m *memtypes.Memory) (admit.Verdict, error) {
	e := in.engine
	facts := admit.Facts{Now: in.now, ID: m.ID, Recalled: e.recent.of(d.Scope)}
	if e.rules.WantsSimilar(&d) {
		var err error
		if facts.Similar, err = in.similar(ctx, m); err != nil {
			return admit.Verdict{}, err
		}
		print := admit.Fingerprint(d.Text)
		for _, other := range in.prints[print] {
			facts.Similar = append(facts.Similar, *other)
		}
		in.prints[print] = append(in.prints[print], m)
	}
	v := e.rules.Check(d, facts)
	e.counts.judged(v.Code)
	if err := v.Err(); memtypes.CodeOf(err) == memtypes.Invalid {
		return v, err
	}
	return v, nil
}

// settle notes what the ledger made of the edits and returns the newest revision.
func (in *intake) settle(results []ledger.Result) (last uint64) {
	for i, res := range results {
		r := &in.receipt.Results[in.place[i]]
		switch r.Rev = res.Rev; res.Outcome {
		case ledger.Same:
			r.Status = Known
		case ledger.Conflicting:
			r.reused(in.edits[i].Memory.Key, res.ID)
			in.engine.counts.judged(KeyReused)
		}
		last = max(last, res.Rev)
	}
	return last
}
