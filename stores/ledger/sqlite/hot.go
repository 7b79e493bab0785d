package sqlite

import (
	"context"
	"database/sql"
	sqldriver "database/sql/driver"
	"fmt"
)

// hot is a statement that every commit runs. It goes to the driver itself: what
// package sql does around a statement takes as long as a part of the insert.
// Its arguments must be of the types that a driver takes as they are: int64,
// bool, string, []byte and nil.
type hot struct {
	conn *sql.Conn
	stmt sqldriver.Stmt
	args []sqldriver.NamedValue // used again each time
}

func prepareHot(ctx context.Context, c *sql.Conn, text string) (h *hot, err error) {
	h = &hot{conn: c}
	err = c.Raw(func(conn any) error {
		p, ok := conn.(sqldriver.ConnPrepareContext)
		if !ok {
			return fmt.Errorf("found a driver of type %T, wanted one that prepares", conn)
		}
		h.stmt, err = p.PrepareContext(ctx, text)
		return err
	})
	return h, err
}

// exec runs the statement and says how many rows it changed.
func (h *hot) exec(args ...any) (rows int64, err error) {
	h.args = h.args[:0]
	for i, a := range args {
		h.args = append(h.args, sqldriver.NamedValue{Ordinal: i + 1, Value: a})
	}
	err = h.conn.Raw(func(any) error {
		st, ok := h.stmt.(sqldriver.StmtExecContext)
		if !ok {
			return fmt.Errorf("found a statement of type %T, wanted one that takes a context", h.stmt)
		}
		r, err := st.ExecContext(context.Background(), h.args)
		if err != nil {
			return err
		}
		rows, err = r.RowsAffected()
		return err
	})
	clear(h.args) // keeps nobody's text
	return rows, err
}

func (h *hot) close() error {
	return h.conn.Raw(func(any) error { return h.stmt.Close() })
}
