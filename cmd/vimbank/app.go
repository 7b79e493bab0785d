package main

import (
	"bufio"
	"context"
	"io"

	"github.com/spf13/cobra"

	"github.com/vimbank/vimbank/configs"
)

// app is one call of the command: its streams and its global flags.
type app struct {
	in    io.Reader
	out   *bufio.Writer // flushed at the end and after each durable batch
	err   io.Writer
	flags globals
	show  *show // how text is shown; made once the flags are read
	conf  *configs.Loaded

	at     func(point string) // for tests of crashes: see engine.Options; mostly nil
	parsed bool               // the flags and arguments were good: a later error is not about them
}

// globals are the flags that every command has.
type globals struct {
	bank, config             string
	tenant, user, agent, run string
	json, noColor, verbose   bool
}

func newApp(in io.Reader, out, err io.Writer) *app {
	return &app{in: in, out: bufio.NewWriter(out), err: err, show: newShow(out, true)}
}

// run executes the command line and returns the exit code.
func (a *app) run(ctx context.Context, args []string) int {
	root := a.root()
	root.SetArgs(args)
	root.SetIn(a.in)
	root.SetOut(a.out)
	root.SetErr(a.err)
	cmd, err := root.ExecuteContextC(ctx)
	if ferr := a.out.Flush(); err == nil && ferr != nil {
		err = ferr
	}
	if err == nil {
		return 0
	}
	return a.fail(cmd, err)
}

const groupMemory, groupForget, groupBank, groupMore = "memory", "forget", "bank", "more"

func (a *app) root() *cobra.Command {
	root := &cobra.Command{
		Use:   "vimbank",
		Short: "A memory for agents: it remembers, recalls with reasons, and forgets",
		Long: `VIMBank keeps what is said (dialogue), known (knowledge) and done (task) in a bank:
one folder, no service, no key. Memories are found by words and by meaning at once,
every hit says why it was found, and what nobody recalls fades along Ebbinghaus' curve.

A bank is a folder: --bank DIR, VIMBANK_BANK, or .vimbank here.
A memory belongs to a scope: --user, --agent, --run (at least one), within a --tenant.`,
		Example: `  vimbank tour                                      see it all in a few seconds
  vimbank add --user ann "I am allergic to hazelnuts"
  vimbank import --user ann chat.txt notes/
  vimbank recall --user ann "what must I not eat?" --explain`,
		SilenceErrors: true, SilenceUsage: true,
		PersistentPreRun: func(*cobra.Command, []string) {
			a.parsed, a.show = true, newShow(a.show.out, a.flags.noColor || a.flags.json)
		},
	}
	root.AddGroup(&cobra.Group{ID: groupMemory, Title: "Remember and recall:"}, &cobra.Group{ID: groupForget, Title: "Forget:"},
		&cobra.Group{ID: groupBank, Title: "Look after the bank:"}, &cobra.Group{ID: groupMore, Title: "More:"})
	root.SetHelpCommand(helpCommand(root))
	root.SetFlagErrorFunc(flagFault)
	root.SetCompletionCommandGroupID(groupMore)
	a.globalFlags(root)
	root.AddCommand(
		a.tourCommand(), a.addCommand(), a.importCommand(), a.recallCommand(), a.listCommand(), a.getCommand(), a.historyCommand(),
		a.updateCommand(), a.forgetCommand(), a.restoreCommand(), a.pinCommand(), a.decayCommand(), a.curveCommand(),
		a.upkeepCommand(), a.rebuildCommand(), a.reconcileCommand(), a.exportCommand(), a.deadCommand(), a.migrateCommand(), a.doctorCommand(), a.healthCommand(),
		a.evalCommand(), a.configCommand(), a.versionCommand(), exitTopic(),
	)
	complete(root)
	return root
}

func (a *app) globalFlags(root *cobra.Command) {
	f := root.PersistentFlags()
	f.StringVar(&a.flags.bank, "bank", "", "the bank's `folder` (VIMBANK_BANK; default .vimbank here)")
	f.StringVar(&a.flags.config, "config", "", "a YAML `file` of settings (see vimbank config print)")
	f.StringVar(&a.flags.tenant, "tenant", "", "whose bank within the folder (default \"default\")")
	f.StringVar(&a.flags.user, "user", "", "the person the memory is of")
	f.StringVar(&a.flags.agent, "agent", "", "the agent the memory is of")
	f.StringVar(&a.flags.run, "run", "", "the run or thread the memory is of")
	f.BoolVar(&a.flags.json, "json", false, "print JSON, with field names that stay")
	f.BoolVar(&a.flags.noColor, "no-color", false, "no colours (also NO_COLOR)")
	f.BoolVarP(&a.flags.verbose, "verbose", "v", false, "say more on standard error")
}
