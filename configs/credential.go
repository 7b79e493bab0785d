package configs

import (
	"os"
	"strings"

	"github.com/vimbank/vimbank/memtypes"
)

// credential is a secret that a section has itself, in a variable or in a file:
// api_key, api_key_env and api_key_file, for example.
type credential struct {
	section, name string
	inline        Secret
	env, file     string
}

// given counts the places that are named: at most one may be.
func (c credential) given() (n int) {
	for _, yes := range []bool{!c.inline.IsZero(), c.env != "", c.file != ""} {
		if yes {
			n++
		}
	}
	return n
}

// rule is that there is at most one place.
func (c credential) rule() rule {
	return rule{c.section + "." + c.name, "", c.given() <= 1, "one of " + c.name + ", " + c.name + "_env and " + c.name + "_file"}
}

// read finds the secret where the settings say it is; none is fine. An empty
// variable or file is not: whoever names one means to have a secret.
func (c credential) read() (Secret, error) {
	const op = "configs.Key"
	name := c.section + "." + c.name
	what := map[string]string{"api_key": "key"}[c.name]
	if what == "" {
		what = c.name
	}
	switch {
	case c.env != "":
		if v := strings.TrimSpace(os.Getenv(c.env)); v != "" {
			return NewSecret(v), nil
		}
		return Secret{}, memtypes.BadField(op, name+"_env", c.env+", which is empty", "the name of a variable that holds the "+what)
	case c.file != "":
		b, err := os.ReadFile(c.file)
		if err != nil {
			return Secret{}, memtypes.Errorf(op, memtypes.Invalid, "field %q: found %w, wanted a file that holds the %s", name+"_file", err, what)
		}
		if v := strings.TrimSpace(string(b)); v != "" {
			return NewSecret(v), nil
		}
		return Secret{}, memtypes.BadField(op, name+"_file", c.file+", which is empty", "a file that holds the "+what)
	}
	return c.inline, nil
}
