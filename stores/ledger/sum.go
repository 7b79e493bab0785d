package ledger

import (
	"context"
	"crypto/sha256"
	"fmt"
	"hash"

	"github.com/vimbank/vimbank/memtypes"
)

// Sum says what a log holds. Two ledgers with the same Sum hold the same
// memories with the same past, whatever their backends.
type Sum struct {
	Records  uint64            `json:"records"`
	Active   uint64            `json:"active"`
	Retired  uint64            `json:"retired"`
	Purged   uint64            `json:"purged"`
	Replaced uint64            `json:"replaced"` // contents that a revise put an end to
	Digest   [sha256.Size]byte `json:"-"`
}

// String names the counts and the beginning of the digest.
func (s Sum) String() string {
	return fmt.Sprintf("%d entries, %d active, %d retired, %d purged, %d replaced, digest %x", s.Records, s.Active, s.Retired, s.Purged, s.Replaced, s.Digest[:8])
}

// Tally adds up the records of a log and checks that each follows. The zero
// Tally is ready to use; it is not safe for concurrent use.
type Tally struct {
	sum    Sum
	digest hash.Hash
	ends   map[string]end
	buf    []byte
}

// end is the newest entry of a tenant.
type end struct {
	seq  uint64
	hash [sha256.Size]byte
}

// Add takes the next record. It fails with Internal where one is missing, or
// is not as it was written.
func (t *Tally) Add(r *Record) error {
	if t.digest == nil {
		t.digest, t.ends = sha256.New(), map[string]end{}
	}
	last := t.ends[r.Tenant]
	if r.Seq != t.sum.Records+1 || r.Prev != last.seq {
		return memtypes.Errorf("ledger.Verify", memtypes.Internal, "found entry %d of tenant %q following %d, wanted entry %d, or one that follows %d",
			r.Seq, r.Tenant, r.Prev, t.sum.Records+1, last.seq)
	}
	var before []byte
	if last.seq > 0 {
		before = last.hash[:]
	}
	sum, buf := r.Sum(t.buf, r.Tenant, before)
	if sum != r.Hash {
		return memtypes.Errorf("ledger.Verify", memtypes.Internal, "audit entry %d of tenant %q: found hash %x, wanted %x", r.Seq, r.Tenant, r.Hash, sum)
	}
	t.ends[r.Tenant] = end{r.Seq, r.Hash}
	t.buf = r.render(append(buf[:0], r.Hash[:]...))
	t.digest.Write(t.buf)
	t.count(r)
	return nil
}

func (t *Tally) count(r *Record) {
	t.sum.Records++
	switch {
	case r.Purged:
		t.sum.Purged++
	case r.Memory != nil && r.Memory.State == memtypes.Retired:
		t.sum.Retired++
	case r.Memory != nil:
		t.sum.Active++
	}
	if r.Replaced != nil {
		t.sum.Replaced++
	}
}

// Sum is what was added so far.
func (t *Tally) Sum() Sum {
	s := t.sum
	if t.digest != nil {
		t.digest.Sum(s.Digest[:0])
	}
	return s
}

// Verify adds up all of a ledger.
func Verify(ctx context.Context, m Movable) (Sum, error) {
	var t Tally
	for {
		page, err := m.Records(ctx, t.sum.Records, 500)
		if err != nil {
			return Sum{}, err
		}
		if len(page) == 0 {
			return t.Sum(), nil
		}
		for i := range page {
			if err := t.Add(&page[i]); err != nil {
				return Sum{}, err
			}
		}
	}
}
