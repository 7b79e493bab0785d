package sparse

import (
	"context"
	"errors"
	"iter"
	"runtime"
	"sync"

	"github.com/vimbank/vimbank/memtypes"
)

// Inverted is the exact index in this process's memory: BM25 as Lucene 9
// computes it, with statistics that are true after every write. Each tenant
// has postings and statistics of its own, so that one tenant's answers do not
// depend on another's documents.
//
// A write replaces only the postings that change. A search takes whole
// documents into account only while they can still come among the best
// (see scan.go); what it returns is the same as if it had scored them all.
type Inverted struct {
	options Options
	idle    chan *search // space of past searches: as many as can be busy at once
	widest  uint32       // their windows; tests have narrower ones

	mu     sync.RWMutex
	closed bool                     // guarded by mu, as all below
	shards map[string]*shard        // by tenant; none is empty
	held   map[memtypes.ID]position // of the documents held, and of those deleted
	live   int                      // documents held
}

// position says where a document is.
type position struct {
	rev   uint64
	shard *shard // nil: deleted as of rev
	doc   uint32
}

// Options sets an Inverted. Nil and the zero Options are the default.
type Options struct {
	// Exhaustive scores every match instead of only those that can come among
	// the best. The answers are the same; it is there to prove that.
	Exhaustive bool
}

var (
	_ Index       = (*Inverted)(nil)
	_ Frequencies = (*Inverted)(nil)
	_ Statistics  = (*Inverted)(nil)
)

// Open makes an empty index. o may be nil. The error is always nil; it is
// there because opening other backends can fail.
func Open(o *Options) (*Inverted, error) {
	ix := &Inverted{shards: map[string]*shard{}, held: map[memtypes.ID]position{}, idle: make(chan *search, runtime.GOMAXPROCS(0)), widest: window}
	if o != nil {
		ix.options = *o
	}
	return ix, nil
}

// errClosed is the cause of Unavailable after Close.
var errClosed = errors.New("the index is closed")

func closedError(op string) error { return memtypes.Errorf(op, memtypes.Unavailable, "%w", errClosed) }

func canceled(op string, ctx context.Context) error {
	return memtypes.Errorf(op, memtypes.Canceled, "%w", context.Cause(ctx))
}

// Upsert implements Index. A doc without an ID or a scope, with an unknown
// field or an empty token is Invalid, and a tenant of more than 67 million
// documents is Full; then nothing is stored.
func (ix *Inverted) Upsert(ctx context.Context, docs []Doc) error {
	const op = "sparse.Upsert"
	for i := range docs {
		if err := docs[i].Check(op); err != nil {
			return err
		}
	}
	ix.mu.Lock()
	defer ix.mu.Unlock()
	switch {
	case ctx.Err() != nil:
		return canceled(op, ctx)
	case ix.closed:
		return closedError(op)
	case ix.live+len(docs) > maxDocs:
		return memtypes.Errorf(op, memtypes.Full, "found %d documents and %d more, wanted at most %d", ix.live, len(docs), maxDocs)
	}
	for i := range docs {
		ix.upsert(&docs[i])
	}
	return nil
}

// Check refuses, for op, what no index takes, with Invalid: a doc without an ID
// or a scope, with an unknown field or an empty token.
func (d *Doc) Check(op string) error {
	if d.ID == "" {
		return memtypes.BadField(op, "id", "", "the ID of a memory")
	}
	if d.Facets.Scope.IsZero() {
		return &memtypes.Error{Op: op, Code: memtypes.Invalid, ID: d.ID, Err: &memtypes.Field{Name: "scope", Found: "none", Wanted: "the scope of the memory"}}
	}
	for f, tokens := range d.Fields {
		if _, ok := f.place(); !ok {
			return unknownField(op, f)
		}
		for _, t := range tokens {
			if t == "" {
				return &memtypes.Error{Op: op, Code: memtypes.Invalid, ID: d.ID,
					Err: &memtypes.Field{Name: "fields." + string(f), Found: "an empty token", Wanted: "tokens of an Analyzer"}}
			}
		}
	}
	return nil
}

func unknownField(op string, f Field) error {
	return memtypes.BadField(op, "field", string(f), "text, turn or window")
}

