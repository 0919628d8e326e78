package debugger

import (
	"fmt"

	"github.com/go-gl/gl/v4.5-core/gl"

	"github.com/stencildb/stencildb/glctx"
	"github.com/stencildb/stencildb/shaders"
	"github.com/stencildb/stencildb/textures"
	"github.com/stencildb/stencildb/trace"
)

// view draws frames. It is used on the GL thread.
type view struct {
	ctx      *glctx.Context
	programs *shaders.Cache
	surface  surface
	canvas   *canvas
	painter  *painter
	camera   camera
}

func newView(ctx *glctx.Context) (*view, error) {
	v := &view{ctx: ctx, programs: shaders.NewCache(ctx), surface: surface{ctx: ctx}, camera: newCamera()}
	var err error
	if v.canvas, err = newCanvas(ctx, v.programs); err != nil {
		return v, err
	}
	v.painter, err = newPainter(ctx, v.programs)
	return v, err
}

// prepare makes what takes longer than a frame: the programs of all pictures and of the
// passes that are to be seen, and the tables of the ranks of the statement's attributes.
func (v *view) prepare(s *scene, passes *shaders.Cache) error {
	if err := v.painter.compile(); err != nil || s.chunk == nil {
		return err
	}
	for _, p := range s.passes {
		if tests(p) && p.Color == nil {
			if _, err := passes.Get(trace.Marking(p, nil).Program); err != nil {
				return err
			}
		}
	}
	for _, col := range s.used() {
		v.painter.table(scaleKey{s.chunk, col, whole})
		for limb := range textures.Limbs(s.chunk.Segments[col].Bits) {
			v.painter.table(scaleKey{s.chunk, col, limb})
		}
	}
	return nil
}

func (v *view) close() {
	v.surface.close()
	if v.canvas != nil {
		v.canvas.close()
	}
	if v.painter != nil {
		v.painter.close()
	}
	v.programs.Close()
}

// draw draws a frame onto the surface.
func (v *view) draw(d *Demo) error {
	if err := v.surface.resize(d.size); err != nil {
		return err
	}
	gl.BindFramebuffer(gl.FRAMEBUFFER, v.surface.frame)
	gl.ColorMask(true, true, true, true)
	gl.DepthMask(true)
	gl.ClearColor(1, 1, 1, 1)
	gl.ClearDepth(1)
	gl.Clear(gl.COLOR_BUFFER_BIT | gl.DEPTH_BUFFER_BIT)
	if !fits(d.size.X, d.size.Y) {
		v.canvas.text(regular, 10, 24, "This window is too small:", ink)
		v.canvas.text(regular, 10, 44, fmt.Sprintf("make it %d x %d or larger.", MinWidth, MinHeight), ink)
		return v.canvas.flush(d.size)
	}
	f := &frame{view: v, canvas: v.canvas, demo: d, scene: d.scene, layout: d.layout()}
	for _, part := range []func() error{f.panes, f.field, f.record, f.head, f.list, f.state, f.lines, f.found, f.help} {
		if err := part(); err != nil {
			return err
		}
	}
	return v.canvas.flush(d.size)
}

// frame is a frame on its way.
type frame struct {
	*view
	*canvas
	demo   *Demo
	scene  *scene // nil where the statement failed
	layout layout
}
