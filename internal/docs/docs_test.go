package docs_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/vimbank/vimbank/internal/docs"
)

const page = "# Top: of *it*\n" +
	"See [design](docs/design.md#rooms) and `recall.k`, not `[a](b)`.\n" +
	"## 二 Two, really?\n" +
	"#hash is no heading\n" +
	"```sh\n" +
	"# vimbank nothing\n" +
	"$ vimbank recall --user ann \"what is it?\" | jq . # a comment\n" +
	"VIMBANK_BANK=x vimbank list \\\n" +
	"  --json\n" +
	"go run ./cmd/vimbank tour && bin/vimbank version; echo vimbank\n" +
	"vimbank export --all 2>err.txt > out.txt\n" +
	"vimbankd start\n" +
	"```\n" +
	"````md\n" +
	"```sh\n" +
	"vimbank inner\n" +
	"```\n" +
	"````\n" +
	"```yaml\n" +
	"recall:\n" +
	"  k: 3\n" +
	"```\n"

func TestParse(t *testing.T) {
	p := docs.Parse(page)
	if want := []string{"docs/design.md#rooms"}; !cmp.Equal(p.Links, want) {
		t.Errorf("links %q, want %q", p.Links, want)
	}
	if want := []string{"recall.k", "[a](b)"}; !cmp.Equal(p.Spans, want) {
		t.Errorf("spans %q, want %q", p.Spans, want)
	}
	if want := []string{"top-of-it", "二-two-really"}; !cmp.Equal(p.Headings, want) {
		t.Errorf("headings %q, want %q", p.Headings, want)
	}
	var infos []string
	for _, b := range p.Blocks {
		infos = append(infos, b.Info)
	}
	if want := []string{"sh", "md", "yaml"}; !cmp.Equal(infos, want) {
		t.Errorf("blocks %q, want %q", infos, want)
	}
	if got, want := p.Blocks[2], (docs.Block{Info: "yaml", Line: 19, Text: "recall:\n  k: 3\n"}); got != want {
		t.Errorf("got %+v, want %+v", got, want)
	}
}

func TestCommands(t *testing.T) {
	want := [][]string{
		{"recall", "--user", "ann", "what is it?"},
		{"list", "--json"},
		{"tour"},
		{"version"},
		{"export", "--all"},
	}
	if got := docs.Parse(page).Commands("vimbank"); !cmp.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestWords(t *testing.T) {
	for in, want := range map[string][]string{
		"":                        nil,
		"  a  b ":                 {"a", "b"},
		`a "b c" 'd "e"'`:         {"a", "b c", `d "e"`},
		`--x="two words" ""`:      {"--x=two words", ""},
		`an "unfinished sentence`: {"an", "unfinished sentence"},
	} {
		if got := docs.Words(in); !cmp.Equal(got, want) {
			t.Errorf("Words(%q) = %q, want %q", in, got, want)
		}
	}
}
