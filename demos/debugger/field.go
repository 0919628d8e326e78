package debugger

import (
	"image"
	"math"

	"github.com/go-gl/gl/v4.5-core/gl"
	"github.com/go-gl/mathgl/mgl32"

	"github.com/stencildb/stencildb/pass"
	"github.com/stencildb/stencildb/shaders"
	"github.com/stencildb/stencildb/textures"
)

// net is the number of cells along each side of the height field.
const net = 48

// netCorners are the knots of the net, counted line by line, that the two triangles of
// each cell have as corners. A knot is computed once for all of them, or nearly so:
// software computes vertices on one core.
func netCorners() []uint32 {
	var list []uint32
	for y := range uint32(net) {
		for x := range uint32(net) {
			const line = net + 1
			a := y*line + x
			b, c, d := a+1, a+line, a+line+1
			list = append(list, a, b, d, a, d, c)
		}
	}
	return list
}

// camera looks at the middle of the height field from a direction.
type camera struct {
	yaw, pitch float64 // radians; yaw 0 looks along the lines of records
	distance   float32
}

func newCamera() camera { return camera{yaw: -0.5, pitch: 0.55, distance: 1.9} }

// turn moves the camera about the field by so many pixels of the mouse.
func (c *camera) turn(dx, dy float64) {
	c.yaw -= dx * 0.01
	c.pitch = min(max(c.pitch+dy*0.01, 0.05), math.Pi/2-0.05)
}

// zoom moves the camera nearer.
func (c *camera) zoom(steps float64) {
	c.distance = min(max(c.distance*float32(math.Pow(0.9, steps)), 1.2), 5)
}

// matrices returns where the camera is, and its projection into a rectangle.
func (c *camera) matrices(r image.Rectangle) (view, projection mgl32.Mat4) {
	yaw, pitch := c.yaw, c.pitch
	eye := mgl32.Vec3{float32(math.Sin(yaw) * math.Cos(pitch)), float32(math.Sin(pitch)), float32(math.Cos(yaw) * math.Cos(pitch))}
	middle := mgl32.Vec3{0, 0.2, 0}
	aspect := float32(r.Dx()) / float32(max(r.Dy(), 1))
	distance := c.distance * max(1, 1.6/aspect) // a narrow rectangle shows it all, too
	view = mgl32.LookAtV(middle.Add(eye.Mul(distance)), middle, mgl32.Vec3{0, 1, 0})
	return view, mgl32.Perspective(mgl32.DegToRad(36), aspect, 0.1, 20)
}

// project returns the pixel of a frame at which a point appears.
func (c *camera) project(r image.Rectangle, point mgl32.Vec3) image.Point {
	view, projection := c.matrices(r)
	p := mgl32.Project(point, view, projection, 0, 0, r.Dx(), r.Dy())
	return image.Pt(r.Min.X+int(p.X()), r.Max.Y-int(p.Y()))
}

// field draws the depth buffer as a height field into a rectangle of a frame, and the
// quad of a pass where it cuts through: at its depth, or at both depth bounds. levels
// are the heights of these, 0 to 1.
func (p *painter) field(c *camera, depths, others uint32, r image.Rectangle, frame image.Point, sh textures.Shape, s scale, at *pass.Pass, levels []float32) error {
	view, projection := c.matrices(r)
	matrix := projection.Mul4(view)
	uniforms := append(append(about(sh, s), test(at)...), shaders.Int("net", net), shaders.Uniform{Name: "camera", F: matrix[:]},
		shaders.Float("shape", float32(sh.Height)/float32(sh.Width)))
	defer p.begin(depths, others, s)()
	gl.Viewport(int32(r.Min.X), int32(frame.Y-r.Max.Y), int32(r.Dx()), int32(r.Dy()))
	gl.Enable(gl.DEPTH_TEST)
	gl.DepthFunc(gl.LESS)
	gl.DepthMask(true)
	defer gl.Disable(gl.DEPTH_TEST)
	draw := func(triangles func(), defines ...string) error {
		program, err := p.programs.Get(fieldProgram(defines...))
		if err != nil {
			return err
		}
		gl.UseProgram(program.ID)
		if err := program.Set(uniforms); err != nil {
			return err
		}
		triangles()
		return p.ctx.Check("debugger: height field")
	}
	if err := draw(func() { gl.DrawElementsWithOffset(gl.TRIANGLES, 6*net*net, gl.UNSIGNED_INT, 0) }); err != nil {
		return err
	}
	gl.Enable(gl.BLEND)
	gl.BlendFuncSeparate(gl.SRC_ALPHA, gl.ONE_MINUS_SRC_ALPHA, gl.ONE, gl.ONE_MINUS_SRC_ALPHA) // the frame stays opaque
	defer gl.Disable(gl.BLEND)
	base := uniforms
	for _, h := range levels {
		uniforms = append(base, shaders.Float("height", h))
		if err := draw(func() { gl.DrawArrays(gl.TRIANGLES, 0, 6) }, "FLAT"); err != nil {
			return err
		}
	}
	return nil
}

// fieldProgram draws the height field, or, FLAT, a quad before it.
func fieldProgram(defines ...string) shaders.Source {
	return shaders.LoadPair("demo_field.vert", "demo_field.frag", defines...)
}
