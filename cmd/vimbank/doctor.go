package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/vimbank/vimbank/bank"
	"github.com/vimbank/vimbank/engine"
	"github.com/vimbank/vimbank/memtypes"
)

// finding is what the doctor says of one thing.
type finding struct {
	Check  string `json:"check"`
	Status string `json:"status"` // ok, warn or fail
	Detail string `json:"detail"`
}

const okay, warning, failing = "ok", "warn", "fail"

// diagnosis collects findings, and the code of the worst.
type diagnosis struct {
	Findings []finding    `json:"findings"`
	Bank     string       `json:"bank"`
	Report   *bank.Report `json:"report,omitempty"`
	code     memtypes.Code
}

func (d *diagnosis) add(check, status, format string, args ...any) {
	d.Findings = append(d.Findings, finding{check, status, fmt.Sprintf(format, args...)})
}

// fail notes an error; the first one decides the exit code.
func (d *diagnosis) fail(check string, err error) {
	d.add(check, failing, "%s", oneLine(err))
	if d.code == "" {
		d.code = memtypes.CodeOf(err)
	}
}

func (a *app) doctorCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "doctor",
		Short: "Look whether the bank and its surroundings are sound",
		Long: `Look at the settings, the folder, the disk, the ledger (its file, its invariants, the
hash chain of its audit trail), the embedder, and whether both indexes are in step with
the ledger. Nothing is changed. The exit code is that of the first thing that failed.`,
		Example: "  vimbank doctor --bank DIR\n  vimbank doctor --json",
		GroupID: groupBank,
		Args:    args(0, 0, "no argument"),
		RunE: func(cmd *cobra.Command, _ []string) error {
			d := &diagnosis{}
			a.examine(cmd.Context(), d)
			if err := cmd.Context().Err(); err != nil {
				return memtypes.Errorf("vimbank", memtypes.Canceled, "%w", err)
			}
			return a.printDiagnosis(d)
		},
	}
}

// examine looks at one thing after the other, from the outside in; what cannot
// be looked at because an outer thing failed is left out.
func (a *app) examine(ctx context.Context, d *diagnosis) {
	d.add("version", okay, "%s", versionLine())
	l, err := a.settings()
	if err != nil {
		d.fail("settings", err)
		return
	}
	d.add("settings", okay, "profile %s, ranking %s, embedder %s", l.Config.Profile, l.Config.Recall.Profile, l.Config.Embedder.Kind)
	if len(l.Ignored) > 0 {
		d.add("settings", warning, "variables that are no settings: %s", strings.Join(l.Ignored, ", "))
	}
	o, err := a.bankOptions(ctx, opening{readOnly: true})
	if err != nil {
		d.fail("settings", err)
		return
	}
	sound := d.addFindings(bank.Findings(ctx, o))
	if !a.inFolder() {
		if d.Bank = a.bankName(); sound {
			a.examineIndexes(ctx, d, o)
		}
		return
	}
	if d.Bank, err = a.folder(); err != nil {
		d.fail("bank", err)
		return
	}
	if abs, err := filepath.Abs(d.Bank); err == nil {
		d.Bank = abs
	}
	if err := there(d.Bank); err != nil {
		d.fail("bank", err)
		return
	}
	a.examineDisk(d)
	if !bank.Exists(d.Bank) {
		d.add("bank", warning, "%s holds no bank yet: the first add or import makes it", d.Bank)
		return
	}
	if a.examineLedger(ctx, d) && sound {
		a.examineIndexes(ctx, d, o)
	}
}

func (a *app) examineDisk(d *diagnosis) {
	if free, ok := freeBytes(d.Bank); !ok {
		d.add("disk", warning, "the free space of this file system cannot be told")
	} else if free < 256<<20 {
		d.add("disk", warning, "only %s free at %s", bytesOf(free), d.Bank)
	} else {
		d.add("disk", okay, "%s free", bytesOf(free))
	}
	if st, err := os.Stat(d.Bank); err == nil && st.Mode().Perm()&0o077 != 0 {
		d.add("permissions", warning, "others on this machine may look into the bank: its folder is %v, better is drwx------", st.Mode())
	} else if err == nil {
		d.add("permissions", okay, "the folder is its owner's alone")
	}
}

// examineLedger reports whether there is a ledger to go on with.
func (a *app) examineLedger(ctx context.Context, d *diagnosis) bool {
	r, err := bank.Inspect(ctx, d.Bank)
	if err != nil {
		d.fail("ledger", err)
		return false
	}
	d.Report = &r
	s := &r.Stats
	if r.Damage != "" {
		d.fail("ledger", memtypes.Errorf("vimbank", memtypes.Internal, "%s", r.Damage))
	} else {
		d.add("ledger", okay, "file, invariants and audit trail are sound; schema %d, revision %d, %s", s.Schema, s.Head, bytesOf(s.Bytes+s.VecBytes))
	}
	if r.ReadOnly {
		d.add("ledger", warning, "it can be read, but not written, by this user")
	}
	for _, c := range s.Counts {
		d.add("memories", okay, "%s", c)
	}
	if len(s.Counts) == 0 {
		d.add("memories", okay, "none yet")
	}
	return true
}

