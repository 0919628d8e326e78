package fused

import (
	"github.com/stencildb/stencildb/internal/xslices"
	"github.com/stencildb/stencildb/pass"
	"github.com/stencildb/stencildb/plan/partial"
	"github.com/stencildb/stencildb/plan/physical"
	"github.com/stencildb/stencildb/shaders"
	"github.com/stencildb/stencildb/textures"
)

// visitBits is how many bits of a digit one reduction decides where another pass over the records is dear. Each of their fifteen thresholds
// has a counter of a byte in a texel of four words.
const visitBits = 4

// visitTexels is how many texels of four records a fragment goes over then, at most: so many records a byte can count.
const visitTexels = 255 / 4

// visitDown is how many of these lie one below the other, on hardware.
const visitDown = 8

// spacedPart is a part, and the thresholds of a digit that its codes may reach: the first one, and how many.
type spacedPart struct {
	*part
	first uint64
	n     int
}

// spaced returns the parts whose codes may reach thresholds of a digit. The thresholds of each part are a digit apart in
// its own codes, which are no wider than a word. Otherwise it is nil.
func (s *selection) spaced(col int, space *physical.CodeSpace, d partial.Digit, all []uint64) (list []spacedPart) {
	list = []spacedPart{}
	for _, p := range s.live(col) {
		seg := p.chunk.Segments[col]
		if textures.Parts(seg) == 2 {
			return nil
		}
		var local []uint64
		for _, t := range all {
			if c, ok := space.Local(seg, t); ok {
				local = append(local, c)
			}
		}
		for i := 1; i < len(local); i++ {
			if local[i]-local[i-1] != 1<<d.Shift {
				return nil
			}
		}
		if len(local) > 0 {
			list = append(list, spacedPart{p, local[0], len(local)})
		}
	}
	return list
}

// ofDigit counts the codes between thresholds, which are 2^shift apart from the first one on.
func ofDigit(op pass.Op, first uint64, shift int) measure {
	return measure{op: op, fold: digits,
		declare: "uniform uint least; // the first tentative value\nuniform int down; // the others are 2^down apart\n",
		record: "uint digit = min((x - least) >> down, 14u); " +
			"partial += (s && x >= least ? 1u << (8u * (digit & 3u)) : 0u) * uvec4(equal(uvec4(digit >> 2), uvec4(0u, 1u, 2u, 3u)));",
		uniforms: []shaders.Uniform{shaders.Uint("least", uint32(first)), shaders.Int("down", int32(shift))}}
}

// digitReduction sizes the rectangles of a part's counters: packed's texels have 16 of a byte, those of merged four of a word.
func (p *part) digitReduction(packed, merged *textures.Stack) *reduction {
	r := &reduction{texels: p.reduction.texels, runs: p.reduction.runs, words: 4}
	up := func(a, b int) int { return (a + b - 1) / b }
	down := min(r.texels.Height, visitDown)
	if r.runs {
		down = 1
	}
	r.first = packed.Add(textures.Temp{Width: up(r.texels.Width, visitTexels/down), Height: up(r.texels.Height, down), Words: 4})
	r.last = merged.Add(textures.Temp{Width: min(r.first.Width, lastSide), Height: r.words * min(r.first.Height, lastSide), Words: 4})
	return r
}

// countDigits counts the records that reach each of n thresholds.
func (s *selection) countDigits(step KthLargest, list []spacedPart, n int) ([]uint64, error) {
	var packed, merged textures.Stack
	reductions := xslices.Map(list, func(p spacedPart) *reduction { return p.digitReduction(&packed, &merged) })
	for i, p := range list {
		step.Of = p.of(step.Col)
		p.measureIn(reductions[i], ofDigit(step, p.first, step.Low), step.Col)
	}
	reach := make([]uint64, n)
	for i, p := range list {
		lines, err := p.results(reductions[i])
		if err != nil {
			return nil, err
		}
		var counts [1 << visitBits]uint64
		y, height := 0, reductions[i].last.Height/reductions[i].words
		for line := range lines {
			for at, c := range line {
				counts[y/height*4+at%4] += uint64(c)
			}
			y++
		}
		for j, above := len(counts)-1, uint64(0); j >= 0; j-- {
			if above += counts[j]; j < p.n {
				reach[j] += above
			}
		}
	}
	return reach, nil
}