func (ix *Inverted) upsert(d *Doc) {
	at, known := ix.held[d.ID]
	if known && d.Rev < at.rev {
		return
	}
	tenant := d.Facets.Scope.Tenant()
	if at.shard != nil && at.shard == ix.shards[tenant] {
		at.shard.replace(at.doc, d)
		at.rev = d.Rev
		ix.held[d.ID] = at
		return
	}
	if at.shard != nil {
		ix.drop(at)
	}
	s := ix.shards[tenant]
	if s == nil {
		s = &shard{tenant: tenant}
		ix.shards[tenant] = s
	}
	ix.held[d.ID] = position{d.Rev, s, s.add(d)}
	ix.live++
}

// drop takes a document out of its shard, and the shard away with its last.
func (ix *Inverted) drop(at position) {
	at.shard.remove(at.doc)
	ix.live--
	if at.shard.live() == 0 {
		delete(ix.shards, at.shard.tenant)
	}
}

// Delete implements Index. Every id leaves a mark of its revision behind, so
// that a late Upsert cannot bring it back; a rebuilt index has none of them.
func (ix *Inverted) Delete(ctx context.Context, gone []memtypes.Gone) error {
	const op = "sparse.Delete"
	ix.mu.Lock()
	defer ix.mu.Unlock()
	if ctx.Err() != nil {
		return canceled(op, ctx)
	}
	if ix.closed {
		return closedError(op)
	}
	for _, g := range gone {
		at, known := ix.held[g.ID]
		if known && at.rev > g.Rev {
			continue
		}
		if at.shard != nil {
			ix.drop(at)
		}
		ix.held[g.ID] = position{rev: g.Rev}
	}
	return nil
}

// Revs implements Index. It lists what was held when the listing began; writes
// meanwhile neither wait for it nor show in it.
func (ix *Inverted) Revs(ctx context.Context) iter.Seq2[Held, error] {
	const op = "sparse.Revs"
	return func(yield func(Held, error) bool) {
		ix.mu.RLock()
		held, closed := make([]Held, 0, ix.live), ix.closed
		for id, at := range ix.held {
			if at.shard != nil {
				held = append(held, Held{ID: id, Rev: at.rev, Tenant: at.shard.tenant})
			}
		}
		ix.mu.RUnlock()
		if closed {
			yield(Held{}, closedError(op))
			return
		}
		for i, h := range held {
			if i%1024 == 0 && ctx.Err() != nil {
				yield(Held{}, canceled(op, ctx))
				return
			}
			if !yield(h, nil) {
				return
			}
		}
	}
}

// Len implements Index; a closed index holds nothing.
func (ix *Inverted) Len(context.Context) (int, error) {
	ix.mu.RLock()
	defer ix.mu.RUnlock()
	return ix.live, nil
}

// Close implements Index. It waits for the searches under way and frees the
// memory. A second Close does nothing.
func (ix *Inverted) Close() error {
	ix.mu.Lock()
	defer ix.mu.Unlock()
	ix.closed, ix.shards, ix.held, ix.live = true, nil, nil, 0
	return nil
}

// DocFreq implements Frequencies.
func (ix *Inverted) DocFreq(ctx context.Context, tenant string, f Field, tokens []string) ([]int, error) {
	counts := make([]int, len(tokens))
	err := ix.describe(ctx, "sparse.DocFreq", tenant, f, func(s *shard, field int) {
		for i, t := range tokens {
			if l := s.list(field, t); l != nil {
				counts[i] = int(l.df)
			}
		}
	})
	if err != nil {
		return nil, err
	}
	return counts, nil
}

// Statistics implements the power of that name.
func (ix *Inverted) Statistics(ctx context.Context, tenant string, f Field, tokens []string) (Stats, error) {
	stats := Stats{DocFreq: make(map[string]int, len(tokens))}
	err := ix.describe(ctx, "sparse.Statistics", tenant, f, func(s *shard, field int) {
		stats.Docs, stats.Tokens = s.fields[field].docs, int(s.fields[field].tokens)
		for _, t := range tokens {
			if l := s.list(field, t); l != nil {
				stats.DocFreq[t] = int(l.df)
			}
		}
	})
	if err != nil {
		return Stats{}, err
	}
	return stats, nil
}

// describe shows a field of a tenant to look, if there is anything in it.
func (ix *Inverted) describe(ctx context.Context, op, tenant string, f Field, look func(s *shard, field int)) error {
	field, ok := f.place()
	if !ok {
		return unknownField(op, f)
	}
	ix.mu.RLock()
	defer ix.mu.RUnlock()
	if ctx.Err() != nil {
		return canceled(op, ctx)
	}
	if ix.closed {
		return closedError(op)
	}
	if s := ix.shards[tenant]; s != nil {
		look(s, field)
	}
	return nil
}
