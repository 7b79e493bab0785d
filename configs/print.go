package configs

import (
	"fmt"
	"io"
	"reflect"
	"strings"
	"time"

	"go.yaml.in/yaml/v3"
)

// Print writes every setting as YAML, each with a comment that says where its
// value came from. Secrets are ***, also a login within an address; everything
// else reads back the same.
func (l *Loaded) Print(w io.Writer) error {
	root := &yaml.Node{Kind: yaml.MappingNode}
	sections := map[string]*yaml.Node{"": root}
	for _, k := range keys() {
		path, name := split(k.name)
		value := reflect.ValueOf(l.Config).FieldByIndex(k.place).Interface()
		if isAddress(k.name) {
			value = withoutLogin(value.(string))
		}
		v := scalar(value)
		v.LineComment = l.origin[k.name]
		s := section(sections, path)
		s.Content = append(s.Content, text(name), v)
	}
	e := yaml.NewEncoder(w)
	e.SetIndent(2)
	if err := e.Encode(root); err != nil {
		return err
	}
	return e.Close()
}

// isAddress reports whether the setting of that name holds addresses, within
// which there may be a login.
func isAddress(name string) bool {
	return strings.HasSuffix(name, ".base_url") || name == "sparse.urls" || name == "dense.addr"
}

// withoutLogin hides name and password in addresses such as
// https://name:password@host/v1, with commas between.
func withoutLogin(addresses string) string {
	var out []string
	for _, address := range strings.Split(addresses, ",") {
		out = append(out, hideLogin(address))
	}
	return strings.Join(out, ",")
}

func hideLogin(address string) string {
	scheme, rest, ok := strings.Cut(address, "://")
	if ok {
		scheme += "://"
	} else {
		scheme, rest = "", address
	}
	host, path, _ := strings.Cut(rest, "/")
	at := strings.LastIndexByte(host, '@')
	if at < 0 {
		return address
	}
	return strings.TrimSuffix(scheme+"***"+host[at:]+"/"+path, "/")
}

// split parts "a.b.c" into "a.b" and "c".
func split(name string) (path, last string) {
	if i := strings.LastIndexByte(name, '.'); i >= 0 {
		return name[:i], name[i+1:]
	}
	return "", name
}

// section finds or makes the mapping at path.
func section(all map[string]*yaml.Node, path string) *yaml.Node {
	if n := all[path]; n != nil {
		return n
	}
	up, name := split(path)
	n := &yaml.Node{Kind: yaml.MappingNode}
	all[path] = n
	parent := section(all, up)
	parent.Content = append(parent.Content, text(name), n)
	return n
}

func text(s string) *yaml.Node {
	n := &yaml.Node{}
	n.SetString(s)
	return n
}

// scalar writes one value as a file would.
func scalar(v any) *yaml.Node {
	switch x := v.(type) {
	case time.Duration:
		return text(formatDuration(x))
	case Secret:
		return quoted(x.String())
	case string:
		return quoted(x)
	}
	return &yaml.Node{Kind: yaml.ScalarNode, Value: fmt.Sprint(v)}
}

// quoted is text in quotes where YAML would take it for something else.
func quoted(s string) *yaml.Node {
	n := text(s)
	var back any
	if err := yaml.Unmarshal([]byte(s), &back); err != nil || back != any(s) {
		n.Style = yaml.DoubleQuotedStyle
	}
	return n
}
