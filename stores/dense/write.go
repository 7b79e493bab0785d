package dense

import (
	"context"

	"github.com/vimbank/vimbank/memtypes"
)

// group is how many documents go into a shard while it is locked.
const group = 32

// Upsert implements Index. The context of a document without a text vector is
// ignored: such a document is held, but not found.
func (f *Flat) Upsert(ctx context.Context, docs []Doc) error {
	const op = "dense.Upsert"
	if err := CheckDocs(op, docs, f.dim); err != nil {
		return err
	}
	f.write.Lock()
	defer f.write.Unlock()
	if err := f.usable(ctx, op); err != nil {
		return err
	}
	f.putAll(docs, (*row).set) // nothing fails from here on, so it is all or none
	return nil
}

// putAll stores docs, in groups of one tenant, with rows made by encode.
func (f *Flat) putAll(docs []Doc, encode func(*row, memtypes.Vector)) {
	for len(docs) > 0 {
		n := sameTenant(docs)
		f.put(docs[:n], encode)
		docs = docs[n:]
	}
}

// sameTenant is how many of the first docs can go in as one group.
func sameTenant(docs []Doc) int {
	n := 1
	for n < len(docs) && n < group && docs[n].Facets.Scope.Tenant() == docs[0].Facets.Scope.Tenant() {
		n++
	}
	return n
}

// put stores docs, all of one tenant, with rows made by encode. The caller
// holds f.write; the shard is locked only while finished rows are copied in.
func (f *Flat) put(docs []Doc, encode func(*row, memtypes.Vector)) {
	var rows [group][2]*row
	fresh := 0
	for i := range docs {
		if f.stale(docs[i].ID, docs[i].Rev) {
			continue
		}
		if fresh++; docs[i].Text == nil {
			continue
		}
		rows[i][0] = f.encoded(2*i, docs[i].Text, encode)
		if docs[i].Context != nil {
			rows[i][1] = f.encoded(2*i+1, docs[i].Context, encode)
		}
	}
	if fresh == 0 {
		return
	}
	s := f.shard(docs[0].Facets.Scope.Tenant())
	for i := range docs {
		f.evict(docs[i].ID, docs[i].Rev, s)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for i := range docs {
		if d := &docs[i]; !f.stale(d.ID, d.Rev) {
			f.store(s, d, &rows[i])
		}
	}
}

// stale reports whether a document of revision rev comes too late.
func (f *Flat) stale(id memtypes.ID, rev uint64) bool {
	p, ok := f.places[id] // only a writer changes places, and this is the writer
	return ok && rev < p.rev
}

// encoded makes row number i of the scratch the row of v.
func (f *Flat) encoded(i int, v memtypes.Vector, encode func(*row, memtypes.Vector)) *row {
	for len(f.scratch) <= i {
		f.scratch = append(f.scratch, newRow(f.pad))
	}
	encode(&f.scratch[i], v)
	return &f.scratch[i]
}

// shard is the one of tenant, made if it is missing.
func (f *Flat) shard(tenant string) *shard {
	if s := f.shards[tenant]; s != nil {
		return s
	}
	s := newShard(tenant, f.pad)
	f.mu.Lock()
	defer f.mu.Unlock()
	f.shards[tenant] = s
	return s
}

// evict removes id from a shard other than to: its memory has moved to another tenant.
func (f *Flat) evict(id memtypes.ID, rev uint64, to *shard) {
	if p := f.places[id]; p.shard != nil && p.shard != to && rev >= p.rev {
		f.drop(id, p, nil)
	}
}

// store adds or replaces d in s, which is locked.
func (f *Flat) store(s *shard, d *Doc, rows *[2]*row) {
	p, ok := f.places[d.ID]
	if ok && p.shard == s {
		s.replace(p.doc, d, rows)
		p.rev = d.Rev
	} else {
		p = place{shard: s, doc: s.add(d, rows), rev: d.Rev}
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.places[d.ID].shard == nil {
		f.held++
	}
	f.places[d.ID] = p
}

// Delete implements Index.
func (f *Flat) Delete(ctx context.Context, gone []memtypes.Gone) error {
	const op = "dense.Delete"
	f.write.Lock()
	defer f.write.Unlock()
	if err := f.usable(ctx, op); err != nil {
		return err
	}
	for _, g := range gone {
		p, ok := f.places[g.ID]
		if ok && (p.rev > g.Rev || p.shard == nil && p.rev == g.Rev) {
			continue
		}
		f.drop(g.ID, p, &grave{g.ID, g.Rev})
	}
	return nil
}

// drop removes id from p, its place, and leaves a grave there if one is given.
func (f *Flat) drop(id memtypes.ID, p place, g *grave) {
	if s := p.shard; s != nil {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.remove(p.doc)
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if p.shard != nil {
		f.held--
		if len(p.shard.free) == len(p.shard.ids) {
			delete(f.shards, p.shard.tenant)
		}
	}
	delete(f.places, id)
	if g == nil {
		return
	}
	f.places[id] = place{rev: g.rev}
	f.graves = append(f.graves, *g)
	f.forget()
}

// forget keeps the number of remembered deletions within its bound.
func (f *Flat) forget() {
	for len(f.graves) > f.opt.Deleted {
		g := f.graves[0]
		f.graves = f.graves[1:]
		if p, ok := f.places[g.id]; ok && p.shard == nil && p.rev == g.rev {
			delete(f.places, g.id)
		}
	}
}
