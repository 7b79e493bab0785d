package sqlite

import (
	"cmp"
	"context"
	"encoding/base64"
	"fmt"
	"slices"
	"strings"

	"github.com/vimbank/vimbank/memtypes"
	"github.com/vimbank/vimbank/stores/ledger"
)

// narrow is how many memories may be sorted for one page; where a filter lets
// more through, the index that stands in the order of the page is read instead.
const narrow = 4096

// List pages through memories; see ledger.Memories. A memory whose event time
// is revised between two pages may come twice or not at all.
func (db *DB) List(ctx context.Context, q ledger.ListQuery) (page ledger.Page, err error) {
	const op = "sqlite.List"
	if err := q.Check(); err != nil {
		return page, err
	}
	limit := cmp.Or(q.Limit, 100)
	var w where
	if err := w.query(&q); err != nil {
		return page, err
	}
	err = db.search(ctx, op, func(r *reader) error {
		index, err := w.index(ctx, r, &q)
		if err != nil {
			return err
		}
		text := both(rowColumns, index, strings.Join(w.terms, " AND "), " ORDER BY 9, 10, 2 LIMIT ?") // sec, nsec, id
		list, err := all(ctx, r.pool, scanRow, text, slices.Concat(w.args, w.args, []any{limit + 1})...)
		if err == nil {
			page.Memories, err = r.nouns(ctx, db.scopes, list)
		}
		return err
	})
	if err != nil {
		return ledger.Page{}, err
	}
	if len(page.Memories) > limit {
		page.Memories = page.Memories[:limit]
		page.Next = cursorOf(&page.Memories[limit-1])
	}
	return page, nil
}

// where collects the conditions of a query and their arguments.
type where struct {
	terms []string
	args  []any
}

func (w *where) add(term string, args ...any) {
	w.terms = append(w.terms, term)
	w.args = append(w.args, args...)
}

// query is the meaning of q.
func (w *where) query(q *ledger.ListQuery) error {
	w.add("m.state < 2") // lets SQLite use the two indexes that leave the purged out
	w.states(q)
	if !q.Filter.Scope.IsZero() {
		w.scope(q.Filter.Scope)
	}
	w.filter(&q.Filter)
	if q.RunID != "" {
		w.add("m.retirer = ?", q.RunID)
	}
	if q.Since > 0 {
		w.add("m.rev > ?", int64(q.Since))
	}
	if q.Cursor == "" {
		return nil
	}
	sec, nsec, id, err := readCursor(q.Cursor)
	if err == nil {
		w.add("(m.sec, m.nsec, m.id) > (?, ?, ?)", sec, nsec, id[:])
	}
	return err
}

// states keeps the active unless told otherwise; what a run retired is retired.
func (w *where) states(q *ledger.ListQuery) {
	active, retired := slices.Contains(q.States, memtypes.Active), slices.Contains(q.States, memtypes.Retired)
	if len(q.States) == 0 {
		active, retired = q.RunID == "", q.RunID != ""
	}
	switch {
	case active && !retired:
		w.add("m.state = 0")
	case retired && !active:
		w.add("m.state = 1")
	}
}

func (w *where) scope(s memtypes.Scope) {
	w.add("m.scope IN " + scopeList(s, &w.args))
}

// scopeList selects the numbers of the scopes that s covers.
func scopeList(s memtypes.Scope, args *[]any) string {
	text := "(SELECT s.no FROM scopes s JOIN tenants t ON t.no = s.tenant WHERE t.name = ?"
	*args = append(*args, s.Tenant())
	for _, p := range [][2]string{{"user", s.User()}, {"agent", s.Agent()}, {"run", s.Run()}} {
		if p[1] != "" {
			text += " AND s." + p[0] + " = ?"
			*args = append(*args, p[1])
		}
	}
	return text + ")"
}

// filter is the meaning of f but for its scope. Times are compared as
// memtypes.Facets keeps them, in whole seconds.
func (w *where) filter(f *memtypes.Filter) {
	if len(f.Kinds) > 0 {
		w.add("m.kind IN (" + numbers(f.Kinds, kindNumber) + ")")
	}
	if len(f.Layers) > 0 {
		w.add("m.layer IN (" + numbers(f.Layers, layerNumber) + ")")
	}
	if f.Session != "" {
		w.add("m.session = ?", f.Session)
	}
	if !f.From.IsZero() {
		from := f.From.Unix()
		if f.From.Nanosecond() > 0 {
			from++
		}
		w.add("m.sec >= ?", from)
	}
	if !f.To.IsZero() {
		to := f.To.Unix()
		if f.To.Nanosecond() > 0 {
			to++
		}
		w.add("m.sec < ?", to)
	}
	if f.IDs != nil {
		w.add("m.id IN "+idList, idsJSON(f.IDs))
	}
}

// index chooses what to read: the few rows that a selective condition finds,
// to be sorted, or else everything in the order of the page.
func (w *where) index(ctx context.Context, r *reader, q *ledger.ListQuery) (string, error) {
	f := &q.Filter
	switch {
	case f.IDs != nil:
		return "memory_id", nil
	case q.RunID != "":
		return "memory_retirer", nil
	case q.Since > 0:
		last, err := r.head()
		if err == nil && last < q.Since+narrow {
			// Each change has its number, so the log names what changed.
			w.add("m.id IN (SELECT id FROM log WHERE seq > ?)", int64(q.Since))
			return "memory_id", nil
		}
		if err != nil {
			return "", err
		}
	}
	if f.Scope.IsZero() {
		return "memory_when", nil
	}
	var args []any
	count := "SELECT count(*) FROM (SELECT 1 FROM log INDEXED BY memory_session WHERE filed = 1 AND state < 2 AND scope IN " + scopeList(f.Scope, &args)
	if f.Session != "" {
		count += " AND session = ?"
		args = append(args, f.Session)
	}
	var n int
	err := r.pool.QueryRowContext(ctx, count+fmt.Sprintf(" LIMIT %d)", narrow), args...).Scan(&n)
	if n < narrow {
		return "memory_session", err
	}
	return "memory_when", err
}

func numbers[T any](vs []T, number func(T) int) string {
	var b strings.Builder
	for i, v := range vs {
		if i > 0 {
			b.WriteByte(',')
		}
		fmt.Fprint(&b, number(v))
	}
	return b.String()
}

// cursorOf names the place after m; readCursor finds it again.
func cursorOf(m *memtypes.Memory) string {
	at := m.When()
	return base64.RawURLEncoding.EncodeToString(fmt.Appendf(nil, "1 %d %d %s", at.Unix(), at.Nanosecond(), m.ID))
}

func readCursor(s string) (sec int64, nsec int, id ledger.Key, err error) {
	var version int
	var text string
	b, err := base64.RawURLEncoding.DecodeString(s)
	if err == nil {
		_, err = fmt.Sscanf(string(b), "%d %d %d %s", &version, &sec, &nsec, &text)
	}
	id, ok := ledger.KeyOf(memtypes.ID(text))
	if err != nil || version != 1 || !ok {
		return 0, 0, id, memtypes.BadField("sqlite.List", "cursor", s, "the Next of an earlier page")
	}
	return sec, nsec, id, nil
}
