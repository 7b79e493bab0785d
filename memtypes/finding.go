package memtypes

// Finding is one thing that was looked at in a backend, and how it stands.
type Finding struct {
	Part   string `json:"part"`  // what was looked at: "ledger", "dense", "sparse", "embedder"
	Check  string `json:"check"` // "reachable", "version", "settings", "mapping", "collection", "clock", "permissions", ...
	OK     bool   `json:"ok"`
	Found  string `json:"found"`            // never a secret
	Wanted string `json:"wanted,omitempty"` // where it is not OK
	Mend   string `json:"mend,omitempty"`   // what to do about it, where it is not OK: a command or a setting
}
