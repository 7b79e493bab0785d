package faults

import (
	"os"
	"strings"

	"github.com/vimbank/vimbank/memtypes"
)

// KillAt reads spec, "<point>:kill" as in VIMBANK_FAILPOINT, and gives what is
// to be called at each point by its name: it ends the process there at once, as
// kill -9 does. Nil for an empty spec.
func KillAt(spec string) (func(point string), error) {
	if spec == "" {
		return nil, nil
	}
	name, what, ok := strings.Cut(spec, ":")
	if !ok || name == "" || what != "kill" {
		return nil, memtypes.BadField("faults.KillAt", "VIMBANK_FAILPOINT", spec, `a point and ":kill", such as "claimed:kill"`)
	}
	return func(point string) {
		if point != name {
			return
		}
		if self, err := os.FindProcess(os.Getpid()); err == nil {
			_ = self.Kill()
		}
		select {} // the signal is on its way
	}, nil
}
