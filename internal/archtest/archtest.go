// Package archtest holds the import rules of docs/design.md as code: which room
// may import which, which package is the gate of which library, who may do
// I/O, and who may look at the clock.
//
// It parses the files itself. Asked through a `go list` child, a test could be
// served from the cache after a forbidden import had come in: the go command
// watches the files that a test opens, not those that its children open.
package archtest

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path"
	"slices"
	"strconv"
	"strings"
)

// Rules say what a tree may import.
type Rules struct {
	Module string // the module's path
	// Rooms maps each package, by its path in the module, to those of the
	// module that it may import.
	Rooms map[string][]string
	// Tests are the packages of the module that any test file may import besides.
	Tests []string
	// TestRooms are packages that the test files of one room may import besides.
	TestRooms map[string][]string
	// Gates maps each library, by the beginning of its import path, to the rooms
	// whose production files may import it. Tests use TestLibs.
	Gates map[string][]string
	// TestLibs are libraries for test files and contract tests, by beginning.
	TestLibs []string
	// Pure are rooms whose production files do no I/O.
	Pure []string
	// Clock are rooms whose production files may call time.Now.
	Clock []string
}

// Check parses every Go file of tree, except in folders that begin with a dot
// or an underscore, are named testdata, or are a module of their own, and says
// what breaks r, one finding a line, sorted.
func Check(tree fs.FS, r Rules) ([]string, error) {
	c := &checker{Rules: r, seen: map[string]bool{}}
	err := fs.WalkDir(tree, ".", func(p string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() {
			return skip(tree, p)
		}
		if !strings.HasSuffix(p, ".go") {
			return nil
		}
		src, err := fs.ReadFile(tree, p)
		if err != nil {
			return err
		}
		return c.file(p, src)
	})
	for room := range r.Rooms {
		if !c.seen[room] {
			c.report(room, "is in the map of rooms and not in the tree")
		}
	}
	slices.Sort(c.found)
	return slices.Compact(c.found), err
}

// skip leaves out what is no code of the module.
func skip(tree fs.FS, dir string) error {
	if dir == "." {
		return nil
	}
	name := path.Base(dir)
	if name == "testdata" || name[0] == '.' || name[0] == '_' {
		return fs.SkipDir
	}
	if _, err := fs.Stat(tree, dir+"/go.mod"); err == nil {
		return fs.SkipDir
	}
	return nil
}

type checker struct {
	Rules
	found []string
	seen  map[string]bool // rooms with a file
}

func (c *checker) report(where, format string, args ...any) {
	c.found = append(c.found, where+": "+fmt.Sprintf(format, args...))
}

// file checks one file.
func (c *checker) file(p string, src []byte) error {
	f, err := parser.ParseFile(token.NewFileSet(), p, src, parser.SkipObjectResolution)
	if err != nil {
		return err
	}
	room := path.Dir(p)
	c.seen[room] = true
	if _, ok := c.Rooms[room]; !ok {
		c.report(room, "is not in the map of rooms: give it a line in internal/archtest/rules.go and in docs/design.md")
		return nil
	}
	test := strings.HasSuffix(p, "_test.go")
	for _, i := range f.Imports {
		if target, err := strconv.Unquote(i.Path.Value); err == nil {
			c.imports(p, room, target, test)
		}
	}
	if !test {
		c.habits(p, room, f)
	}
	return nil
}

// imports checks one import of a file of room.
func (c *checker) imports(p, room, target string, test bool) {
	inside, ours := strings.CutPrefix(target, c.Module+"/")
	switch {
	case target == "C":
		c.report(p, "imports \"C\": VIMBank is built without cgo")
	case ours:
		if !c.mayImport(room, inside, test) {
			c.report(p, "%s may not import %s", room, inside)
		}
	case strings.Contains(strings.SplitN(target, "/", 2)[0], "."):
		if !c.mayUse(room, target, test) {
			c.report(p, "%s is no gate of %s", room, target)
		}
	case !test && slices.Contains(c.Pure, room) && doesIO(target):
		c.report(p, "%s is pure and may not import %s", room, target)
	}
}

func (c *checker) mayImport(room, inside string, test bool) bool {
	if inside == room || slices.Contains(c.Rooms[room], inside) {
		return true
	}
	return test && (slices.Contains(c.Tests, inside) || slices.Contains(c.TestRooms[room], inside))
}

func (c *checker) mayUse(room, target string, test bool) bool {
	begins := func(lib string) bool { return target == lib || strings.HasPrefix(target, lib+"/") }
	if (test || strings.HasSuffix(room, "test")) && slices.ContainsFunc(c.TestLibs, begins) {
		return true
	}
	for lib, rooms := range c.Gates {
		if begins(lib) && slices.Contains(rooms, room) {
			return true
		}
	}
	return false
}

// doesIO says whether a package of the standard library reaches out of the
// process. net/http is let through for its status codes.
func doesIO(target string) bool {
	if target == "net/http" {
		return false
	}
	root, _, _ := strings.Cut(target, "/")
	return slices.Contains([]string{"os", "net", "log", "syscall", "database", "plugin", "unsafe"}, root)
}

// habits checks what STYLE asks of production code and a parser can see.
func (c *checker) habits(p, room string, f *ast.File) {
	for _, d := range f.Decls {
		if fn, ok := d.(*ast.FuncDecl); ok && fn.Recv == nil && fn.Name.Name == "init" {
			c.report(p, "has an init function")
		}
	}
	if slices.Contains(c.Clock, room) {
		return
	}
	ast.Inspect(f, func(n ast.Node) bool {
		if call, ok := n.(*ast.SelectorExpr); ok && call.Sel.Name == "Now" {
			if pkg, ok := call.X.(*ast.Ident); ok && pkg.Name == "time" {
				c.report(p, "%s looks at the clock: take now time.Time", room)
			}
		}
		return true
	})
}
