package predicates_test

import (
	"testing"

	"github.com/stencildb/stencildb/glctx"
	"github.com/stencildb/stencildb/internal/gltest"
	"github.com/stencildb/stencildb/pass"
	"github.com/stencildb/stencildb/predicates"
	"github.com/stencildb/stencildb/table"
	"github.com/stencildb/stencildb/textures"
)

// boundsDevice is a device in Go that does the depth bounds test only, and rounds
// depths at or above 2^blur codes to even ones.
type boundsDevice struct {
	blur  int
	chunk *table.Chunk
	runs  int
}

func (d *boundsDevice) Slots(_ textures.TargetRef, _ int) int { return 1 }

func (d *boundsDevice) Apart(_ *table.Table, f func() error) error { return f() }

func (d *boundsDevice) Run(p *pass.Pass) (pass.Count, error) {
	if p.Bounds == nil {
		d.chunk = p.Textures[0].Chunk // CopyToDepth
		return nil, nil
	}
	d.runs++
	n := 0
	for _, c := range d.chunk.Segments[0].Codes.U32 {
		if c>>d.blur != 0 {
			c &^= 1
		}
		if v := float64(c) * (1.0 / (1 << 24)); v >= p.Bounds.Lo && v <= p.Bounds.Hi {
			n++
		}
	}
	return pass.Known(n), nil
}

func (d *boundsDevice) Read(textures.Block, []uint32) error { return nil }

func (d *boundsDevice) ReadParts(textures.Block, int, func(int, []uint32)) error { return nil }

func (d *boundsDevice) ReadTexels(*textures.Temp, []uint32) error { return nil }

func TestDepthBoundsAreCheckedOnTheDevice(t *testing.T) {
	for _, c := range []struct {
		blur int
		want bool
	}{{32, true}, {23, false}, {21, false}, {0, false}} {
		d := &boundsDevice{blur: c.blur}
		got, err := predicates.DepthBoundsExact(d, predicates.Limits{Samplers: 16})
		if err != nil || got != c.want {
			t.Errorf("rounding from 2^%d on: exact %v (%v), want %v", c.blur, got, err, c.want)
		}
		if c.want && d.runs < 150 {
			t.Errorf("only %d ranges checked", d.runs)
		}
	}
}

// On a device with the extension the check passes; on one without it, it is an
// error, not an answer.
func TestDepthBoundsOfThisDevice(t *testing.T) {
	gltest.Run(t, 0, func(ctx *glctx.Context, g *pass.GL) {
		exact, err := predicates.DepthBoundsExact(g, predicates.LimitsOf(ctx.Caps()))
		if ctx.Caps().DepthBounds != (err == nil && exact) {
			t.Errorf("extension %v: exact %v, error %v", ctx.Caps().DepthBounds, exact, err)
		}
	})
}
