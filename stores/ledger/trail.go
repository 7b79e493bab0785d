package ledger

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"

	"github.com/vimbank/vimbank/memtypes"
)

// Key is a memory's ID as backends keep it: 16 bytes instead of 36.
type Key [16]byte

// KeyOf reads the canonical form; ok is false for anything else.
func KeyOf(id memtypes.ID) (k Key, ok bool) {
	if _, err := memtypes.ParseID(string(id)); err != nil {
		return k, false
	}
	s := string(id)
	_, err := hex.Decode(k[:], []byte(s[:8]+s[9:13]+s[14:18]+s[19:23]+s[24:]))
	return k, err == nil
}

// ID is the canonical form of k.
func (k Key) ID() memtypes.ID {
	var b [36]byte
	hex.Encode(b[:8], k[:4])
	hex.Encode(b[9:13], k[4:6])
	hex.Encode(b[14:18], k[6:8])
	hex.Encode(b[19:23], k[8:10])
	hex.Encode(b[24:], k[10:])
	b[8], b[13], b[18], b[23] = '-', '-', '-', '-'
	return memtypes.ID(b[:])
}

// Link is an entry of the log as its hash covers it. The hashes of a tenant's
// entries are a chain, the same in every backend, so that a trail can be moved
// and still be verified.
type Link struct {
	Seq    uint64
	Prev   uint64 // seq of the tenant's entry before, 0: none
	Was    uint64 // seq of the memory's entry before, 0: none
	Op     int    // see OpNumber
	ID     Key
	At     int64 // Unix nanoseconds
	Actor  string
	RunID  string
	Reason string
}

// Sum is the hash of l in tenant's trail, of which before is the hash of the
// entry Prev, empty where there is none. buf is scratch space, which may be nil;
// what it has grown to is returned with it.
func (l *Link) Sum(buf []byte, tenant string, before []byte) (sum [sha256.Size]byte, scratch []byte) {
	b := buf[:0]
	put := func(s string) { b = append(binary.AppendUvarint(b, uint64(len(s))), s...) }
	put(tenant)
	put(string(before))
	for _, n := range []uint64{l.Seq, l.Prev, l.Was, uint64(l.Op), uint64(l.At)} {
		b = binary.LittleEndian.AppendUint64(b, n)
	}
	b = append(b, l.ID[:]...)
	put(l.Actor)
	put(l.RunID)
	put(l.Reason)
	return sha256.Sum256(b), b
}

// ops are the operations by their numbers, which never change.
func ops() [9]Op {
	return [...]Op{1: Insert, Revise, Retire, Restore, Purge, Pin, Unpin, Touch}
}

// OpNumber is the number of an operation in a log; 0 for Recall, which has no
// entry, and for what is no operation.
func OpNumber(op Op) int {
	for i, o := range ops() {
		if o == op && i > 0 {
			return i
		}
	}
	return 0
}

// OpNumbered is the operation that has a number; empty if none has.
func OpNumbered(n int) Op {
	if n < 0 || n >= len(ops()) {
		return ""
	}
	return ops()[n]
}
