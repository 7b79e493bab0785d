package main

import (
	"context"
	"strings"
	"testing"

	"github.com/vimbank/vimbank/memtypes"
	"github.com/vimbank/vimbank/server/admin"
)

// serveHealth serves findings at the address it returns until the test ends.
func serveHealth(t *testing.T, findings ...memtypes.Finding) string {
	t.Helper()
	srv, err := admin.Listen(t.Context(), "127.0.0.1:0", admin.Sources{Ready: func(context.Context) ([]memtypes.Finding, error) {
		return findings, nil
	}}, nil)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- srv.Serve(ctx) }()
	t.Cleanup(func() {
		cancel()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
	return srv.Addr()
}

func TestHealth(t *testing.T) {
	away := func(part string) memtypes.Finding {
		return memtypes.Finding{Part: part, Check: "reachable", Found: "no answer", Wanted: "one", Mend: "look at its log"}
	}
	for _, tt := range []struct {
		name     string
		findings []memtypes.Finding
		code     int
		want     []string
	}{
		{"all is well", []memtypes.Finding{{Part: "ledger", Check: "reachable", OK: true}}, 0, []string{"ready\n"}},
		{"an index is away", []memtypes.Finding{away("dense")}, 0, []string{"degraded\n", "dense reachable: found no answer, wanted one; look at its log"}},
		{"the ledger is away", []memtypes.Finding{away("ledger")}, memtypes.Unavailable.ExitCode(), []string{"unready\n", "ledger reachable"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var out, errs strings.Builder
			addr := serveHealth(t, tt.findings...)
			code := newApp(strings.NewReader(""), &out, &errs).run(t.Context(), []string{"health", addr})
			if code != tt.code {
				t.Errorf("exit code %d, want %d: %s", code, tt.code, errs.String())
			}
			for _, want := range tt.want {
				if !strings.Contains(out.String(), want) {
					t.Errorf("printed %q, want %q in it", out.String(), want)
				}
			}
			t.Setenv("VIMBANK_ADMIN_ADDR", addr)
			if again := newApp(strings.NewReader(""), &out, &errs).run(t.Context(), []string{"health"}); again != tt.code {
				t.Errorf("by the setting: exit code %d, want %d", again, tt.code)
			}
		})
	}
	var out, errs strings.Builder
	if code := newApp(strings.NewReader(""), &out, &errs).run(t.Context(), []string{"health"}); code != 2 || !strings.Contains(errs.String(), "admin.addr") {
		t.Errorf("without an address: exit code %d, %q, want 2 and a word about admin.addr", code, errs.String())
	}
}
