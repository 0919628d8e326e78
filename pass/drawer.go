package pass

import "github.com/stencildb/stencildb/textures"

// Drawer hands passes over the rows of one chunk to a runner. After an error it draws no
// more, and its counts fail with the error: whoever waits for one learns of it.
type Drawer struct {
	Runner
	Chunk int // its place in the table
	Rows  int

	part Part
	err  error // the first
}

// For says what the passes that follow serve.
func (d *Drawer) For(part Part) { d.part = part }

// Draw hands a pass over the chunk's rows to the runner.
func (d *Drawer) Draw(p *Pass) (c Count) {
	p.Part, p.Chunk, p.Window = d.part, d.Chunk, textures.Window{Rows: d.Rows}
	if d.err == nil {
		c, d.err = d.Run(p)
	}
	if d.err != nil {
		return Failed(d.err)
	}
	return c
}

// Err returns the error that ended the drawing.
func (d *Drawer) Err() error { return d.err }

// Fail ends the drawing.
func (d *Drawer) Fail(err error) Count {
	if d.err == nil {
		d.err = err
	}
	return Failed(d.err)
}
