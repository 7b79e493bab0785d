package live_test

import (
	"regexp"
	"testing"

	"github.com/vimbank/vimbank/internal/live"
)

func TestLine(t *testing.T) {
	for _, name := range []string{"qdrant", "elasticsearch", "postgres"} {
		if got := live.Line(t, name); !regexp.MustCompile(`^\d+(\.\d+)?$`).MatchString(got) {
			t.Errorf("%s: line %q, want a release or a release and its line", name, got)
		}
	}
}
