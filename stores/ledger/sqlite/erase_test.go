package sqlite_test

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/vimbank/vimbank/memtypes"
	"github.com/vimbank/vimbank/stores/ledger"
)

// find names the files of a bank in which what stands.
func find(t *testing.T, dir string, what []byte) (in []string) {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(dir, "*"))
	if err != nil || len(files) == 0 {
		t.Fatalf("the bank's files: %v, %v", files, err)
	}
	for _, f := range files {
		b, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		if bytes.Contains(b, what) {
			in = append(in, filepath.Base(f))
		}
	}
	return in
}

// secret makes a memory that carries a canary in every field that can hold
// one, long enough at times to need pages of its own.
func secret(i int) (memtypes.Memory, string) {
	word := fmt.Sprintf("canary%05dx", i)
	m, err := memtypes.New(memtypes.Draft{Scope: user("ann"), Kind: memtypes.TaskKind, Text: strings.Repeat(word+" ", 1+i%7*i%211),
		Title: word + "-title", Talk: memtypes.Talk{Session: word + "-session", Speaker: word + "-speaker"},
		Task: &memtypes.Task{Name: word + "-task"}, Triple: &memtypes.Triple{Head: word + "-head"}, Meta: map[string]string{"k": word + "-meta"},
		Source: memtypes.Source{URI: word + "-uri"}, Event: epoch.Add(time.Duration(i*7919%1000) * time.Minute), Key: word + "-key"}, epoch)
	if err != nil {
		panic(err) // a mistake of the test itself
	}
	return m, word
}

func vectorOf(i int) (memtypes.Vector, []byte) {
	r := rand.New(rand.NewPCG(1, uint64(i)))
	v, b := make(memtypes.Vector, 16), []byte(nil)
	for j := range v {
		v[j] = r.Float32()
		b = binary.LittleEndian.AppendUint32(b, math.Float32bits(v[j]))
	}
	return v, b
}

// What is purged is in no byte of the bank's files, neither its text nor its
// earlier revisions nor its vectors; what is not purged is all there.
func TestPurgeErases(t *testing.T) {
	const n = 400
	dir := t.TempDir()
	db := open(t, dir, nil)
	defer db.Close()
	one := func(op ledger.Op, m memtypes.Memory) {
		t.Helper()
		rs, err := db.Append(t.Context(), ledger.Batch{Now: epoch, Actor: "test", Edits: []ledger.Edit{{Op: op, Memory: m}}})
		if err != nil || rs[0].Outcome != ledger.Done {
			t.Fatalf("%s: %v, %v", op, rs, err)
		}
	}
	for i := range n {
		m, _ := secret(i)
		one(ledger.Insert, m)
		v, _ := vectorOf(i)
		if err := db.PutVectors(t.Context(), "m", []memtypes.ID{m.ID}, []string{"h"}, []memtypes.Vector{v}); err != nil {
			t.Fatalf("PutVectors: %v", err)
		}
	}
	for i := 0; i < n; i += 3 { // rows that grow and shrink move about in their pages
		m, word := secret(i)
		m.Text = word + "-revised " + strings.Repeat(word+" ", i%13*i%97)
		one(ledger.Revise, m)
		one(ledger.Retire, m)
	}
	if err := db.Checkpoint(t.Context()); err != nil {
		t.Fatalf("Checkpoint: %v", err)
	}
	_, word := secret(2)
	_, raw := vectorOf(2)
	if len(find(t, dir, []byte(word))) == 0 || len(find(t, dir, raw)) == 0 {
		t.Fatal("the canaries are not to be found before the purge: this test would show nothing")
	}
	for i := range n {
		if i%2 == 0 {
			m, _ := secret(i)
			one(ledger.Purge, m)
		}
	}
	if err := db.Checkpoint(t.Context()); err != nil {
		t.Fatalf("Checkpoint: %v", err)
	}
	for i := range n {
		_, word := secret(i)
		_, raw := vectorOf(i)
		for what, b := range map[string][]byte{"text": []byte(word), "vector": raw} {
			if in := find(t, dir, b); (len(in) > 0) != (i%2 == 1) {
				t.Errorf("%s of memory %d is in %v, want it there: %v", what, i, in, i%2 == 1)
			}
		}
	}
	if err := db.Check(t.Context()); err != nil {
		t.Errorf("Check: %v", err)
	}
}

