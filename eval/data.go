package eval

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"

	"github.com/vimbank/vimbank/ingest"
	"github.com/vimbank/vimbank/memtypes"
)

// set is one folder of evaluation data.
type set struct {
	name  string
	banks []*bank
}

// bank is one memory and the questions put to it.
type bank struct {
	name   string
	items  []ingest.Item
	probes []probe
}

// probe is one line of probes.jsonl. Fields that the engine must not see are
// read for scoring only, or not at all.
type probe struct {
	ID       string   `json:"id"`
	Bank     string   `json:"bank"`
	Query    string   `json:"query"`
	Relevant []string `json:"relevant"`
	Category string   `json:"category"`
	Now      *string  `json:"now"`
	now      time.Time
}

// readSet reads dir/items.jsonl and dir/probes.jsonl, banks in the order in
// which the items name them.
func readSet(dir string) (*set, error) {
	s := &set{name: filepath.Base(filepath.Clean(dir))}
	byName := map[string]*bank{}
	err := eachLine(filepath.Join(dir, "items.jsonl"), func(line []byte) error {
		it, err := ingest.ParseItem(line)
		if err != nil {
			return err
		}
		b := byName[it.Bank]
		if b == nil {
			b = &bank{name: it.Bank}
			byName[it.Bank], s.banks = b, append(s.banks, b)
		}
		b.items = append(b.items, it)
		return nil
	})
	if err != nil {
		return nil, err
	}
	return s, eachLine(filepath.Join(dir, "probes.jsonl"), func(line []byte) error {
		var p probe
		if err := json.Unmarshal(line, &p); err != nil {
			return err
		}
		b := byName[p.Bank]
		if b == nil {
			return memtypes.BadField("eval.Retrieval", "bank", p.Bank, "a bank that items.jsonl names")
		}
		if p.Now != nil {
			if p.now, err = time.Parse(time.RFC3339, *p.Now); err != nil {
				return memtypes.BadField("eval.Retrieval", "now", *p.Now, "an RFC 3339 time or null")
			}
		}
		b.probes = append(b.probes, p)
		return nil
	})
}

// eachLine calls f for every line of a JSON Lines file that is not blank; an
// error names file and line.
func eachLine(path string, f func([]byte) error) error {
	file, err := os.Open(path)
	if err != nil {
		return memtypes.Errorf("eval.Retrieval", memtypes.Invalid, "data: %w", err)
	}
	defer file.Close()
	r := bufio.NewReaderSize(file, 1<<20)
	for n := 1; ; n++ {
		line, err := r.ReadBytes('\n')
		if len(bytes.TrimSpace(line)) > 0 {
			if ferr := f(line); ferr != nil {
				return fmt.Errorf("%s:%d: %w", path, n, ferr)
			}
		}
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return memtypes.Errorf("eval.Retrieval", memtypes.Unavailable, "%s: %w", path, err)
		}
	}
}
