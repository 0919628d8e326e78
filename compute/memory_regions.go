package compute

import "fmt"

// Defines is Profile.defines for a program of units.glsl.
func (x *ChunkWork) Defines(d Profile, others ...string) []string {
	if x.Regional {
		others = append([]string{fmt.Sprintf("REGIONS %d", d.Multiprocessors)}, others...)
	}
	return d.defines(others...)
}

// groups is the number of work groups of a kernel over so many units. On hardware a kernel may go over several pieces;
// then the number depends on the records of the table.
func (c *Compiler) groups(k *Code, units int) int {
	if c.Device.Together > 1 && !c.Device.Software && (k.Shared || len(k.Uniforms)+len(k.textures) == 0) {
		units = c.Units
	}
	units <<= k.Split
	switch {
	case k.values:
		return k.Device.valueGroups(units, k.steps)
	case !k.Regional:
		n := k.Device.groupsOf(units, k.PerUnit, k.steps)
		if k.MostUnits > 0 && !k.Device.Software {
			n = max(n, units/(k.Device.LocalSize()*k.MostUnits<<k.Split)+1)
		}
		return n
	}
	most := threadUnits
	if k.Shared {
		most = k.MostUnits << k.Split
	}
	each := most * k.Device.LocalSize() * k.Device.Multiprocessors // units, at one group a multiprocessor
	return k.Device.Multiprocessors * max(k.PerUnit, units/each+1)
}