// The writer empties the WAL by itself after a purge, without being asked.
func TestPurgeEmptiesWAL(t *testing.T) {
	dir := t.TempDir()
	db := open(t, dir, nil)
	defer db.Close()
	m, word := secret(9)
	for _, op := range []ledger.Op{ledger.Insert, ledger.Purge} {
		if _, err := db.Append(t.Context(), ledger.Batch{Now: epoch, Actor: "test", Edits: []ledger.Edit{{Op: op, Memory: m}}}); err != nil {
			t.Fatal(err)
		}
	}
	for len(find(t, dir, []byte(word))) > 0 { // ends with the test's own deadline if it never happens
		time.Sleep(5 * time.Millisecond)
	}
}

// A crash between the two files of a purge leaves a vector behind; whoever
// needs the vectors next takes it away.
func TestPurgeIsMadeGood(t *testing.T) {
	dir := t.TempDir()
	db := open(t, dir, nil)
	m, _ := secret(5)
	if _, err := db.Append(t.Context(), insertOf(m)); err != nil {
		t.Fatal(err)
	}
	v, raw := vectorOf(5)
	if err := db.PutVectors(t.Context(), "m", []memtypes.ID{m.ID}, []string{"h"}, []memtypes.Vector{v}); err != nil {
		t.Fatal(err)
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	vectors := filepath.Join(dir, "vectors.db")
	hidden := filepath.Join(dir, ".vectors")
	if err := os.Rename(vectors, hidden); err != nil {
		t.Fatal(err)
	}
	db = open(t, dir, nil)
	if _, err := db.Append(t.Context(), ledger.Batch{Now: epoch, Actor: "test", Edits: []ledger.Edit{{Op: ledger.Purge, Memory: m}}}); err != nil {
		t.Fatal(err)
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(hidden, vectors); err != nil {
		t.Fatal(err)
	}
	if len(find(t, dir, raw)) == 0 {
		t.Fatal("the vector is gone already: this test would show nothing")
	}
	db = open(t, dir, nil)
	defer db.Close()
	if vs, err := db.GetVectors(t.Context(), "m", []memtypes.ID{m.ID}, []string{"h"}); err != nil || vs[0] != nil {
		t.Errorf("GetVectors = %v, %v; want nothing", vs, err)
	}
	if err := db.Checkpoint(t.Context()); err != nil {
		t.Fatal(err)
	}
	if in := find(t, dir, raw); len(in) > 0 {
		t.Errorf("the vector is still in %v", in)
	}
}

// A cache that is damaged, or was deleted, is made anew.
func TestVectorsAreACache(t *testing.T) {
	dir := t.TempDir()
	for _, damage := range []string{"", "this is no database, but it is long enough to be taken for one " + strings.Repeat("x", 4096)} {
		write(t, filepath.Join(dir, "vectors.db"), damage)
		db := open(t, dir, nil)
		m := memory("ann", 1)
		if err := db.PutVectors(t.Context(), "m", []memtypes.ID{m.ID}, []string{"h"}, []memtypes.Vector{{1, 2}}); err != nil {
			t.Fatalf("PutVectors: %v", err)
		}
		if vs, err := db.GetVectors(t.Context(), "m", []memtypes.ID{m.ID}, []string{"h"}); err != nil || len(vs[0]) != 2 {
			t.Errorf("GetVectors = %v, %v; want what was put", vs, err)
		}
		if err := db.Close(); err != nil {
			t.Fatal(err)
		}
	}
}
