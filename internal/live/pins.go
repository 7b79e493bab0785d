package live

import (
	"os"
	"path/filepath"
	"testing"

	"go.yaml.in/yaml/v3"
)

// Line is the release line that deploy/versions.yaml pins for a server, for
// example "8.19" for "elasticsearch": code that says which version it was tested
// with is held to it.
func Line(t testing.TB, name string) string {
	t.Helper()
	dir, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	for {
		b, err := os.ReadFile(filepath.Join(dir, "deploy", "versions.yaml"))
		if err == nil {
			return line(t, b, name)
		}
		if dir == filepath.Dir(dir) {
			t.Fatal("no deploy/versions.yaml above the test's folder")
		}
		dir = filepath.Dir(dir)
	}
}

func line(t testing.TB, b []byte, name string) string {
	t.Helper()
	var pins map[string]struct {
		Line string `yaml:"line"`
	}
	if err := yaml.Unmarshal(b, &pins); err != nil {
		t.Fatalf("deploy/versions.yaml: %v", err)
	}
	if pins[name].Line == "" {
		t.Fatalf("deploy/versions.yaml has no line for %q", name)
	}
	return pins[name].Line
}
