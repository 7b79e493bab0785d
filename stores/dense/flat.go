package dense

import (
	"cmp"
	"context"
	"iter"
	"runtime"
	"sync"

	"github.com/vimbank/vimbank/internal/kernel"
	"github.com/vimbank/vimbank/memtypes"
)

// Options tunes a Flat. The zero value is ready to use.
type Options struct {
	// BinaryAbove is the number of vectors from which a search scans one-bit
	// codes first: about three times as fast, and a little less exact. Zero
	// means 200,000; negative means never.
	BinaryAbove int
	// Workers is how many goroutines one search may use; each gets at least
	// 50,000 vectors. Zero means the number of processors, at most 4.
	Workers int
	// Deleted is how many deletions are remembered, so that a late Upsert of
	// an older revision stays out; beyond it the oldest is forgotten. Zero
	// means 262,144 (about 30 MiB).
	Deleted int
}

func (o *Options) resolved() Options {
	var r Options
	if o != nil {
		r = *o
	}
	return Options{
		BinaryAbove: cmp.Or(r.BinaryAbove, 200_000),
		Workers:     cmp.Or(r.Workers, min(runtime.GOMAXPROCS(0), 4)),
		Deleted:     cmp.Or(r.Deleted, 1<<18),
	}
}

// Flat is the exact index in this process: it looks at every vector that the
// filter admits, so a filter makes it cheaper and nothing is ever missed by a
// graph. A scan reads int8 codes (one byte a dimension), or one-bit codes in a
// large bank, and the best of them are scored again from the float32 vectors.
// Scores and order are the same on every machine (see internal/kernel).
//
// Each tenant has a shard of its own. Searches run side by side; a writer holds
// a shard for the time it takes to copy a few dozen vectors. A vector takes
// 5 bytes a dimension, rounded up to 64 dimensions, and one bit.
type Flat struct {
	dim, pad int
	opt      Options
	kernel   kernel.Kernel

	write   sync.Mutex // one writer at a time; taken before any other lock
	scratch []row      // of the writer
	graves  []grave    // deletions, oldest first; of the writer

	mu     sync.RWMutex // guards what follows, for moments; taken after a shard's lock
	shards map[string]*shard
	places map[memtypes.ID]place
	held   int // places that are not deletions
	closed bool
}

var _ Index = (*Flat)(nil)

// place is where a memory is, or that it was deleted (shard is nil) as of rev.
type place struct {
	shard *shard
	doc   uint32
	rev   uint64
}

// grave is one remembered deletion. It is stale if places says otherwise.
type grave struct {
	id  memtypes.ID
	rev uint64
}

// Open makes an empty index of vectors of dim numbers, 1 to 65,536; o may be nil.
func Open(dim int, o *Options) (*Flat, error) {
	if dim < 1 || dim > kernel.MaxDim {
		return nil, memtypes.BadField("dense.Open", "dim", dim, "1 to 65536")
	}
	return &Flat{
		dim: dim, pad: kernel.Pad(dim), opt: o.resolved(), kernel: kernel.Best(),
		shards: map[string]*shard{}, places: map[memtypes.ID]place{},
	}, nil
}

// Dim is the number of dimensions of each vector.
func (f *Flat) Dim() int { return f.dim }

// Len implements Index.
func (f *Flat) Len(ctx context.Context) (int, error) {
	if err := f.usable(ctx, "dense.Len"); err != nil {
		return 0, err
	}
	f.mu.RLock()
	defer f.mu.RUnlock()
	return f.held, nil
}

// Revs implements Index: what it held when the iteration began.
func (f *Flat) Revs(ctx context.Context) iter.Seq2[Held, error] {
	const op = "dense.Revs"
	return func(yield func(Held, error) bool) {
		if err := f.usable(ctx, op); err != nil {
			yield(Held{}, err)
			return
		}
		for i, h := range f.list() {
			if i%4096 == 0 && ctx.Err() != nil {
				yield(Held{}, canceled(ctx, op))
				return
			}
			if !yield(h, nil) {
				return
			}
		}
	}
}

// list copies, so that Revs holds no lock while its caller works.
func (f *Flat) list() []Held {
	f.mu.RLock()
	defer f.mu.RUnlock()
	out := make([]Held, 0, f.held)
	for id, p := range f.places {
		if p.shard != nil {
			out = append(out, Held{ID: id, Rev: p.rev, Tenant: p.shard.tenant})
		}
	}
	return out
}

// Close implements Index. It waits for a running write, not for searches.
func (f *Flat) Close() error {
	f.write.Lock()
	defer f.write.Unlock()
	f.mu.Lock()
	defer f.mu.Unlock()
	f.closed = true
	f.shards, f.places, f.held, f.graves, f.scratch = nil, nil, 0, nil, nil
	return nil
}

// usable says why op cannot begin.
func (f *Flat) usable(ctx context.Context, op string) error {
	if ctx.Err() != nil {
		return canceled(ctx, op)
	}
	f.mu.RLock()
	defer f.mu.RUnlock()
	if f.closed {
		return memtypes.Errorf(op, memtypes.Unavailable, "the index is closed")
	}
	return nil
}

func canceled(ctx context.Context, op string) error {
	return memtypes.Errorf(op, memtypes.Canceled, "%w", context.Cause(ctx))
}
