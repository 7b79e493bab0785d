package configs

import (
	_ "embed"
	"fmt"
	"maps"
	"os"
	"reflect"
	"slices"
	"strings"

	"github.com/spf13/viper"

	"github.com/vimbank/vimbank/memtypes"
)

//go:embed embedded.yaml
var embeddedYAML []byte

//go:embed paper.yaml
var paperYAML []byte

//go:embed cluster.yaml
var clusterYAML []byte

// Profiles lists the profiles that settings can start from.
func Profiles() []string { return []string{"embedded", "paper", "cluster"} }

// Sources are what stands over the profile, besides the environment.
type Sources struct {
	File  string            // path of a YAML file; empty: none
	Flags map[string]string // by key, as the user wrote them
}

// Loaded is the settings and where each came from.
type Loaded struct {
	Config Config
	// Ignored are the variables named VIMBANK_* that are no setting, sorted.
	// Other programs make some (Kubernetes does for a service of this name), so
	// only one that is nearly a setting is an error.
	Ignored []string
	origin  map[string]string
}

// Origin says where the value of key came from: "default", "profile paper",
// "FILE:LINE", "environment VIMBANK_RECALL_K" or "flag".
func (l *Loaded) Origin(key string) string { return l.origin[key] }

// Load reads profile, file, environment and flags, in rising order, and checks
// the result. Whatever is wrong is Invalid, and names field, found and wanted.
func Load(s Sources) (*Loaded, error) {
	f := &file{}
	if s.File != "" {
		var err error
		if f, err = readFile(s.File); err != nil {
			return nil, err
		}
	}
	known := names()
	for name, v := range s.Flags {
		if !known[name] {
			return nil, memtypes.BadField("configs.Load", name, v, "a setting for the flag")
		}
	}
	l := &Loaded{origin: map[string]string{}}
	var err error
	if l.Ignored, err = strayVariables(); err != nil {
		return nil, err
	}
	v := layered(f, s.Flags)
	if err := l.base(v); err != nil {
		return nil, err
	}
	for _, k := range keys() {
		if o := override(k, f, s.Flags); o != "" {
			l.origin[k.name] = o
		}
		raw := v.Get(k.name)
		value, err := typed(raw, k.kind)
		if err != nil {
			return nil, l.bad(k.name, fmt.Sprint(raw), err.Error())
		}
		reflect.ValueOf(&l.Config).Elem().FieldByIndex(k.place).Set(reflect.ValueOf(value))
	}
	l.yield()
	return l, l.check()
}

// yield drops the address that a profile gives the ledger where a variable or a
// file is named for it: who names one does not have to take back the other.
func (l *Loaded) yield() {
	named := l.Config.Ledger.URLEnv != "" || l.Config.Ledger.URLFile != ""
	if named && strings.HasPrefix(l.origin["ledger.url"], "profile ") {
		l.Config.Ledger.URL = Secret{}
	}
}

// layered puts what stands over the profile into a viper of our own, which
// knows that flags win over the environment and that over the file.
func layered(f *file, flags map[string]string) *viper.Viper {
	v := viper.New()
	for name, value := range f.values {
		_ = v.MergeConfigMap(nested(name, value)) // fails only for a nil map
	}
	for _, k := range keys() {
		_ = v.BindEnv(k.name, k.env()) // fails only without a name
		if value, ok := flags[k.name]; ok {
			v.Set(k.name, value)
		}
	}
	return v
}

// nested makes {"a": {"b": value}} of "a.b".
func nested(name string, value any) map[string]any {
	if head, rest, more := strings.Cut(name, "."); more {
		return map[string]any{head: nested(rest, value)}
	}
	return map[string]any{name: value}
}

// base puts the profile that v names below what v has.
func (l *Loaded) base(v *viper.Viper) error {
	type layer struct {
		name, origin string
		yaml         []byte
	}
	layers := []layer{{"embedded", "default", embeddedYAML}}
	switch p := v.Get("profile"); p {
	case nil, "embedded":
	case "paper":
		layers = append(layers, layer{"paper", "profile paper", paperYAML})
	case "cluster":
		layers = append(layers, layer{"cluster", "profile cluster", clusterYAML})
	default:
		return memtypes.BadField("configs.Load", "profile", fmt.Sprint(p), strings.Join(Profiles(), ", "))
	}
	for _, layer := range layers {
		f, err := parseFile(layer.name+".yaml", layer.yaml)
		if err != nil {
			return err
		}
		for name, value := range f.values {
			v.SetDefault(name, value)
			l.origin[name] = layer.origin
		}
	}
	return nil
}

// override says what stands over the profile for k; empty: nothing.
func override(k key, f *file, flags map[string]string) string {
	if _, ok := flags[k.name]; ok {
		return "flag"
	}
	if os.Getenv(k.env()) != "" {
		return "environment " + k.env()
	}
	if _, ok := f.values[k.name]; ok {
		return fmt.Sprintf("%s:%d", f.name, f.lines[k.name])
	}
	return ""
}

// strayVariables finds the variables that look like settings and are none. One
// that is at most two letters from a setting is a misspelt key, and an error.
func strayVariables() ([]string, error) {
	byEnv := map[string]string{}
	for _, k := range keys() {
		byEnv[k.env()] = k.name
	}
	names := slices.Sorted(maps.Keys(byEnv))
	var stray []string
	for _, entry := range os.Environ() {
		name, _, _ := strings.Cut(entry, "=")
		if !strings.HasPrefix(name, envPrefix) || byEnv[name] != "" || slices.Contains(reserved(), name) || strings.HasPrefix(name, envPrefix+"TEST_") {
			continue
		}
		if like, apart := nearest(name, names); apart <= 2 {
			return nil, &memtypes.Error{Op: "configs.Load", Code: memtypes.Invalid, Err: &memtypes.Field{
				Name: name, Found: "a variable that is no setting", Wanted: "perhaps " + like}}
		}
		stray = append(stray, name)
	}
	slices.Sort(stray)
	return stray, nil
}

// reserved are the variables that others of this project read.
func reserved() []string { return []string{envPrefix + "CONFIG", envPrefix + "REQUIRE_SERVERS"} }

// bad is the error for a value, with the place it came from.
func (l *Loaded) bad(name, found, wanted string) error {
	return &memtypes.Error{Op: "configs.Load", Code: memtypes.Invalid, Err: &memtypes.Field{
		Name: name, Found: fmt.Sprintf("%q (%s)", shown(name, found), l.origin[name]), Wanted: wanted}}
}
