package cost

import (
	_ "embed"
	"encoding/json"
	"fmt"
)

// Profiles of a class of device: hardware was measured on an NVIDIA H200 and 16 cores of its host, software on llvmpipe and two cores. What
// compiling takes is an estimate for the H200, on llvmpipe that of 16 to 256 predicates. The sums of products on llvmpipe were measured
// beside the class program, and groups and sorts on both, at another time. Joins on the H200 are those of docs/results/h200-joins.md and a
// read-back. Joins on cpu are scaled from two cores to 16. software has no joins. Of many groups, compute was measured on an H100
// (docs/results/h200-groups.md), cpu on two cores. Sorts by 40 bits, and of 67 M rows on cpu, were measured on an H100, too.
var (
	//go:embed hardware.json
	hardware []byte
	//go:embed software.json
	software []byte
)

// Default returns the profile to go by where none was measured. That is the one of a device of
// the same class, brought to the key's number of cores. Its Key keeps the names of
// what it was measured on.
func Default(soft bool, cores int) (*Profile, error) {
	data, p := hardware, &Profile{}
	if soft {
		data = software
	}
	if err := json.Unmarshal(data, p); err != nil {
		return nil, fmt.Errorf("cost: a built-in profile: %w", err)
	}
	p.scale(cores)
	return p, p.check()
}

// mostCores is how many cores are counted on: 32 took as long as 16 for a million rows.
const mostCores = 16

// scale brings what the CPU works on to another number of cores.
func (p *Profile) scale(cores int) {
	f := float64(p.Key.Cores) / float64(min(max(1, cores), mostCores))
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
