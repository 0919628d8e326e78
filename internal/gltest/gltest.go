// Package gltest opens an OpenGL context for a test and checks that nothing is
// left of it.
package gltest

import (
	"context"
	"fmt"
	"runtime/debug"
	"testing"

	"github.com/stencildb/stencildb/glctx"
	"github.com/stencildb/stencildb/pass"
	"github.com/stencildb/stencildb/textures"
)

// Run calls f on the GL thread of a fresh context with a runner whose store has a
// budget of bytes (0: the context's own). The test fails when a GL object is left
// or a GL error was raised. Extensions named are treated as absent.
func Run(t testing.TB, budget int64, f func(ctx *glctx.Context, g *pass.GL), disable ...string) {
	t.Helper()
	ctx, err := glctx.Open(glctx.Options{Disable: disable})
	if err != nil {
		t.Fatal(err)
	}
	var failed any
	err = ctx.Do(context.Background(), func() error {
		store := textures.NewStore(ctx, budget)
		g := pass.NewGL(ctx, store)
		defer func() {
			if r := recover(); r != nil {
				failed = fmt.Sprintf("%v\n%s", r, debug.Stack())
			}
			g.Close()
			store.Close()
		}()
		f(ctx, g)
		return nil
	})
	if failed != nil {
		t.Fatalf("panic on the GL thread: %v", failed)
	}
	if err != nil {
		t.Error(err)
	}
	if err := ctx.Close(); err != nil {
		t.Error(err)
	}
}
