package postgres

import (
	"context"
	"sync"

	"github.com/jackc/pgx/v5"

	"github.com/vimbank/vimbank/memtypes"
)

// maxCached bounds how many scopes are held in memory.
const maxCached = 1 << 16

// scopes remembers the numbers that the bank gave to scopes. A number never
// changes once it is committed, so what is remembered stays true whatever other
// processes do.
type scopes struct {
	mu      sync.RWMutex // guards all below
	number  map[memtypes.Scope]scopeNo
	numbers map[int64]memtypes.Scope
	tenants map[string]int64
}

// scopeNo is the number of a scope and of its tenant.
type scopeNo struct{ scope, tenant int64 }

func newScopes() *scopes {
	return &scopes{number: map[memtypes.Scope]scopeNo{}, numbers: map[int64]memtypes.Scope{}, tenants: map[string]int64{}}
}

func (s *scopes) put(known map[memtypes.Scope]scopeNo) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.number)+len(known) >= maxCached {
		clear(s.number)
		clear(s.numbers)
	}
	if len(s.tenants)+len(known) >= maxCached {
		clear(s.tenants)
	}
	for sc, no := range known {
		s.number[sc], s.numbers[no.scope] = no, sc
		s.tenants[sc.Tenant()] = no.tenant
	}
}

func (s *scopes) byTenant(name string) (int64, bool) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	no, ok := s.tenants[name]
	return no, ok
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

const selectScopes = "SELECT s.no, s.tenant, t.name, s.usr, s.agent, s.run FROM {s}.scopes s JOIN {s}.tenants t ON t.no = s.tenant"

// name sets the scopes of rows, of which the numbers are known.
func (db *DB) name(ctx context.Context, c *pgx.Conn, list []*row) error {
	fresh := map[memtypes.Scope]scopeNo{}
	var missing []int64
	for _, r := range list {
		var ok bool
		if r.scope, ok = db.scopes.byNumber(r.scopeNo); !ok {
			missing = append(missing, r.scopeNo)
		}
	}
	if len(missing) == 0 {
		return nil
	}
	rows, err := c.Query(ctx, db.sql(selectScopes+" WHERE s.no = ANY($1::bigint[])"), missing)
	if err != nil {
		return err
	}
	if err := scanScopes(rows, fresh); err != nil {
		return err
	}
	db.scopes.put(fresh)
	names := make(map[int64]memtypes.Scope, len(fresh))
	for sc, no := range fresh {
		names[no.scope] = sc
	}
	for _, r := range list {
		if r.scope.IsZero() {
			r.scope = names[r.scopeNo]
		}
	}
	return nil
}

func scanScopes(rows pgx.Rows, into map[memtypes.Scope]scopeNo) error {
	var no scopeNo
	var tenant, user, agent, run string
	_, err := pgx.ForEachRow(rows, []any{&no.scope, &no.tenant, &tenant, &user, &agent, &run}, func() error {
		sc, err := memtypes.NewScope(tenant, user, agent, run)
		into[sc] = no
		return err
	})
	return err
}