func (a *app) examineIndexes(ctx context.Context, d *diagnosis, o *bank.Options) {
	start := time.Now()
	e, err := bank.Open(ctx, d.Bank, o)
	if err != nil {
		d.fail("indexes", err)
		return
	}
	took := time.Since(start)
	defer func() {
		if err := e.Close(context.WithoutCancel(ctx)); err != nil {
			d.fail("indexes", err)
		}
	}()
	if emb := e.Stats().Embedder; emb == "" {
		d.add("embedder", okay, "none: memories are found by words only")
	} else {
		d.add("embedder", okay, "%s", emb)
	}
	drifts, err := e.Reconcile(ctx, false)
	if err != nil {
		d.fail("indexes", err)
		return
	}
	d.addLag(ctx, e)
	d.addDrifts(drifts, took)
	a.examineUpkeep(ctx, d, e)
}

// examineUpkeep names the background jobs that failed when they last ran.
func (a *app) examineUpkeep(ctx context.Context, d *diagnosis, e *engine.Engine) {
	k := &keeper{app: a, ctx: ctx}
	s, err := k.scheduler(e)
	if err != nil {
		d.add("upkeep", okay, "no job is set")
		return
	}
	jobs, err := s.Status(ctx)
	if err != nil {
		d.fail("upkeep", err)
		return
	}
	ran, bad := 0, 0
	for i := range jobs {
		last := &jobs[i].Last
		if !last.Started.IsZero() {
			ran++
		}
		if last.Error != "" {
			bad++
			d.add("upkeep", warning, "%s %s", jobName(jobs[i].Job), k.outcome(last))
		}
	}
	switch {
	case ran == 0:
		d.add("upkeep", okay, "no job ran so far: `vimbank upkeep` forgets what has faded and keeps the indexes fresh")
	case bad == 0:
		d.add("upkeep", okay, "all went well that ran, %d of %s", ran, plural(len(jobs), "job", "jobs"))
	}
}

// addFindings adds what was found in services; it reports whether each can be used.
func (d *diagnosis) addFindings(found []memtypes.Finding) (sound bool) {
	sound = true
	for _, f := range found {
		if f.OK {
			d.add(f.Part, okay, "%s: %s", f.Check, f.Found)
			continue
		}
		sound = sound && f.Check != "reachable"
		text := fmt.Sprintf("%s: found %s", f.Check, f.Found)
		if f.Wanted != "" {
			text += ", wanted " + f.Wanted
		}
		if f.Mend != "" {
			text += "; " + f.Mend
		}
		d.fail(f.Part, memtypes.Errorf("vimbank", memtypes.Unavailable, "%s", text))
	}
	return sound
}

// addLag tells how far the indexes of services have come.
func (d *diagnosis) addLag(ctx context.Context, e *engine.Engine) {
	h, err := e.Health(ctx)
	if err != nil {
		d.fail("lag", err)
		return
	}
	for i := range h.Indexes {
		x := &h.Indexes[i]
		switch {
		case x.Dead > 0:
			d.add("lag", warning, "%s/%s: %s; see vimbank dead", x.Index, x.Generation, plural(x.Dead, "dead letter", "dead letters"))
		case x.Owed > 0:
			d.add("lag", okay, "%s/%s: %s yet to take, at revision %d of %d", x.Index, x.Generation, plural(x.Owed, "memory", "memories"), x.Mark, h.Head)
		default:
			d.add("lag", okay, "%s/%s: none", x.Index, x.Generation)
		}
	}
}

func (d *diagnosis) addDrifts(drifts []engine.Drift, took time.Duration) {
	for i := range drifts {
		x := &drifts[i]
		if x.OK() {
			d.add("indexes", okay, "%s: %s, in step with the ledger", x.Index, plural(x.Held, "memory", "memories"))
			continue
		}
		d.fail("indexes", memtypes.Errorf("vimbank", memtypes.Conflict, "%s: %d missing, %d stale, %d ghosts; run vimbank reconcile --repair",
			x.Index, len(x.Missing), len(x.Stale), len(x.Ghosts)))
	}
	d.add("indexes", okay, "open in %v", took.Round(time.Millisecond))
}

func (a *app) printDiagnosis(d *diagnosis) error {
	failed := 0
	for _, f := range d.Findings {
		if f.Status == failing {
			failed++
		}
	}
	if a.flags.json {
		if err := a.printJSON(d); err != nil {
			return err
		}
	} else {
		a.printf("bank %s\n", d.Bank)
		for _, f := range d.Findings {
			mark := map[string]string{okay: a.show.good("ok  "), warning: a.show.warn("warn"), failing: a.show.bad("FAIL")}[f.Status]
			a.printf("  %s  %s %s\n", mark, pad(f.Check, 12), f.Detail)
		}
	}
	if failed > 0 {
		return memtypes.Errorf("vimbank", d.code, "%s of %d failed", plural(failed, "check", "checks"), len(d.Findings))
	}
	return nil
}

// bytesOf writes a number of bytes for people.
func bytesOf(n int64) string {
	units := []string{"bytes", "KiB", "MiB", "GiB", "TiB"}
	v, i := float64(n), 0
	for v >= 1024 && i+1 < len(units) {
		v, i = v/1024, i+1
	}
	if i == 0 {
		return fmt.Sprintf("%d bytes", n)
	}
	return fmt.Sprintf("%.1f %s", v, units[i])
}
