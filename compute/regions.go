package compute

import (
	"fmt"

	"github.com/stencildb/stencildb/textures"
)

// claims reserves the words of the result in which the work groups of one dispatch
// take their parts of the regions, and returns their place; see units.glsl.
func (e *evaluator) claims(c *compiler) int {
	if !e.regional {
		return 0
	}
	return c.alloc(e.device.Multiprocessors)
}

// defines is Device.defines for a program of units.glsl.
func (e *evaluator) defines(d Device, others ...string) []string {
	if e.regional {
		others = append([]string{fmt.Sprintf("REGIONS %d", d.Multiprocessors)}, others...)
	}
	return d.defines(others...)
}

// groups is Device.groupsOf, and as many for each multiprocessor where it has a region.
func (e *evaluator) groups(d Device, units, perUnit, steps int) int {
	if !e.regional {
		return d.groupsOf(units, perUnit, steps)
	}
	each := threadUnits * d.localSize() * d.Multiprocessors // units, at one group a multiprocessor
	return d.Multiprocessors * max(perUnit, units/each+1)
}

// share is the most units that one of the groups takes, as units.glsl has it.
func (e *evaluator) share(d Device, units, groups int) int {
	local := d.localSize()
	if !e.regional {
		return (units + groups*local - 1) / (groups * local) * local
	}
	runs := (units + textures.UnitsPerRun - 1) / textures.UnitsPerRun
	region := (runs + d.Multiprocessors - 1) / d.Multiprocessors * textures.UnitsPerRun
	step := groups / d.Multiprocessors * local
	return (region + step - 1) / step * local
}
