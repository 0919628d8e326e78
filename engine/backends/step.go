package backends

import (
	"github.com/stencildb/stencildb/engine/devicepool"
	"github.com/stencildb/stencildb/pass"
)

// StepOn is a pass on a device.
func StepOn(g *devicepool.GPU, p *pass.Pass) Step {
	return Step{Device: g.Context.Device().Index, Op: p.Op, Pass: p.String(), Counts: p.Op.Counts(), GLSL: p.Program.Text, Fixed: p.Program.Text == ""}
}
