package elastic

import (
	"crypto/sha256"
	"encoding/hex"
	"regexp"
	"strings"

	"github.com/vimbank/vimbank/memtypes"
)

var generations = regexp.MustCompile(`^[a-z0-9-]{1,64}$`)

func checkName(op, name string) error {
	if !generations.MatchString(name) {
		return memtypes.BadField(op, "generation", name, "1 to 64 of a-z, 0-9 and -")
	}
	return nil
}

// list is the index that lists the tenants of generation g. Neither prefixes nor
// names of generations have a dot, so names cannot be mistaken.
func (s *Store) list(g string) string { return s.opt.Prefix + "." + g }

// generation is whose list the index is; empty if it is none.
func (s *Store) generation(index string) string {
	g, ok := strings.CutPrefix(index, s.opt.Prefix+".")
	if !ok || !generations.MatchString(g) {
		return ""
	}
	return g
}

// part names the index of a tenant within a generation.
func (s *Store) part(tenant string) string {
	if s.opt.Tenancy == Shared {
		return "shared"
	}
	return hashed(tenant)
}

// hashed is a name for tenant that an index can have.
func hashed(tenant string) string {
	sum := sha256.Sum256([]byte(tenant))
	return hex.EncodeToString(sum[:16])
}

// writable is the alias that writes to index go through. Asking for an alias,
// they never make an index.
func writable(index string) string { return index + ".w" }

// key is the document of a memory. In a shared index, two tenants may have the
// same ID.
func (s *Store) key(tenant string, id memtypes.ID) string {
	if s.opt.Tenancy == Shared {
		return hashed(tenant) + ":" + string(id)
	}
	return string(id)
}

// routing keeps a tenant of a shared index on one shard.
func (s *Store) routing(tenant string) string {
	if s.opt.Tenancy == Shared {
		return hashed(tenant)
	}
	return ""
}
