// Command stencildb is a database engine that runs on the graphics pipeline.
// Run stencildb --help for its subcommands.
package main

import (
	"context"
	"os"
	"os/signal"
	"runtime/debug"
	"syscall"

	"github.com/stencildb/stencildb/cmd"
	"github.com/stencildb/stencildb/glctx"
)

func main() {
	// A reader that went away (stencildb query ... | head) is an error of the
	// write, handled like any other, instead of the end of the process.
	signal.Ignore(syscall.SIGPIPE)
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	// The first Ctrl-C ends the statement; a second one ends the process.
	context.AfterFunc(ctx, stop)
	if free := glctx.FreeHostMemory(); free > 0 && os.Getenv("GOMEMLIMIT") == "" {
		debug.SetMemoryLimit(free / 10 * 9) // near which garbage is collected more often
	}
	status := 0
	// Windows want the main thread.
	glctx.RunMain(func() { status = cmd.Execute(ctx, os.Args[1:], os.Stdin, os.Stdout, os.Stderr) })
	os.Exit(status)
}
