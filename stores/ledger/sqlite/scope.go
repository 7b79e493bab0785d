package sqlite

import (
	"context"
	"database/sql"
	"sync"

	"github.com/vimbank/vimbank/memtypes"
)

// maxCached bounds how many scopes, and heads of tenants, are held in memory.
const maxCached = 1 << 16

// scopes remembers the numbers that the file gave to scopes. A number never
// changes, so what is remembered stays true whatever other processes do.
type scopes struct {
	mu      sync.RWMutex // guards all below
	number  map[memtypes.Scope]scopeNo
	numbers map[int64]memtypes.Scope
}

// scopeNo is the number of a scope and of its tenant.
type scopeNo struct{ scope, tenant int64 }

func newScopes() *scopes {
	return &scopes{number: map[memtypes.Scope]scopeNo{}, numbers: map[int64]memtypes.Scope{}}
}

func (s *scopes) put(sc memtypes.Scope, no scopeNo) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.number) >= maxCached {
		clear(s.number)
		clear(s.numbers)
	}
	s.number[sc], s.numbers[no.scope] = no, sc
}

func (s *scopes) forget(list []memtypes.Scope) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, sc := range list {
		delete(s.numbers, s.number[sc].scope)
		delete(s.number, sc)
	}
}

func (s *scopes) byScope(sc memtypes.Scope) (scopeNo, bool) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	no, ok := s.number[sc]
	return no, ok
}

func (s *scopes) byNumber(no int64) (memtypes.Scope, bool) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	sc, ok := s.numbers[no]
	return sc, ok
}

// scope gives sc its number, a new one if it has none.
func (t *tx) scope(sc memtypes.Scope) (scopeNo, error) {
	if no, ok := t.w.scopes.byScope(sc); ok {
		return no, nil
	}
	var no scopeNo
	st := &t.w.stmts
	var err error
	if no.tenant, err = t.tenant(sc.Tenant()); err != nil {
		return no, err
	}
	err = st.scope.QueryRow(no.tenant, sc.User(), sc.Agent(), sc.Run()).Scan(&no.scope)
	if noRows(err) {
		r, addErr := st.addScope.Exec(no.tenant, sc.User(), sc.Agent(), sc.Run())
		if addErr != nil {
			return no, addErr
		}
		no.scope, err = r.LastInsertId()
	}
	if err != nil {
		return no, err
	}
	t.fresh = append(t.fresh, sc)
	t.w.scopes.put(sc, no)
	return no, nil
}

// tenant gives a tenant its number, a new one if it has none.
func (t *tx) tenant(name string) (no int64, err error) {
	err = t.w.stmts.tenant.QueryRow(name).Scan(&no)
	if !noRows(err) {
		return no, err
	}
	r, err := t.w.stmts.addTenant.Exec(name)
	if err != nil {
		return 0, err
	}
	return r.LastInsertId()
}

// name finds the scope that has a number.
func (r *reader) name(ctx context.Context, s *scopes, no int64) (memtypes.Scope, error) {
	if sc, ok := s.byNumber(no); ok {
		return sc, nil
	}
	return nameScope(r.pool.QueryRowContext(ctx, scopeName, no), s, no)
}

const scopeName = `SELECT s.tenant, t.name, s.user, s.agent, s.run FROM scopes s JOIN tenants t ON t.no = s.tenant WHERE s.no = ?`

func nameScope(row *sql.Row, s *scopes, no int64) (memtypes.Scope, error) {
	var tenant int64
	var name, user, agent, run string
	if err := row.Scan(&tenant, &name, &user, &agent, &run); err != nil {
		return memtypes.Scope{}, err
	}
	sc, err := memtypes.NewScope(name, user, agent, run)
	if err == nil {
		s.put(sc, scopeNo{no, tenant})
	}
	return sc, err
}
