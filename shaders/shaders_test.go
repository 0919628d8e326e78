package shaders_test

import (
	"strings"
	"testing"

	"github.com/stencildb/stencildb/glctx"
	"github.com/stencildb/stencildb/internal/gltest"
	"github.com/stencildb/stencildb/pass"
	"github.com/stencildb/stencildb/shaders"
)

func TestCompileErrorsNameFileAndLine(t *testing.T) {
	gltest.Run(t, 0, func(ctx *glctx.Context, g *pass.GL) {
		s := shaders.Load("testbit.frag", "CHANNEL nonsense")
		_, err := g.Programs().Get(s)
		if err == nil || !strings.Contains(err.Error(), "testbit.frag:10") {
			t.Errorf("error %v does not name testbit.frag:10", err)
		}
		if err != nil && strings.Contains(err.Error(), "\n") {
			t.Errorf("error has several lines: %q", err)
		}
		_, err = g.Programs().Get(shaders.Load("missing.frag"))
		if err == nil || !strings.Contains(err.Error(), "missing.frag") {
			t.Errorf("error %v does not name missing.frag", err)
		}
	})
}

func TestAProgramIsCompiledOnce(t *testing.T) {
	gltest.Run(t, 0, func(ctx *glctx.Context, g *pass.GL) {
		c := g.Programs()
		a, err := c.Get(shaders.Load("copy.frag", "CHANNEL r"))
		if err != nil {
			t.Fatal(err)
		}
		took := c.Compiled()
		b, err := c.Get(shaders.Load("copy.frag", "CHANNEL r"))
		if err != nil || a != b || c.Len() != 1 || took <= 0 || c.Compiled() != took {
			t.Errorf("the same text gave two programs (%v, %d in the cache, compiled in %v, %v)", err, c.Len(), took, c.Compiled())
		}
		if _, err := c.Get(shaders.Load("copy.frag", "CHANNEL g")); err != nil || c.Len() != 2 {
			t.Errorf("another text: %v, %d in the cache", err, c.Len())
		}
	})
}

func TestEveryFileCompiles(t *testing.T) {
	gltest.Run(t, 0, func(ctx *glctx.Context, g *pass.GL) {
		for _, s := range []shaders.Source{
			{}, // no fragment program
			shaders.Load("average.frag"), shaders.Load("guard.frag"), shaders.Load("one.frag"), shaders.Load("value.frag"),
			shaders.Load("copy.frag", "CHANNEL g", "NULL_DEPTH"),
			shaders.Load("semilinear.frag", "TEXTURES 3", "OP <=", "NULLS"),
			shaders.Load("testbit.frag", "CHANNEL r"),
			shaders.Join([]string{"counts.glsl", "merge.frag"}, "FOLD addCounts"), shaders.Join([]string{"sum.glsl", "merge.frag"}, "FOLD addSum"),
			shaders.Join([]string{"digits.frag"}), shaders.Join([]string{"int64.glsl", "extremes.glsl", "merge.frag"}, "FOLD addExtremes"),
		} {
			if _, err := g.Programs().Get(s); err != nil {
				t.Error(err)
			}
		}
	})
}
