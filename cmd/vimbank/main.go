// Command vimbank keeps the memory of agents and people: it remembers what is
// said, done and read, finds it again by meaning and by words, says why, and
// lets what nobody needs fade.
//
// It reads flags, files and the environment, wires the parts (package bank)
// and shows what the engine answers; what a memory is and how it is found is
// decided in the other rooms. Results go to standard output, as text or with
// --json as JSON; progress and the one line of an error go to standard error,
// and the exit code says what kind of error it is (see `vimbank help exit`).
package main

import (
	"context"
	"os"
	"os/signal"
	"syscall"
)

func main() { os.Exit(vimbank(nil)) }

// vimbank is main with an exit code. The first interrupt ends what is under
// way in good order, the second ends the process. At, unless nil, is the
// engine's Options.At.
func vimbank(at func(point string)) int {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	context.AfterFunc(ctx, stop)
	a := newApp(os.Stdin, os.Stdout, os.Stderr)
	a.at = at
	return a.run(ctx, os.Args[1:])
}
