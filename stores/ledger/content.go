package ledger

import (
	"crypto/sha256"
	"encoding/binary"
	"time"

	"github.com/vimbank/vimbank/memtypes"
)

// Content is a digest of what makes two memories of one ID the same: kind,
// text, title, part, talk, event time, task and triple. What does not count for
// the ID does not count here: where it came from (source), meta, a task's
// observation and the results of its commands.
func Content(m *memtypes.Memory) [16]byte {
	h := sha256.New()
	put := func(vs ...string) {
		var n [4]byte
		for _, v := range vs { // length-prefixed, so that no two contents can collide by joining
			binary.LittleEndian.PutUint32(n[:], uint32(len(v)))
			h.Write(n[:])
			h.Write([]byte(v))
		}
	}
	var part [8]byte
	binary.LittleEndian.PutUint64(part[:], uint64(m.Part))
	put(string(m.Kind), m.Text, m.Title, string(part[:]), m.Talk.Session, m.Talk.Speaker)
	if !m.Event.IsZero() {
		put("event", m.Event.UTC().Format(time.RFC3339Nano))
	}
	if t := m.Task; t != nil {
		put("task", t.Name, t.TaskID, t.Object, t.Place, t.Steps(), t.Result, string(t.Outcome))
	}
	if t := m.Triple; t != nil {
		put("triple", t.Head, t.Relation, t.Tail)
	}
	return [16]byte(h.Sum(nil))
}
