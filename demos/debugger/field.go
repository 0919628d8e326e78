package debugger

import (
	"image"
	"image/color"
	"math"
	"slices"

	"github.com/go-gl/gl/v4.5-core/gl"
	"github.com/go-gl/mathgl/mgl32"

	"github.com/stencildb/stencildb/demos/draw"
	"github.com/stencildb/stencildb/shaders"
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

// field draws the depth buffer as a height field. The quad of the pass cuts through it at its depth, or at
// both depth bounds.
func (f *frame) field() {
	r, s := f.layout.field, f.scene
	end := f.Text(f.Bold, r.Min.X, r.Min.Y+14, "Depth as height", ink)
	defined := s != nil && s.target != nil && s.target.depth
	if defined && s.target.col >= 0 {
		end = f.Text(f.Small, end+8, r.Min.Y+14, f.scaleName(), faint)
	}
	box := image.Rect(r.Min.X, r.Min.Y+headHigh, r.Max.X, r.Max.Y-4)
	defer f.Frame(box.Inset(1), 1, hair)
	if !defined {
		f.undefined(box.Inset(1), "no attribute has been copied to depth yet")
		return
	}
	var levels []float32
	var names []string
	for _, l := range s.quads() {
		levels = append(levels, f.height(f.depthScale(), l))
		names = append(names, s.depthValue(uint64(math.Round(l))))
	}
	if note := "the quad cuts at its depth"; levels != nil && f.Small.Width(note) <= r.Max.X-end-8 {
		f.Right(f.Small, r.Max.X, r.Min.Y+14, note, highlight)
	}
	f.fieldSurface(box, levels)
	f.fieldLabels(box, levels, names)
}

// fieldSurface draws the field and, at heights 0 to 1, the quads before it.
func (f *frame) fieldSurface(r image.Rectangle, levels []float32) {
	view, projection := f.camera.matrices(r)
	matrix := projection.Mul4(view)
	uniforms := append(test(f.scene.pass), shaders.Int("net", net), shaders.Uniform{Name: "camera", F: matrix[:]})
	gl.Enable(gl.DEPTH_TEST)
	gl.DepthFunc(gl.LESS)
	defer gl.Disable(gl.DEPTH_TEST)
	f.paint(fieldProgram(), r, f.scene.target.Texture, f.nulls(), f.depthScale(),
		func() { gl.DrawElementsWithOffset(gl.TRIANGLES, 6*net*net, gl.UNSIGNED_INT, 0) }, uniforms...)
	gl.Enable(gl.BLEND)
	gl.BlendFuncSeparate(gl.SRC_ALPHA, gl.ONE_MINUS_SRC_ALPHA, gl.ONE, gl.ONE_MINUS_SRC_ALPHA) // the frame stays opaque
	defer gl.Disable(gl.BLEND)
	for _, h := range levels {
		f.paint(fieldProgram("FLAT"), r, f.scene.target.Texture, 0, f.depthScale(),
			func() { gl.DrawArrays(gl.TRIANGLES, 0, 6) }, append(uniforms, shaders.Float("height", h))...)
	}
	f.take(r)
}

// fieldProgram draws the height field, or, FLAT, a quad before it.
func fieldProgram(defines ...string) shaders.Source {
	return shaders.LoadPair([]string{"demo_scale.glsl", "demo_field.vert"}, "demo_field.frag", defines...)
}

// lineSpace is how far labels at the field are apart.
const lineSpace = 15

// fieldLabels writes the ends of the depths and the quad's depth at the field.
func (f *frame) fieldLabels(box image.Rectangle, levels []float32, names []string) {
	sh := f.shape()
	larger := float32(max(sh.Width, sh.Height))
	corner := func(h float32) image.Point {
		return f.camera.project(box, mgl32.Vec3{0.5 * float32(sh.Width) / larger, h * 0.5, 0.5 * float32(sh.Height) / larger})
	}
	low, high := corner(0), corner(1)
	for y := high.Y; y < low.Y; y++ {
		x := low.X + (high.X-low.X)*(low.Y-y)/(low.Y-high.Y)
		f.Fill(image.Rect(x, y, x+1, y+1), faint)
	}
	write := func(at image.Point, s string, face *draw.Face, shade color.RGBA) {
		w := face.Width(s)
		x, y := min(at.X+6, box.Max.X-w-4), min(max(at.Y+4, box.Min.Y+14), box.Max.Y-4)
		f.Fill(image.Rect(x-2, y-12, x+w+2, y+3), veil)
		f.Text(face, x, y, s, shade)
	}
	free := func(at image.Point) bool { // of the quad's label
		return !slices.ContainsFunc(levels, func(h float32) bool { return math.Abs(float64(corner(h).Y-at.Y)) < 1.5*lineSpace })
	}
	if free(low) {
		write(low, f.scene.depthValue(0), f.Small, faint)
	}
	if free(high) {
		write(high, f.scene.depthValue(f.depthScale().top()), f.Small, faint)
	}
	for i, h := range levels {
		at := corner(h)
		if len(levels) == 2 { // the lower bound first: one above the other
			at.Y += (1 - 2*i) * max(0, lineSpace-(corner(levels[0]).Y-corner(levels[1]).Y)+1) / 2
		}
		write(at, names[i], f.Bold, highlight)
	}
}
