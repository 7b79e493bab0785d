package fusion

import "github.com/vimbank/vimbank/memtypes"

// best is the default profile.
func (a *asked) best() func(int) []memtypes.Reason {
	return func(i int) []memtypes.Reason {
		return []memtypes.Reason{
			reason("text", a.share(Text, i), .6),
			reason("dense", a.rise(Vector, i), .4),
		}
	}
}
