package compute

import "fmt"

// defines is Profile.defines for a program of units.glsl.
func (x *chunk) defines(d Profile, others ...string) []string {
	if x.regional {
		others = append([]string{fmt.Sprintf("REGIONS %d", d.Multiprocessors)}, others...)
	}
	return d.defines(others...)
}

// groups is the number of work groups of a kernel over so many units: on hardware, where it may go over several pieces,
// the same for all, by the records of the table.
func (c *compiler) groups(k *code, units int) int {
	if c.device.Together > 1 && !c.device.Software && (k.shared || len(k.uniforms)+len(k.textures) == 0) {
		units = c.units
	}
	units <<= k.split
	switch {
	case k.values:
		return k.device.valueGroups(units, k.steps)
	case !k.regional:
		n := k.device.groupsOf(units, k.perUnit, k.steps)
		if k.mostUnits > 0 && !k.device.Software {
			n = max(n, units/(k.device.localSize()*k.mostUnits<<k.split)+1)
		}
		return n
	}
	most := threadUnits
	if k.shared {
		most = k.mostUnits << k.split
	}
	each := most * k.device.localSize() * k.device.Multiprocessors // units, at one group a multiprocessor
	return k.device.Multiprocessors * max(k.perUnit, units/each+1)
}
