package archtest_test

import (
	"io/fs"
	"os"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"

	"github.com/vimbank/vimbank/internal/archtest"
)

// root is the top of the module. os.DirFS opens files by the os package, so
// the go command sees them, and a change of any makes this test run again.
func root() fs.FS { return os.DirFS("../..") }

func TestThisModuleKeepsItsRules(t *testing.T) {
	found, err := archtest.Check(root(), archtest.VIMBank())
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range found {
		t.Error(f)
	}
}

// TestDesignNamesEveryRoom: the words and the code say the same.
func TestDesignNamesEveryRoom(t *testing.T) {
	b, err := fs.ReadFile(root(), "docs/design.md")
	if err != nil {
		t.Fatal(err)
	}
	for room := range archtest.VIMBank().Rooms {
		if strings.HasSuffix(room, "test") {
			continue // contract tests go with their port
		}
		if !strings.Contains(string(b), "`"+room+"`") {
			t.Errorf("docs/design.md does not name the room `%s`", room)
		}
	}
}

func TestEveryGateLeadsToARoom(t *testing.T) {
	r := archtest.VIMBank()
	for lib, rooms := range r.Gates {
		for _, room := range rooms {
			if _, ok := r.Rooms[room]; !ok {
				t.Errorf("the gate of %s is %s, which is no room", lib, room)
			}
		}
	}
}

// small is a tree that keeps its rules, and the rules.
func small() (fstest.MapFS, archtest.Rules) {
	file := func(s string) *fstest.MapFile { return &fstest.MapFile{Data: []byte(s)} }
	tree := fstest.MapFS{
		"nouns/nouns.go":         file("package nouns\n"),
		"mind/mind.go":           file("package mind\nimport (\n\"time\"\n\"ex.org/m/nouns\"\n)\nvar _ time.Time\n"),
		"port/port.go":           file("package port\nimport \"ex.org/m/nouns\"\n"),
		"port/prod/prod.go":      file("package prod\nimport (\n\"os\"\n\"ex.org/m/port\"\n\"db.org/driver/sub\"\n)\n"),
		"port/porttest/c.go":     file("package porttest\nimport (\n\"ex.org/m/port\"\n\"cmp.org/cmp\"\n)\n"),
		"port/prod/prod_test.go": file("package prod_test\nimport (\n\"ex.org/m/port/porttest\"\n\"ex.org/m/port/prod\"\n\"cmp.org/cmp\"\n)\n"),
		"engine/engine.go":       file("package engine\nimport (\n\"time\"\n\"ex.org/m/mind\"\n\"ex.org/m/port\"\n)\nvar _ = time.Now\n"),
		"engine/engine_test.go":  file("package engine_test\nimport \"ex.org/m/port/prod\"\n"),
		"bench/go.mod":           file("module ex.org/m/bench\n"),
		"bench/bench.go":         file("package bench\nimport \"anything.org/goes\"\n"),
		"mind/testdata/x.go":     file("not Go\n"),
		".hidden/x.go":           file("not Go\n"),
	}
	return tree, archtest.Rules{
		Module: "ex.org/m",
		Rooms: map[string][]string{
			"nouns": {}, "mind": {"nouns"}, "port": {"nouns"}, "port/prod": {"nouns", "port"}, "port/porttest": {"port"}, "engine": {"mind", "port"},
		},
		Tests: []string{"port", "port/porttest"}, TestRooms: map[string][]string{"engine": {"port/prod"}},
		Gates: map[string][]string{"db.org/driver": {"port/prod"}}, TestLibs: []string{"cmp.org/cmp"},
		Pure: []string{"nouns", "mind"}, Clock: []string{"engine"},
	}
}

func TestAGoodTreeHasNoFindings(t *testing.T) {
	tree, rules := small()
	if found, err := archtest.Check(tree, rules); err != nil || len(found) > 0 {
		t.Errorf("got %q, %v, want nothing", found, err)
	}
}

// TestWhatBreaksARuleIsFound adds one file to the good tree at a time.
func TestWhatBreaksARuleIsFound(t *testing.T) {
	for _, tt := range []struct{ name, path, src, want string }{
		{"a mind that imports a store", "mind/x.go", `import "ex.org/m/port"`, "mind/x.go: mind may not import port"},
		{"a product of its sibling", "engine/x.go", `import "ex.org/m/port/prod"`, "engine/x.go: engine may not import port/prod"},
		{"the nouns import anything", "nouns/x.go", `import "ex.org/m/mind"`, "nouns/x.go: nouns may not import mind"},
		{"an alias hides nothing", "mind/x.go", `import p "ex.org/m/port"`, "mind/x.go: mind may not import port"},
		{"a blank import hides nothing", "mind/x.go", `import _ "ex.org/m/port"`, "mind/x.go: mind may not import port"},
		{"a file of another system", "mind/x_windows.go", `import "ex.org/m/port"`, "mind/x_windows.go: mind may not import port"},
		{"a library beside its gate", "engine/x.go", `import "db.org/driver"`, "engine/x.go: engine is no gate of db.org/driver"},
		{"a library with a like name", "port/prod/x.go", `import "db.org/driver2"`, "port/prod/x.go: port/prod is no gate of db.org/driver2"},
		{"a library nobody knows", "mind/x_test.go", `import "new.org/lib"`, "mind/x_test.go: mind is no gate of new.org/lib"},
		{"a test library in production", "mind/x.go", `import "cmp.org/cmp"`, "mind/x.go: mind is no gate of cmp.org/cmp"},
		{"a test that imports a product", "mind/x_test.go", `import "ex.org/m/port/prod"`, "mind/x_test.go: mind may not import port/prod"},
		{"I/O in a mind", "mind/x.go", `import "os"`, "mind/x.go: mind is pure and may not import os"},
		{"I/O below it", "mind/x.go", `import "net/netip"`, "mind/x.go: mind is pure and may not import net/netip"},
		{"cgo", "port/prod/x.go", `import "C"`, `port/prod/x.go: imports "C": VIMBank is built without cgo`},
		{"the clock", "mind/x.go", "import \"time\"\nvar now = time.Now()", "mind/x.go: mind looks at the clock: take now time.Time"},
		{"an init function", "engine/x.go", "func init() {}", "engine/x.go: has an init function"},
		{"a new room", "drawer/x.go", "", "drawer: is not in the map of rooms: give it a line in internal/archtest/rules.go and in docs/design.md"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			tree, rules := small()
			tree[tt.path] = &fstest.MapFile{Data: []byte("package x\n" + tt.src + "\n")}
			found, err := archtest.Check(tree, rules)
			if err != nil {
				t.Fatal(err)
			}
			if want := []string{tt.want}; !cmp.Equal(found, want) {
				t.Errorf("got %q, want %q", found, want)
			}
		})
	}
}

func TestAMissingRoomIsFound(t *testing.T) {
	tree, rules := small()
	rules.Rooms["attic"] = nil
	found, err := archtest.Check(tree, rules)
	if want := []string{"attic: is in the map of rooms and not in the tree"}; err != nil || !cmp.Equal(found, want) {
		t.Errorf("got %q, %v, want %q", found, err, want)
	}
}

func TestAFileThatIsNoGoIsAnError(t *testing.T) {
	tree, rules := small()
	tree["mind/x.go"] = &fstest.MapFile{Data: []byte("pakcage x")}
	if _, err := archtest.Check(tree, rules); err == nil {
		t.Error("got nil, want the parser's error")
	}
}
