package postgres

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"sync"

	"github.com/jackc/pgx/v5"

	"github.com/vimbank/vimbank/memtypes"
)

// The numbers of tenants and scopes are made of their names. So a number means
// the same whatever happens to the server: a bank that is restored from an old
// backup below a running process cannot have given it to another scope since.

// tenantNo is the number of a tenant.
func tenantNo(name string) int64 { return numberOf("tenant", name) }

// scopeNo is the number of a scope.
func scopeNo(s memtypes.Scope) int64 {
	return numberOf("scope", s.Tenant(), s.User(), s.Agent(), s.Run())
}

// numberOf hashes names, each with its length, to 63 bits. Two that get one
// number cannot both be added, since numbers are unique.
func numberOf(names ...string) int64 {
	var b []byte
	for _, n := range names {
		b = append(binary.AppendUvarint(b, uint64(len(n))), n...)
	}
	sum := sha256.Sum256(b)
	return int64(binary.BigEndian.Uint64(sum[:8]) >> 1)
}

// maxCached bounds how many scopes are held in memory.
const maxCached = 1 << 16

// scopes remembers the scopes of numbers.
type scopes struct {
	mu    sync.RWMutex // guards named
	named map[int64]memtypes.Scope
}

func newScopes() *scopes { return &scopes{named: map[int64]memtypes.Scope{}} }

func (s *scopes) put(list []memtypes.Scope) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.named)+len(list) >= maxCached {
		clear(s.named)
	}
	for _, sc := range list {
		s.named[scopeNo(sc)] = sc
	}
}

func (s *scopes) get(no int64) (memtypes.Scope, bool) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	sc, ok := s.named[no]
	return sc, ok
}

// name sets the scopes of rows, of which the numbers are known.
func (db *DB) name(ctx context.Context, c *pgx.Conn, list []*row) error {
	var missing []int64
	for _, r := range list {
		var ok bool
		if r.scope, ok = db.scopes.get(r.scopeNo); !ok {
			missing = append(missing, r.scopeNo)
		}
	}
	if len(missing) == 0 {
		return nil
	}
	rows, err := c.Query(ctx, db.sql("SELECT t.name, s.usr, s.agent, s.run FROM {s}.scopes s JOIN {s}.tenants t ON t.no = s.tenant WHERE s.no = ANY($1::bigint[])"), missing)
	if err != nil {
		return err
	}
	found, err := pgx.CollectRows(rows, scanScope)
	if err != nil {
		return err
	}
	db.scopes.put(found)
	named := make(map[int64]memtypes.Scope, len(found))
	for _, sc := range found {
		named[scopeNo(sc)] = sc
	}
	for _, r := range list {
		if !r.scope.IsZero() {
			continue
		}
		if r.scope = named[r.scopeNo]; r.scope.IsZero() {
			return memtypes.Errorf("postgres", memtypes.Internal, "%s: memory %s is of scope %d, which is not there: restore the bank from a backup", db.place, r.id.ID(), r.scopeNo)
		}
	}
	return nil
}

func scanScope(rows pgx.CollectableRow) (memtypes.Scope, error) {
	var tenant, user, agent, run string
	if err := rows.Scan(&tenant, &user, &agent, &run); err != nil {
		return memtypes.Scope{}, err
	}
	return memtypes.NewScope(tenant, user, agent, run)
}
