package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"time"

	"github.com/vimbank/vimbank/bank"
	"github.com/vimbank/vimbank/configs"
	"github.com/vimbank/vimbank/engine"
	"github.com/vimbank/vimbank/fusion"
	"github.com/vimbank/vimbank/llm/openai"
	"github.com/vimbank/vimbank/memtypes"
)

// defaultBank is where a bank is that nobody names: in the folder one stands
// in, as a version control system keeps its own, so that projects do not share
// memories by accident.
const defaultBank = ".vimbank"

// settings reads file, environment and flags, once.
func (a *app) settings() (*configs.Loaded, error) {
	if a.conf != nil {
		return a.conf, nil
	}
	flags := map[string]string{}
	for key, v := range map[string]string{
		"bank": a.flags.bank, "scope.tenant": a.flags.tenant, "scope.user": a.flags.user,
		"scope.agent": a.flags.agent, "scope.run": a.flags.run,
	} {
		if v != "" {
			flags[key] = v
		}
	}
	l, err := configs.Load(configs.Sources{File: cmp.Or(a.flags.config, os.Getenv("VIMBANK_CONFIG")), Flags: flags})
	if err != nil {
		return nil, err
	}
	if a.flags.verbose {
		for _, name := range l.Ignored {
			fmt.Fprintf(a.err, "%s is no setting and was ignored\n", name)
		}
	}
	a.conf = l
	return l, nil
}

// scope is whose memories a command works on; Invalid if nobody's.
func (a *app) scope() (memtypes.Scope, error) {
	l, err := a.settings()
	if err != nil {
		return memtypes.Scope{}, err
	}
	s := l.Config.Scope
	if s.User == "" && s.Agent == "" && s.Run == "" {
		return memtypes.Scope{}, wrong("scope", memtypes.Remark("none of user, agent, run"),
			"whose memory it is: --user, --agent or --run (or VIMBANK_SCOPE_USER, or scope.user in the settings)")
	}
	return memtypes.NewScope(s.Tenant, s.User, s.Agent, s.Run)
}

// scopeOrAll is the scope that the flags or settings give; the zero Scope, the
// whole bank, where they give none.
func (a *app) scopeOrAll() (memtypes.Scope, error) {
	l, err := a.settings()
	if err != nil {
		return memtypes.Scope{}, err
	}
	s := l.Config.Scope
	if s.User == "" && s.Agent == "" && s.Run == "" {
		if a.flags.tenant != "" {
			return memtypes.Scope{}, wrong("scope", memtypes.Remark("a tenant alone"), "also --user, --agent or --run; or none of them for the whole bank")
		}
		return memtypes.Scope{}, nil
	}
	return memtypes.NewScope(s.Tenant, s.User, s.Agent, s.Run)
}

// folder is the bank's.
func (a *app) folder() (string, error) {
	l, err := a.settings()
	if err != nil {
		return "", err
	}
	return cmp.Or(l.Config.Bank, defaultBank), nil
}

// inFolder reports whether the bank's ledger is in its folder; settings must
// have been read.
func (a *app) inFolder() bool { return a.conf.Config.Ledger.Kind == "sqlite" }

// bankName is what to call the bank: its folder, or the schema and server of
// its ledger. Settings must have been read.
func (a *app) bankName() string {
	c := &a.conf.Config
	if a.inFolder() {
		return cmp.Or(c.Bank, defaultBank)
	}
	name := "schema " + c.Ledger.Schema
	if u, err := c.Ledger.Address(); err == nil {
		if at, err := url.Parse(u.Reveal()); err == nil {
			name += " at " + at.Host + at.Path
		}
	}
	return name
}

// opening says how a command wants its bank.
type opening struct {
	create   bool             // make the bank if there is none
	readOnly bool             // write nothing, not even that a memory was recalled
	adopt    bool             // to rebuild it for another embedder
	clock    func() time.Time // nil: time.Now
}

// withBank opens the bank, does the work, and closes it whatever comes of it.
func (a *app) withBank(ctx context.Context, how opening, work func(*engine.Engine) error) (err error) {
	dir, err := a.folder()
	if err != nil {
		return err
	}
	if !how.create && a.inFolder() {
		if err := there(dir); err != nil {
			return err
		}
	}
	o, err := a.bankOptions(ctx, how)
	if err != nil {
		return err
	}
	start := time.Now()
	e, err := bank.Open(ctx, dir, o)
	if err != nil {
		return err
	}
	if a.flags.verbose {
		fmt.Fprintf(a.err, "bank %s opened in %v, profile %s\n", a.bankName(), time.Since(start).Round(time.Millisecond), o.Engine.Profile)
	}
	defer func() { err = errors.Join(err, e.Close(context.WithoutCancel(ctx))) }()
	return work(e)
}

// there refuses a folder that does not exist: a command that only reads must
// not answer "nothing found" to a misspelt name. An empty folder is an empty bank.
func there(dir string) error {
	st, err := os.Stat(dir)
	if err == nil && st.IsDir() {
		return nil
	}
	if err == nil || errors.Is(err, fs.ErrNotExist) {
		return memtypes.Errorf("vimbank", memtypes.NotFound, "no bank in %s: `vimbank add` or `vimbank import` makes one; --bank or VIMBANK_BANK names another folder", dir)
	}
	return memtypes.Errorf("vimbank", memtypes.Unavailable, "the bank %s: %w", dir, err)
}

// bankOptions turns the settings into the parts of a bank.
func (a *app) bankOptions(ctx context.Context, how opening) (*bank.Options, error) {
	l, err := a.settings()
	if err != nil {
		return nil, err
	}
	c := &l.Config
	o := &bank.Options{ReadOnly: how.readOnly, Engine: engine.Options{
		Profile: fusion.Profile(c.Recall.Profile), Fusion: c.Paper.Options(), Forgetting: c.Forgetting.Options(),
		Admit: c.Admit.Options(), Actor: "cli", Clock: how.clock, Adopt: how.adopt, At: a.at,
	}}
	o.Dense.BinaryAbove = c.Index.BinaryAbove
	if o.Services, err = services(c); err != nil {
		return nil, err
	}
	switch c.Embedder.Kind {
	case "none":
		o.WordsOnly = true
	case "openai":
		eo, err := c.Embedder.Options()
		if err != nil {
			return nil, err
		}
		if o.Embedder, err = openai.OpenEmbedder(ctx, c.Embedder.BaseURL, c.Embedder.Model, &eo); err != nil {
			return nil, err
		}
	}
	return o, nil
}
