package live

import (
	"context"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// Server is one of a test's own.
type Server struct {
	name, script, port string
	// Addr is what the server's variable would hold.
	Addr string
	kept string // where Keep put a copy of its data
}

// patience is how long a server may take to start: fetching it may be part of it.
const patience = 6 * time.Minute

// Own starts a fresh server of a test's own, by the script NAME.sh in
// ../shared/servers: "qdrant", "elasticsearch" or "postgres". It is stopped with
// the test.
func Own(t testing.TB, name string) *Server {
	t.Helper()
	dir := scripts()
	if dir == "" {
		without(t, "no ../shared/servers, which start a server")
	}
	s := &Server{name: name, script: filepath.Join(dir, name+".sh"), port: freePort(t)}
	t.Cleanup(func() { _, _ = s.run("stop") })
	out, err := s.run("start")
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	line := strings.TrimSpace(out)
	if _, v, ok := strings.Cut(line[strings.LastIndex(line, "export "):], "="); ok {
		s.Addr = strings.Trim(v, `"'`)
	}
	return s
}

// scripts is the folder beside the project's that has them, or empty.
func scripts() string {
	dir, err := os.Getwd()
	for ; err == nil && dir != filepath.Dir(dir); dir = filepath.Dir(dir) {
		if _, err := os.Stat(filepath.Join(dir, "go.mod")); err != nil {
			continue
		}
		// Without links: the scripts compare paths.
		found, err := filepath.EvalSymlinks(filepath.Join(dir, "..", "shared", "servers"))
		if err != nil {
			continue
		}
		if st, err := os.Stat(found); err == nil && st.IsDir() {
			return found
		}
	}
	return ""
}

// Kill ends the server as a crash would; what it had stays.
func (s *Server) Kill(t testing.TB) { t.Helper(); s.must(t, "kill") }

// Resume starts it again on what it had.
func (s *Server) Resume(t testing.TB) { t.Helper(); s.must(t, "resume") }

// Keep copies what a killed server has on its disk, for Rewind.
func (s *Server) Keep(t testing.TB) {
	t.Helper()
	s.kept = filepath.Join(t.TempDir(), "kept")
	s.copy(t, s.data(t), s.kept)
}

// Rewind gives a killed server what Keep copied, as a backup that is restored does.
func (s *Server) Rewind(t testing.TB) {
	t.Helper()
	data := s.data(t)
	if err := os.RemoveAll(data); err != nil {
		t.Fatal(err)
	}
	s.copy(t, s.kept, data)
}

// copy keeps owners and times: a server looks at them.
func (s *Server) copy(t testing.TB, from, to string) {
	t.Helper()
	if out, err := exec.CommandContext(t.Context(), "cp", "-a", from, to).CombinedOutput(); err != nil {
		t.Fatalf("%s: %v: %s", s.name, err, out)
	}
}

// data is the folder in which the script keeps the server's data: it names the
// variables and what they are without.
func (s *Server) data(t testing.TB) string {
	t.Helper()
	home, err := os.UserHomeDir()
	if err != nil {
		t.Fatal(err)
	}
	const common = "/var/cache/vimbank-test"
	for _, root := range []string{os.Getenv("VIMBANK_TEST_CACHE"), filepath.Join(home, ".cache", "vimbank-test"), common} {
		for _, dir := range []string{filepath.Join(root, s.name, "run", s.port, "data"), filepath.Join(root, s.name, s.port, "data")} {
			if st, err := os.Stat(dir); err == nil && st.IsDir() {
				return dir
			}
		}
	}
	if dir := filepath.Join(os.Getenv("VIMBANK_TEST_PGDIR"), s.port, "data"); s.name == "postgres" {
		return dir
	}
	t.Fatalf("%s: no folder of its data is where its script says", s.name)
	return ""
}

func (s *Server) must(t testing.TB, command string) {
	t.Helper()
	if _, err := s.run(command); err != nil {
		t.Fatalf("%s %s: %v", s.name, command, err)
	}
}

func (s *Server) run(command string) (string, error) {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	c := exec.CommandContext(ctx, "bash", s.script, command, s.port)
	c.Env = append(os.Environ(), "VIMBANK_ES_FLAVOR=core")
	var says strings.Builder
	c.Stderr = &says
	out, err := c.Output()
	if err != nil {
		return "", fmt.Errorf("%w: %s", err, says.String())
	}
	return string(out), nil
}

// freePort is one at which nobody listens, nor at the next, which some servers
// take as well.
func freePort(t testing.TB) string {
	t.Helper()
	for range 50 {
		a, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		port := a.Addr().(*net.TCPAddr).Port
		b, err := net.Listen("tcp", fmt.Sprintf("127.0.0.1:%d", port+1))
		a.Close()
		if err == nil {
			b.Close()
			return fmt.Sprint(port)
		}
	}
	t.Fatal("no two free ports beside each other")
	return ""
}
