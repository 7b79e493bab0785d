package sqlite_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/vimbank/vimbank/internal/live"
	"github.com/vimbank/vimbank/memtypes"
	"github.com/vimbank/vimbank/stores/ledger"
	"github.com/vimbank/vimbank/stores/ledger/ledgertest"
	"github.com/vimbank/vimbank/stores/ledger/sqlite"
)

// TestTenants: nothing of one tenant is seen by another.
func TestTenants(t *testing.T) {
	seed, ops := live.Operations(t, 20_000)
	ledgertest.Tenants(t, func(t testing.TB) ledger.Ledger { return open(t, t.TempDir(), nil) }, seed, ops)
}

// TestTenantsLeak: what looks for leaks sees one in each call.
func TestTenantsLeak(t *testing.T) {
	for _, call := range []string{"Append", "Get", "List", "cursor", "Around", "History", "Audit", "Revs", "Claim"} {
		t.Run(call, func(t *testing.T) {
			l := &leaky{DB: open(t, t.TempDir(), nil), in: call, of: map[memtypes.ID]memtypes.Scope{}}
			defer l.Close()
			want := map[string]string{"Append": " by ", "cursor": "this one's cursor"}[call]
			if want == "" {
				want = call
			}
			if err := ledgertest.CheckTenants(t.Context(), l, 1, 5000); err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("error = %v, want one that says %q", err, want)
			}
		})
	}
}

// leaky is a ledger that forgets to look at the tenant in one call.
type leaky struct {
	*sqlite.DB
	in string
	of map[memtypes.ID]memtypes.Scope // of each memory
}

func swapped(tenant string) string {
	if tenant == "acme" {
		return "globex"
	}
	return "acme"
}

func elsewhere(s memtypes.Scope) memtypes.Scope {
	s, _ = memtypes.NewScope(swapped(s.Tenant()), s.User(), s.Agent(), s.Run())
	return s
}

func (l *leaky) Append(ctx context.Context, b ledger.Batch) ([]ledger.Result, error) {
	for i := range b.Edits {
		m := &b.Edits[i].Memory
		if s, known := l.of[m.ID]; known && l.in == "Append" && s != m.Scope {
			m.Scope = s
		}
		l.of[m.ID] = m.Scope
	}
	return l.DB.Append(ctx, b)
}

func (l *leaky) Get(ctx context.Context, s memtypes.Scope, ids []memtypes.ID) ([]memtypes.Memory, error) {
	ms, err := l.DB.Get(ctx, s, ids)
	if err != nil || l.in != "Get" {
		return ms, err
	}
	more, err := l.DB.Get(ctx, elsewhere(s), ids)
	return append(ms, more...), err
}

func (l *leaky) List(ctx context.Context, q ledger.ListQuery) (ledger.Page, error) {
	if l.in == "cursor" && q.Cursor != "" || l.in == "List" && q.Limit%4 == 0 {
		q.Filter.Scope = elsewhere(q.Filter.Scope)
	}
	return l.DB.List(ctx, q)
}

func (l *leaky) Around(ctx context.Context, id memtypes.ID, n int) ([]memtypes.Memory, error) {
	ms, err := l.DB.Around(ctx, id, n)
	if err != nil || l.in != "Around" || len(ms) == 0 {
		return ms, err
	}
	beside, err := l.DB.List(ctx, ledger.ListQuery{Filter: memtypes.Filter{Scope: elsewhere(ms[0].Scope), Session: ms[0].Talk.Session}, Limit: 1})
	return append(ms, beside.Memories...), err
}

func (l *leaky) History(ctx context.Context, s memtypes.Scope, id memtypes.ID) ([]ledger.Revision, error) {
	if l.in == "History" {
		s = l.of[id]
	}
	return l.DB.History(ctx, s, id)
}

func (l *leaky) Audit(ctx context.Context, tenant string, before uint64, limit int) ([]ledger.Entry, error) {
	es, err := l.DB.Audit(ctx, tenant, before, limit)
	if err != nil || l.in != "Audit" || len(es) == 0 {
		return es, err
	}
	more, err := l.DB.Audit(ctx, swapped(tenant), 0, 1)
	return append(es[:len(es)-1], more...), err
}

func (l *leaky) Revs(ctx context.Context, after memtypes.ID, limit int) ([]ledger.Held, error) {
	held, err := l.DB.Revs(ctx, after, limit)
	if l.in == "Revs" && len(held) > 0 {
		held[0].Tenant = swapped(held[0].Tenant)
	}
	return held, err
}

func (l *leaky) Claim(ctx context.Context, name, holder string, now time.Time, hold time.Duration, limit int) ([]ledger.Intent, error) {
	owed, err := l.DB.Claim(ctx, name, holder, now, hold, limit)
	if l.in == "Claim" && len(owed) > 0 {
		owed[0].Tenant = swapped(owed[0].Tenant)
	}
	return owed, err
}
