package main

import (
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"strings"
	"testing"

	"github.com/vimbank/vimbank/internal/live"
)

// onServices has the commands of this test use the running servers, under a
// name of their own, where the profile is cluster.
func onServices(t *testing.T) {
	t.Helper()
	name := fmt.Sprintf("cmd%x", rand.Uint64())
	for key, v := range map[string]string{
		"LEDGER_URL": live.Postgres(t), "LEDGER_SCHEMA": name, "DENSE_ADDR": live.Qdrant(t), "DENSE_PREFIX": name,
		"SPARSE_URLS": strings.Join(live.Elasticsearch(t), ","), "SPARSE_PREFIX": name, "SPARSE_REPLICAS": "0", "SPARSE_REFRESH": "immediate",
	} {
		t.Setenv("VIMBANK_"+key, v)
	}
}

// A bank goes from its folder to the services and back by the command, and
// every command works there.
func TestMigrateCommand(t *testing.T) {
	onServices(t)
	home := filepath.Join(t.TempDir(), "home")
	id := idPattern.FindString(run(t, home, "add", "--user", "ann", "The spare key hangs behind the clock."))
	run(t, home, "update", "--user", "ann", id, "--text", "The spare key hangs behind the barometer.")
	t.Setenv("VIMBANK_PROFILE", "cluster")
	out := run(t, home, "migrate", "--from", "embedded", "--to", "cluster")
	if !strings.Contains(out, "moved and verified") || !strings.Contains(out, "2 entries, 1 active") {
		t.Errorf("migrate said %q", out)
	}
	onlyJSON(t, []string{"migrate"}, run(t, home, "migrate", "--from", "embedded", "--to", "cluster", "--json"))
	if out := run(t, home, "recall", "--user", "ann", "where is the key?"); !strings.Contains(out, "barometer") {
		t.Errorf("recall over the services said %q", out)
	}
	if out := run(t, home, "history", "--user", "ann", id); !strings.Contains(out, "clock") {
		t.Errorf("history over the services said %q", out)
	}
	run(t, home, "add", "--user", "ann", "The ladder is at the neighbour's.")
	for _, part := range []string{"ledger", "dense", "sparse", "in step"} {
		if out := run(t, home, "doctor"); !strings.Contains(out, part) {
			t.Errorf("doctor said %q, want something of %s", out, part)
		}
	}
	run(t, home, "rebuild")
	run(t, home, "reconcile")
	back := filepath.Join(t.TempDir(), "back")
	run(t, back, "migrate", "--from", "cluster", "--to", "embedded")
	t.Setenv("VIMBANK_PROFILE", "embedded")
	if out := run(t, back, "recall", "--user", "ann", "who has the ladder?"); !strings.Contains(out, "neighbour") {
		t.Errorf("recall in the folder said %q", out)
	}
}

func TestMigrateRefuses(t *testing.T) {
	for _, tt := range []struct {
		args []string
		want string
	}{
		{[]string{"migrate"}, "from"},
		{[]string{"migrate", "--from", "embedded", "--to", "elsewhere"}, "to"},
		{[]string{"migrate", "--from", "cluster", "--to", "cluster"}, "the other place"},
		{[]string{"migrate", "--from", "embedded", "--to", "cluster"}, "settings that name services"},
		{[]string{"dead", "--retry"}, "neither or both"},
		{[]string{"dead", "--index", "words"}, "dense or sparse"},
	} {
		var out, errs strings.Builder
		code := newApp(strings.NewReader(""), &out, &errs).run(t.Context(), append(tt.args, "--bank", t.TempDir()))
		if code != 2 || !strings.Contains(errs.String(), tt.want) {
			t.Errorf("%q: exit %d, %q, want 2 and %q", tt.args, code, errs.String(), tt.want)
		}
	}
}
