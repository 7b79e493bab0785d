package engine

import (
	"fmt"

	"github.com/vimbank/vimbank/memtypes"
)

func notFound(op string, id memtypes.ID, scope memtypes.Scope) error {
	return &memtypes.Error{Op: op, Code: memtypes.NotFound, ID: id, Err: fmt.Errorf("no such memory in scope %s", scope)}
}

func rev(n uint64) string { return fmt.Sprintf("revision %d", n) }
