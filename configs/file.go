package configs

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"reflect"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/vimbank/vimbank/memtypes"
)

// maxFile bounds a settings file.
const maxFile = 1 << 20

// file is what one YAML file says: a raw value and a line for each key.
type file struct {
	name   string
	values map[string]any
	lines  map[string]int
}

// readFile reads and checks a settings file.
func readFile(path string) (*file, error) {
	const op = "configs.Load"
	f, err := os.Open(path)
	if err != nil {
		return nil, memtypes.Errorf(op, memtypes.Invalid, "field \"config\": found %w, wanted a readable file", err)
	}
	defer f.Close()
	b, err := io.ReadAll(io.LimitReader(f, maxFile+1))
	if err != nil {
		return nil, memtypes.Errorf(op, memtypes.Invalid, "field \"config\": found %w, wanted a readable file", err)
	}
	if len(b) > maxFile {
		return nil, memtypes.BadField(op, "config", path+" of over 1 MiB", "a settings file")
	}
	return parseFile(path, b)
}

// parseFile takes YAML apart. viper would lower-case the keys, join those that
// then are alike, and lose the lines; so the tree is read here, and viper gets
// what has been checked.
func parseFile(name string, b []byte) (*file, error) {
	const op = "configs.Load"
	f := &file{name: name, values: map[string]any{}, lines: map[string]int{}}
	d := yaml.NewDecoder(bytes.NewReader(b))
	var doc, second yaml.Node
	if err := d.Decode(&doc); errors.Is(err, io.EOF) {
		return f, nil // an empty file says nothing
	} else if err != nil {
		return nil, memtypes.Errorf(op, memtypes.Invalid, "%s: found %w, wanted YAML", name, err)
	}
	if err := d.Decode(&second); !errors.Is(err, io.EOF) {
		return nil, memtypes.Errorf(op, memtypes.Invalid, "%s: found a second document, wanted one", name)
	}
	return f, f.take(doc.Content[0], "", names())
}

// names maps every key, and every section (to false), to whether it takes a value.
func names() map[string]bool {
	out := map[string]bool{}
	for _, k := range keys() {
		out[k.name] = true
		for i, c := range k.name {
			if c == '.' {
				out[k.name[:i]] = false
			}
		}
	}
	return out
}

// take reads the mapping n, whose keys stand below prefix.
func (f *file) take(n *yaml.Node, prefix string, known map[string]bool) error {
	if n.Kind == yaml.ScalarNode && n.Tag == "!!null" {
		return nil // a section without entries
	}
	if n.Kind != yaml.MappingNode {
		return f.bad(n, strings.TrimSuffix(prefix, "."), n.Value, "settings, one a line, as key: value")
	}
	for i := 0; i < len(n.Content); i += 2 {
		k, v := n.Content[i], n.Content[i+1]
		name := prefix + k.Value
		isKey, ok := known[name]
		if _, twice := f.lines[name]; twice {
			return f.bad(k, name, "it twice", fmt.Sprintf("it once; the first stands in line %d", f.lines[name]))
		}
		f.lines[name] = k.Line
		switch {
		case !ok:
			return f.unknown(k, name)
		case !isKey:
			if err := f.take(v, name+".", known); err != nil {
				return err
			}
		case v.Kind != yaml.ScalarNode:
			return f.bad(v, name, "more than one value", "one value")
		case v.Tag == "!!null":
			return f.bad(v, name, "nothing", `a value; "" for empty text`)
		default:
			var raw any
			if err := v.Decode(&raw); err != nil {
				return f.bad(v, name, v.Value, "a value that YAML can hold")
			}
			if v.Tag == "!!timestamp" {
				raw = v.Value
			}
			f.values[name] = raw
		}
	}
	return nil
}

func (f *file) unknown(n *yaml.Node, name string) error {
	like, _ := nearest(name, Keys())
	return f.bad(n, name, "a key that does not exist", "a key of `vimbank config print`, perhaps "+like)
}

func (f *file) bad(n *yaml.Node, name, found, wanted string) error {
	return &memtypes.Error{Op: "configs.Load", Code: memtypes.Invalid, Err: &memtypes.Field{
		Name: name, Found: fmt.Sprintf("%s in %s line %d", shown(name, found), f.name, n.Line), Wanted: wanted}}
}

// shown is a value as an error may show it: not at all for a secret.
func shown(name, found string) string {
	for _, k := range keys() {
		if k.name == name && k.kind == reflect.TypeFor[Secret]() {
			return "a value that is not shown"
		}
	}
	if isAddress(name) {
		found = withoutLogin(found)
	}
	if r := []rune(found); len(r) > 60 {
		return string(r[:60]) + "…"
	}
	return found
}
