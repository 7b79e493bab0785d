package main

import (
	"errors"
	"fmt"
	"regexp"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/vimbank/vimbank/memtypes"
)

// fail prints the one line of an error and returns its exit code.
func (a *app) fail(cmd *cobra.Command, err error) int {
	code := memtypes.CodeOf(err)
	if name, ok := strings.CutPrefix(err.Error(), "unknown command "); ok && !a.parsed {
		name, _ = strconv.QuotedPrefix(name)
		name, _ = strconv.Unquote(name)
		err, code = unknown(cmd.Root(), name), memtypes.Invalid
	}
	if _, ok := errors.AsType[*memtypes.Error](err); !a.parsed && !ok {
		err = &memtypes.Error{Op: "vimbank", Code: memtypes.Invalid, Err: err}
		code = memtypes.Invalid
	}
	name := strings.TrimPrefix(cmd.CommandPath(), "vimbank")
	if name = strings.TrimSpace(name); name != "" {
		name += ": "
	}
	fmt.Fprintf(a.err, "vimbank: %s%s\n", name, oneLine(err))
	if a.flags.verbose {
		fmt.Fprintf(a.err, "  %s\n", strings.ReplaceAll(err.Error(), "\n", "\n  "))
	}
	return code.ExitCode()
}

// oneLine words an error for a person: the field, what was found and what is
// wanted; for other errors the code and the cause, without the names of packages.
func oneLine(err error) string {
	var b strings.Builder
	if code := memtypes.CodeOf(err); code != memtypes.Invalid {
		b.WriteString(strings.ReplaceAll(string(code), "_", " ") + ": ")
	}
	b.WriteString(plain(err))
	if e, ok := errors.AsType[*memtypes.Error](err); ok && e.ID != "" {
		fmt.Fprintf(&b, " (id %s)", e.ID)
	}
	return strings.Join(strings.Split(strings.TrimSpace(b.String()), "\n"), "; ")
}

// plain is the text of err without the op and code of the Errors in its chain.
func plain(err error) string {
	text := err.Error()
	for {
		e, ok := errors.AsType[*memtypes.Error](err)
		if !ok {
			return text
		}
		text = strings.Replace(text, e.Error(), e.Err.Error(), 1)
		err = e.Err
	}
}

// wrong is an Invalid error for one of the command's own inputs.
func wrong(field string, found any, wanted string) error {
	return memtypes.BadField("vimbank", field, found, wanted)
}

// args checks the number of arguments and names what they are.
func args(least, most int, what string) cobra.PositionalArgs {
	return func(_ *cobra.Command, found []string) error {
		if n := len(found); n >= least && (most < 0 || n <= most) {
			return nil
		}
		if len(found) == 0 {
			return wrong("argument", memtypes.Remark("nothing"), what)
		}
		if len(found) < least {
			return wrong("argument", memtypes.Remark(fmt.Sprintf("%d of them", len(found))), what)
		}
		if most > 0 {
			what += ", and nothing more"
		}
		return wrong("argument", found[most], what)
	}
}

// flagFault words what the flag parser says in the way of all other errors.
func flagFault(cmd *cobra.Command, err error) error {
	m := regexp.MustCompile(`^invalid argument "(.*)" for "(?:-\w, )?--([\w-]+)" flag: `).FindStringSubmatch(err.Error())
	if m == nil {
		return err
	}
	wanted := map[string]string{"bool": "true or false", "uint": "a whole number", "int": "a whole number", "int8": "a whole number"}
	f := cmd.Flags().Lookup(m[2])
	if f == nil || wanted[f.Value.Type()] == "" {
		return err
	}
	return wrong(m[2], m[1], wanted[f.Value.Type()])
}

// unknown is the error for a command that does not exist, with those that it
// may have been meant for.
func unknown(root *cobra.Command, name string) error {
	wanted := "one of those that `vimbank help` lists"
	if near := root.SuggestionsFor(name); len(near) > 0 {
		wanted += ", perhaps " + strings.Join(near, " or ")
	}
	return wrong("command", name, wanted)
}

// helpCommand shows the help of a command or a topic.
func helpCommand(root *cobra.Command) *cobra.Command {
	return &cobra.Command{
		Use:     "help [COMMAND]",
		Short:   "Help about any command",
		GroupID: groupMore,
		RunE: func(_ *cobra.Command, args []string) error {
			cmd, rest, err := root.Find(args)
			if err != nil || len(rest) > 0 {
				return unknown(root, strings.Join(args, " "))
			}
			cmd.InitDefaultHelpFlag()
			return cmd.Help()
		},
	}
}

func exitTopic() *cobra.Command {
	return &cobra.Command{
		Use:   "exit",
		Short: "Exit codes: what kind of error it was",
		Long: `An error is one line on standard error, "vimbank: <command>: ...", and an exit code:

    0  it is done
    1  a bug, or a broken disk
    2  the input is wrong: the line names the field, what was found and what is wanted
    3  no such memory in this scope, or no such run
    4  a conflict: the memory has moved on, its key names another text, another process
       has the lease, or the indexes are not in step
    5  refused: admission, or a breaker of forgetting, said no
    6  another program's folder, a newer version's bank, or another embedder's vectors
    7  the bank cannot be written, or the disk is full
    8  a backend does not answer now; trying again may help
  130  interrupted`,
	}
}
