package configs

import (
	"reflect"
	"slices"
	"strings"
)

// key is one setting: its dotted name and its place in Config.
type key struct {
	name  string
	place []int // for reflect.Value.FieldByIndex
	kind  reflect.Type
}

// env is the environment variable of k.
func (k key) env() string { return envPrefix + strings.ToUpper(strings.ReplaceAll(k.name, ".", "_")) }

const envPrefix = "VIMBANK_"

// keys lists all settings in the order of Config.
func keys() []key { return collect(reflect.TypeFor[Config](), "", nil) }

func collect(t reflect.Type, prefix string, place []int) (out []key) {
	for i := range t.NumField() {
		f := t.Field(i)
		name, _, _ := strings.Cut(f.Tag.Get("yaml"), ",")
		at := append(slices.Clone(place), i)
		switch {
		case f.Anonymous:
			out = append(out, collect(f.Type, prefix, at)...)
		case f.Type.Kind() == reflect.Struct && f.Type != reflect.TypeFor[Secret]():
			out = append(out, collect(f.Type, prefix+name+".", at)...)
		default:
			out = append(out, key{prefix + name, at, f.Type})
		}
	}
	return out
}

// Keys lists the names of all settings, in the order of the reference profile.
func Keys() []string {
	var out []string
	for _, k := range keys() {
		out = append(out, k.name)
	}
	return out
}

// nearest is the name most like s, and how many letters apart they are.
func nearest(s string, names []string) (best string, apart int) {
	for _, n := range names {
		if d := distance(s, n); best == "" || d < apart {
			best, apart = n, d
		}
	}
	return best, apart
}

// distance counts the letters to insert, delete, replace or swap with their
// neighbour to make b of a (optimal string alignment).
func distance(a, b string) int {
	rows := make([][]int, len(a)+1)
	for i := range rows {
		rows[i] = make([]int, len(b)+1)
		rows[i][0] = i
	}
	for j := range rows[0] {
		rows[0][j] = j
	}
	for i := 1; i <= len(a); i++ {
		for j := 1; j <= len(b); j++ {
			cost := 1
			if a[i-1] == b[j-1] {
				cost = 0
			}
			d := min(rows[i-1][j]+1, rows[i][j-1]+1, rows[i-1][j-1]+cost)
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				d = min(d, rows[i-2][j-2]+1)
			}
			rows[i][j] = d
		}
	}
	return rows[len(a)][len(b)]
}
