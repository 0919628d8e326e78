package cost

import (
	"embed"
	"encoding/json"
	"fmt"
)

// defaults holds a profile for each class of device: hardware.json was measured on an
// NVIDIA H200 and 16 cores of its host, software.json on llvmpipe and two cores. What
// compiling takes is an estimate for the H200, on llvmpipe that of 16 to 256 predicates.
//
//go:embed hardware.json software.json
var defaults embed.FS

// Default returns the profile to go by where none was measured: that of a device of
// the same class, brought to the key's number of cores. Its Key keeps the names of
// what it was measured on.
func Default(software bool, cores int) (*Profile, error) {
	name := "hardware.json"
	if software {
		name = "software.json"
	}
	data, err := defaults.ReadFile(name)
	if err != nil {
		return nil, err
	}
	p := &Profile{}
	if err := json.Unmarshal(data, p); err != nil {
		return nil, fmt.Errorf("cost: %s: %w", name, err)
	}
	p.scale(cores)
	return p, p.check()
}

// scale brings what the CPU works on to another number of cores.
func (p *Profile) scale(cores int) {
	f := float64(p.Key.Cores) / float64(max(1, cores))
	for name, b := range p.Backends {
		if !p.Key.Software && !b.Swept {
			continue
		}
		for _, curves := range b.Costs {
			for i := range curves {
				points := curves[i].Points
				for j := range points[1:] {
					points[1+j].Seconds = points[0].Seconds + (points[1+j].Seconds-points[0].Seconds)*f
				}
			}
		}
		b.Memory /= f
		p.Backends[name] = b
	}
	p.Key.Cores = cores
}
