package docs_test

import (
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"

	"github.com/vimbank/vimbank/configs"
	"github.com/vimbank/vimbank/internal/docs"
)

const root = "../.."

// files calls do with every file of the module whose name ends so.
func files(t *testing.T, suffix string, do func(name, text string)) {
	t.Helper()
	err := fs.WalkDir(os.DirFS(root), ".", func(p string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && p != "." && (d.Name()[0] == '.' || d.Name() == "testdata" || d.Name() == "node_modules"):
			return fs.SkipDir
		case d.IsDir() || !strings.HasSuffix(p, suffix):
			return nil
		}
		b, err := os.ReadFile(filepath.Join(root, p))
		do(p, string(b))
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}

func pages(t *testing.T, do func(name string, p docs.Page)) {
	files(t, ".md", func(name, text string) { do(name, docs.Parse(text)) })
}

func TestEveryRelativeLinkLeadsSomewhere(t *testing.T) {
	anchors := map[string][]string{}
	pages(t, func(name string, p docs.Page) { anchors[name] = p.Headings })
	pages(t, func(name string, p docs.Page) {
		for _, link := range p.Links {
			if strings.Contains(link, "://") || strings.HasPrefix(link, "mailto:") {
				continue
			}
			file, fragment, _ := strings.Cut(link, "#")
			target := name
			if file != "" {
				target = path.Join(path.Dir(name), file)
				if _, err := os.Stat(filepath.Join(root, target)); err != nil {
					t.Errorf("%s links to %s: %v", name, link, err)
					continue
				}
			}
			if fragment != "" && strings.HasSuffix(target, ".md") && !slices.Contains(anchors[target], fragment) {
				t.Errorf("%s links to %s: no such heading, there are %q", name, link, anchors[target])
			}
		}
	})
}

// TestEverySettingIsReal: what stands in a page as a setting, a variable or a
// settings file is one.
func TestEverySettingIsReal(t *testing.T) {
	keys := configs.Keys()
	sections := map[string]bool{}
	variables := []string{"VIMBANK_CONFIG", "VIMBANK_REQUIRE_SERVERS", "VIMBANK_TENANT_OPS", "VIMBANK_"}
	for _, k := range keys {
		if section, _, nested := strings.Cut(k, "."); nested {
			sections[section] = true
		}
		variables = append(variables, "VIMBANK_"+strings.ToUpper(strings.ReplaceAll(k, ".", "_")))
	}
	dotted := regexp.MustCompile(`^([a-z]+)\.[a-z_.]+$`)
	variable := regexp.MustCompile(`VIMBANK_[A-Z0-9_]*`)
	check := func(name, text string) {
		for _, v := range variable.FindAllString(text, -1) {
			if !slices.Contains(variables, v) && !strings.HasPrefix(v, "VIMBANK_TEST_") {
				t.Errorf("%s names the variable %s, which nothing reads", name, v)
			}
		}
	}
	pages(t, func(name string, p docs.Page) {
		for _, span := range p.Spans {
			check(name, span)
			isFile := strings.HasSuffix(span, ".md") || strings.HasSuffix(span, ".yaml") || strings.HasSuffix(span, ".go")
			isSection := slices.ContainsFunc(keys, func(k string) bool { return strings.HasPrefix(k, span+".") })
			if m := dotted.FindStringSubmatch(span); m != nil && sections[m[1]] && !isFile && !isSection && !slices.Contains(keys, span) {
				t.Errorf("%s names the setting %s, which does not exist", name, span)
			}
		}
		for _, b := range p.Blocks {
			check(name, b.Text)
			if b.Info != "yaml" {
				continue
			}
			file := filepath.Join(t.TempDir(), "block.yaml")
			if err := os.WriteFile(file, []byte(b.Text), 0o600); err != nil {
				t.Fatal(err)
			}
			if _, err := configs.Load(configs.Sources{File: file}); err != nil {
				t.Errorf("%s line %d: the settings do not load: %v", name, b.Line, err)
			}
		}
	})
}

// TestGoInPagesIsCompiledSomewhere: each block of Go stands, but for its
// indentation, in a test file, where the compiler and go vet see it.
func TestGoInPagesIsCompiledSomewhere(t *testing.T) {
	var tests []string
	files(t, "_test.go", func(_, text string) { tests = append(tests, flat(text)) })
	pages(t, func(name string, p docs.Page) {
		for _, b := range p.Blocks {
			if b.Info == "go" && !slices.ContainsFunc(tests, func(test string) bool { return strings.Contains(test, flat(b.Text)) }) {
				t.Errorf("%s line %d: this Go stands in no test file: make it an Example", name, b.Line)
			}
		}
	})
}

// flat leaves indentation and blank lines out.
func flat(text string) string {
	var out []string
	for _, line := range strings.Split(text, "\n") {
		if line = strings.TrimSpace(line); line != "" {
			out = append(out, line)
		}
	}
	return strings.Join(out, "\n")
}

// TestComposeFile: what docker-compose.yml starts is pinned, and can be reached
// from this machine only.
func TestComposeFile(t *testing.T) {
	b, err := os.ReadFile(filepath.Join(root, "docker-compose.yml"))
	if err != nil {
		t.Fatal(err)
	}
	var compose struct {
		Services map[string]struct {
			Image string   `yaml:"image"`
			Ports []string `yaml:"ports"`
		} `yaml:"services"`
	}
	if err := yaml.Unmarshal(b, &compose); err != nil {
		t.Fatal(err)
	}
	if len(compose.Services) == 0 {
		t.Error("no services")
	}
	for name, s := range compose.Services {
		if _, tag, ok := strings.Cut(s.Image, ":"); !ok || tag == "latest" {
			t.Errorf("%s: image %q, want one with a version", name, s.Image)
		}
		for _, p := range s.Ports {
			if !strings.HasPrefix(p, "127.0.0.1:") {
				t.Errorf("%s: port %q, want it on 127.0.0.1 only: there is no password", name, p)
			}
		}
	}
}
