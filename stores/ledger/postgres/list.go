package postgres

import (
	"cmp"
	"context"
	"encoding/base64"
	"fmt"
	"slices"
	"strings"

	"github.com/jackc/pgx/v5"

	"github.com/vimbank/vimbank/memtypes"
	"github.com/vimbank/vimbank/stores/ledger"
)

// narrow is how many memories may be sorted for one page; where a filter lets
// more through, the index that stands in the order of the page is read instead.
const narrow = 4096

// List pages through memories; see ledger.Memories. A memory whose event time
// is revised between two pages may come twice or not at all.
func (db *DB) List(ctx context.Context, q ledger.ListQuery) (page ledger.Page, err error) {
	const op = "postgres.List"
	if err := q.Check(); err != nil {
		return page, err
	}
	if err := noNUL(op, "run_id", q.RunID); err != nil {
		return page, err
	}
	if err := noNUL(op, "session", q.Filter.Session); err != nil {
		return page, err
	}
	limit := cmp.Or(q.Limit, 100)
	err = db.view(ctx, op, func(ctx context.Context, c *pgx.Conn) error {
		page = ledger.Page{}
		w := where{db: db}
		if err := w.query(ctx, c, &q); err != nil || w.nothing {
			return err
		}
		few, err := w.few(ctx, c, &q)
		if err != nil {
			return err
		}
		list, err := db.rows(ctx, c, w.text(few, limit+1), w.args...)
		if err == nil {
			page.Memories, err = memories(list)
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
	db      *DB
	terms   []string
	args    []any
	scopes  []int64 // that the filter's scope covers
	nothing bool    // no memory can be found
}

// add takes a condition with %d in the place of the number of its argument.
func (w *where) add(term string, args ...any) {
	numbers := make([]any, len(args))
	for i := range args {
		numbers[i] = len(w.args) + i + 1
	}
	w.terms = append(w.terms, fmt.Sprintf(term, numbers...))
	w.args = append(w.args, args...)
}

// text is the statement. Where few memories are found they are sorted, or the
// planner might walk through all others in the order of the page to find them.
func (w *where) text(few bool, limit int) string {
	const order = "ORDER BY m.sec, m.nsec, m.id LIMIT %d"
	terms := strings.Join(w.terms, " AND ")
	if few {
		return fmt.Sprintf("WITH m AS MATERIALIZED (SELECT m.* FROM {s}.memories m WHERE "+terms+") "+
			rowColumns+"FROM m LEFT JOIN {s}.recalled r ON r.id = m.id "+order, limit)
	}
	return fmt.Sprintf("WITH m AS MATERIALIZED (SELECT m.* FROM {s}.memories m WHERE "+terms+" "+order+") "+
		rowColumns+"FROM m LEFT JOIN {s}.recalled r ON r.id = m.id ORDER BY m.sec, m.nsec, m.id", limit)
}

// query is the meaning of q.
func (w *where) query(ctx context.Context, c *pgx.Conn, q *ledger.ListQuery) error {
	w.states(q)
	if !q.Filter.Scope.IsZero() {
		if err := w.scope(ctx, c, q.Filter.Scope); err != nil || w.nothing {
			return err
		}
	}
	w.filter(&q.Filter)
	if q.RunID != "" {
		w.add("m.retirer = $%d", q.RunID)
	}
	if q.Since > 0 {
		w.add("m.rev > $%d", int64(min(q.Since, 1<<63-1)))
	}
	if q.Cursor == "" {
		return nil
	}
	sec, nsec, id, err := readCursor(q.Cursor)
	if err == nil {
		w.add("(m.sec, m.nsec, m.id) > ($%d::bigint, $%d::int, $%d::text::uuid)", sec, nsec, string(id))
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
	default:
		w.add("m.state < 2")
	}
}

// scope finds the numbers of what s covers; naming the tenant as well leaves
// one partition to be read.
func (w *where) scope(ctx context.Context, c *pgx.Conn, s memtypes.Scope) error {
	tenant := tenantNo(s.Tenant())
	text, args := "SELECT no FROM {s}.scopes WHERE tenant = $1", []any{tenant}
	for _, p := range [][2]string{{"usr", s.User()}, {"agent", s.Agent()}, {"run", s.Run()}} {
		if p[1] != "" {
			args = append(args, p[1])
			text += fmt.Sprintf(" AND %s = $%d", p[0], len(args))
		}
	}
	rows, err := c.Query(ctx, w.db.sql(text), args...)
	if err != nil {
		return err
	}
	if w.scopes, err = pgx.CollectRows(rows, pgx.RowTo[int64]); err != nil {
		return err
	}
	w.nothing = len(w.scopes) == 0
	w.add("m.tenant = $%d", tenant)
	w.add("m.scope = ANY($%d::bigint[])", w.scopes)
	return nil
}

// filter is the meaning of f but for its scope. Times are compared as
// memtypes.Facets keeps them, in whole seconds.
func (w *where) filter(f *memtypes.Filter) {
	if len(f.Kinds) > 0 {
		w.add("m.kind = ANY($%d::bigint[]::smallint[])", numbers(f.Kinds, kindNumber))
	}
	if len(f.Layers) > 0 {
		w.add("m.layer = ANY($%d::bigint[]::smallint[])", numbers(f.Layers, layerNumber))
	}
	if f.Session != "" {
		w.add("m.session = $%d", f.Session)
	}
	if !f.From.IsZero() {
		from := f.From.Unix()
		if f.From.Nanosecond() > 0 {
			from++
		}
		w.add("m.sec >= $%d", from)
	}
	if !f.To.IsZero() {
		to := f.To.Unix()
		if f.To.Nanosecond() > 0 {
			to++
		}
		w.add("m.sec < $%d", to)
	}
	if f.IDs != nil {
		w.add("m.id = ANY($%d::text[]::uuid[])", keysOf(f.IDs))
	}
}

// few says whether what a selective condition finds is to be sorted.
func (w *where) few(ctx context.Context, c *pgx.Conn, q *ledger.ListQuery) (bool, error) {
	f := &q.Filter
	if f.IDs != nil || q.RunID != "" {
		return true, nil
	}
	if q.Since > 0 {
		last, err := w.db.head(ctx, c)
		if err != nil {
			return false, err
		}
		if last < q.Since+narrow {
			// Each change has its number, so the log names what changed.
			w.add("m.id IN (SELECT id FROM {s}.log WHERE seq > $%d)", int64(min(q.Since, 1<<63-1)))
			return true, nil
		}
	}
	if f.Scope.IsZero() {
		return false, nil
	}
	count, args := "SELECT count(*) FROM (SELECT 1 FROM {s}.memories WHERE tenant = $1 AND scope = ANY($2::bigint[])", []any{w.args[0], w.scopes}
	if f.Session != "" {
		count += " AND session = $3"
		args = append(args, f.Session)
	}
	var n int
	err := c.QueryRow(ctx, w.db.sql(count+fmt.Sprintf(" LIMIT %d) x", narrow)), args...).Scan(&n)
	return n < narrow, err
}

func numbers[T any](vs []T, number func(T) int64) []int64 {
	out := make([]int64, len(vs))
	for i, v := range vs {
		out[i] = number(v)
	}
	return out
}

// cursorOf names the place after m; readCursor finds it again.
func cursorOf(m *memtypes.Memory) string {
	at := m.When()
	return base64.RawURLEncoding.EncodeToString(fmt.Appendf(nil, "1 %d %d %s", at.Unix(), at.Nanosecond(), m.ID))
}

func readCursor(s string) (sec int64, nsec int, id memtypes.ID, err error) {
	var version int
	var text string
	b, err := base64.RawURLEncoding.DecodeString(s)
	if err == nil {
		_, err = fmt.Sscanf(string(b), "%d %d %d %s", &version, &sec, &nsec, &text)
	}
	if _, ok := ledger.KeyOf(memtypes.ID(text)); err != nil || version != 1 || !ok || nsec < 0 || nsec > 999_999_999 {
		return 0, 0, "", memtypes.BadField("postgres.List", "cursor", s, "the Next of an earlier page")
	}
	return sec, nsec, memtypes.ID(text), nil
}
