package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"os"
	"os/exec"
	"syscall"
	"testing"

	"github.com/vimbank/vimbank/upkeep"
)

// command is the real command as a process of its own, with bank dir. It ends
// with the test.
func command(t testing.TB, dir string, args ...string) *exec.Cmd {
	ctx, cancel := context.WithCancel(context.Background())
	t.Cleanup(cancel)
	return commandContext(ctx, t, dir, args...)
}

// commandContext is command, killed when ctx ends.
func commandContext(ctx context.Context, t testing.TB, dir string, args ...string) *exec.Cmd {
	t.Helper()
	cmd := exec.CommandContext(ctx, "vimbank", args...) // TestMain puts it on the path
	cmd.Env = append(os.Environ(), "NO_COLOR=1", "VIMBANK_CONFIG=", "VIMBANK_BANK="+dir)
	return cmd
}

// run runs the command, which must end well, and returns its standard output.
func run(t testing.TB, dir string, args ...string) string {
	t.Helper()
	cmd := command(t, dir, args...)
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("vimbank %q: %v, standard error:\n%s", args, err, stderr.String())
	}
	return string(out)
}

// TestUpkeepUntilInterrupted lets a process keep a bank by the second, ends it
// as a service is ended, and looks whether it ended well.
func TestUpkeepUntilInterrupted(t *testing.T) {
	for _, signal := range []os.Signal{os.Interrupt, syscall.SIGTERM} {
		t.Run(signal.String(), func(t *testing.T) {
			dir := t.TempDir()
			run(t, dir, "add", "--user", "ann", "a red apple")
			cmd := command(t, dir, "upkeep", "--json")
			cmd.Env = append(cmd.Env, "VIMBANK_UPKEEP_DECAY=@every 1s")
			var stderr bytes.Buffer
			cmd.Stderr = &stderr
			stdout, err := cmd.StdoutPipe()
			if err != nil {
				t.Fatal(err)
			}
			if err := cmd.Start(); err != nil {
				t.Fatal(err)
			}
			ran := map[string]int{}
			lines := bufio.NewScanner(stdout)
			for (ran["decay"] < 2 || len(ran) < 4) && lines.Scan() { // all at the start, one at its time
				var r upkeep.Report
				if err := json.Unmarshal(lines.Bytes(), &r); err != nil || r.Error != "" || r.Ended.Before(r.Started) {
					t.Errorf("line %s: %v, want the report of a run that went well", lines.Bytes(), err)
				}
				ran[r.Job]++
			}
			if err := cmd.Process.Signal(signal); err != nil {
				t.Fatal(err)
			}
			for lines.Scan() { // what still ran when it was told to end
			}
			if err := cmd.Wait(); err != nil {
				t.Errorf("upkeep: %v, want exit code 0; standard error:\n%s", err, stderr.String())
			}
			for _, job := range []string{"decay", "purge", "reconcile", "snapshot"} {
				if ran[job] == 0 {
					t.Errorf("%s did not run at the start", job)
				}
			}
		})
	}
}
