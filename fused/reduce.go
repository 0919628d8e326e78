package fused

import (
	"fmt"
	"iter"
	"math/big"
	"math/bits"
	"slices"

	"github.com/stencildb/stencildb/pass"
	"github.com/stencildb/stencildb/shaders"
	"github.com/stencildb/stencildb/textures"
)

// measure is what a reduction computes of the selected records: code run for each
// of them, and how partial results are folded. Attribute xi is the one measured.
type measure struct {
	op   pass.Op
	fold *fold
	// GLSL in the innermost loops. s says that record k is selected (and, where
	// something is measured, not NULL), x is its code.
	declare             string // uniforms
	before, record, end string // before and after the four records of a texel
	uniforms            []shaders.Uniform
}

// fold is how two partial results make one.
type fold struct {
	function string   // GLSL; "" for digits, which have a merge of their own
	parts    []string // files of glsl/ that have it
	nothing  string   // the partial result over no records
}

var (
	counts = &fold{"addCounts", []string{"counts.glsl"}, "uvec4(0u)"}
	sums   = &fold{"addSum", []string{"sum.glsl"}, "uvec4(0u)"}
	ends   = &fold{"addExtremes", []string{"int64.glsl", "extremes.glsl"}, "noExtremes"}
	digits = &fold{"", nil, "uvec4(0u)"}
)

// program merges partial results.
func (f *fold) program() shaders.Source {
	if f == digits {
		return shaders.Join([]string{"digits.frag"})
	}
	return shaders.Join(append(slices.Clone(f.parts), "merge.frag"), "FOLD "+f.function)
}

// counting counts records.
func counting(op pass.Op) measure {
	return measure{op: op, fold: counts, record: "partial.x += uint(s);"}
}

// summing adds codes that are so many bits wide.
func summing(op pass.Op, wide bool, width int) measure {
	m := measure{op: op, fold: sums}
	switch {
	case wide:
		m.record = "if (s) partial = addSum(partial, uvec4(x, 0u, 1u));"
	case width > 30: // four codes may not fit a word
		m.record = "if (s) partial = addSum(partial, uvec4(x, 0u, 0u, 1u));"
	default:
		m.before = "uvec2 four = uvec2(0u); // sum and number"
		m.record = "four += s ? uvec2(x, 1u) : uvec2(0u);"
		m.end = "partial = addSum(partial, uvec4(four.x, 0u, 0u, four.y));"
	}
	return m
}

// extremes finds the smallest and the largest code.
func extremes(op pass.Op, wide bool) measure {
	m := measure{op: op, fold: ends}
	if wide {
		m.record = "if (s) partial = addExtremes(partial, uvec4(x, x));"
		return m
	}
	m.before = "uvec2 range = uvec2(0xffffffffu, 0u);"
	m.record = "range = s ? uvec2(min(range.x, x), max(range.y, x)) : range;"
	m.end = "if (range.x <= range.y) partial = addExtremes(partial, uvec4(range.x, 0u, range.y, 0u));"
	return m
}

// thresholds is how many tentative values one pass of a k-th search counts for.
const thresholds = 3

// atLeast counts codes at or above each of up to three thresholds.
func atLeast(op pass.Op, wide bool, codes []uint64) measure {
	m := measure{op: op, fold: counts}
	var t [thresholds]uint64
	copy(t[:], codes)
	for i, c := range t {
		name := fmt.Sprintf("t%d", i)
		u := shaders.Uniform{Name: name, U: []uint32{uint32(c)}}
		kind, test := "uint", "x >= "+name
		if wide {
			u.U = append(u.U, uint32(c>>32))
			kind, test = "uvec2", "!belowU64(x, "+name+")"
		}
		m.declare += fmt.Sprintf("uniform %s %s; // a tentative value\n", kind, name)
		m.record += fmt.Sprintf("partial.%c += uint(s && %s); ", "xyz"[i], test)
		m.uniforms = append(m.uniforms, u)
	}
	m.record = m.record[:len(m.record)-1]
	return m
}

// reduction is the rectangles of partial results that a chunk's records are folded
// into: lines of what all chunks' are.
type reduction struct {
	texels textures.Shape // four records each
	first  *textures.Temp // a fragment for a good many texels each
	last   *textures.Temp // what is read back; first itself when that is small
	runs   bool           // a fragment of the first takes neighbouring texels
	words  int            // of a texel of the first that have texels of their own in the last, those of each below those of the one before
}

// partials are the partial results of all chunks.
type partials struct {
	first, last textures.Stack
	merges      []func()                    // of what has been drawn and not been merged
	read        map[*textures.Temp][]uint32 // what has been read back since something was drawn
}

// Sizes of the rectangles. On hardware a fragment of the first rectangle reads texels at distances of the
// rectangle's size, so that neighbouring fragments read neighbouring texels. It reads few texels where there
// are few, to keep the device busy. It reads more where the next level would have too many partial results to
// merge. In software it reads a run of a line, since the CPU reads ahead. The host merges more of them, since
// a pass is a wait.
const (
	firstSide = 256 // at most
	least     = 16  // texels for a fragment, where firstSide allows
	lastSide  = 32
	runTexels = 64   // at most
	runsAside = 4    // runs of a line, at least, where it has as many texels: of a vector's fragments
	lastRuns  = 4096 // of all chunks together, about, that the host merges
)

// reduction sizes the rectangles for a chunk of a shape, of so many rows of all chunks.
func (all *partials) reduction(sh textures.Shape, rows int, software bool) *reduction {
	r := &reduction{texels: textures.Shape{Width: sh.Width / 4, Height: sh.Height, Rows: sh.Rows}, runs: software, words: 1}
	side := lastSide
	for side < firstSide && least*4*side*side <= r.texels.Width*r.texels.Height {
		side *= 2
	}
	first := textures.Temp{Width: min(r.texels.Width, side), Height: min(sh.Height, side), Words: 4}
	last := textures.Temp{Width: min(first.Width, lastSide), Height: min(first.Height, lastSide), Words: 4}
	if software {
		first.Width, first.Height = min(r.texels.Width, max(runsAside, (r.texels.Width+runTexels-1)/runTexels)), sh.Height
		last = first
		last.Height = min(first.Height, max(1, lastRuns*sh.Rows/rows/first.Width))
	}
	r.last = all.last.Add(last)
	r.first = r.last
	if first != last {
		r.first = all.first.Add(first)
	}
	return r
}

// each is how many texels a fragment of the first rectangle goes over, aside and down.
func (r *reduction) each() [2]int {
	up := func(a, b int) int { return (a + b - 1) / b }
	return [2]int{up(r.texels.Width, r.first.Width), up(r.texels.Height, r.first.Height)}
}

// share is the number of texels that a fragment of the first rectangle goes over.
func (r *reduction) share() int { return r.each()[0] * r.each()[1] }

// source writes the program of the first level.
func (w *program) source(m measure, measured int) shaders.Source {
	s := "4u * column + uint(k) < records"
	if h := w.holds(); h != "" {
		s += " && " + h
	}
	code := ""
	if measured >= 0 {
		if w.attrs[measured].nulls {
			s += " && " + w.v(measured)
		}
		code = fmt.Sprintf("                %s x = %s;\n", w.attrs[measured].kind(), w.x(measured))
	}
	line := func(indent, text string) string {
		if text == "" {
			return ""
		}
		return indent + text + "\n"
	}
	return w.compose("reduction", m.declare+`
uniform uvec3 lines;  // full lines; records in the line behind them; records in a full line
uniform uvec2 extent; // texels in a line, lines
uniform uvec2 run;    // from the first texel of a fragment to that of its neighbour
uniform uvec2 span;   // from there to the end of a fragment's texels
uniform uvec2 apart;  // from one texel of a fragment to its next
uniform uint above;   // lines of the target, which are other chunks'
layout(location = 0) out uvec4 partial;

void main() {
    partial = `+m.fold.nothing+`;
    uvec2 first = (uvec2(gl_FragCoord.xy) - uvec2(0u, above)) * run, end = min(extent, first + span);
    for (uint y = first.y; y < end.y; y += apart.y) {
        uint records = y < lines.x ? lines.z : lines.y;
        for (uint column = first.x; column < end.x; column += apart.x) {
            ivec2 at = ivec2(column, y);
`+w.fetch("            ")+line("            ", m.before)+`            for (int k = 0; k < 4; k++) {
                bool s = `+s+`;
`+code+line("                ", m.record)+`            }
`+line("            ", m.end)+`        }
    }
}
`, m.fold.parts...)
}

// reduce begins to fold the records of a chunk that satisfy a condition into the last rectangle of a reduction. The rest is merged
// when results are asked for, because a pass waits for the pass that drew its input.
func (p *part) reduce(r *reduction, w *program, m measure, measured int) {
	clear(p.read)
	full, rest := p.shape.Rows/p.shape.Width, p.shape.Rows%p.shape.Width
	run, span, apart := [2]int{1, 1}, [2]int{r.texels.Width, r.texels.Height}, [2]int{r.first.Width, r.first.Height}
	if r.runs {
		run = r.each()
		span, apart = run, [2]int{1, 1}
	}
	p.draw(w, r.share(), &pass.Pass{Op: m.op, Color: r.first, Program: w.source(m, measured), Uniforms: append(m.uniforms,
		shaders.Uniform{Name: "lines", U: []uint32{uint32(full), uint32(rest), uint32(p.shape.Width)}},
		pair("extent", r.texels.Width, r.texels.Height), pair("run", run[0], run[1]), pair("span", span[0], span[1]), pair("apart", apart[0], apart[1]),
		shaders.Uint("above", uint32(r.first.Line)))})
	if r.first == r.last {
		return
	}
	p.merges = append(p.merges, func() {
		from, to := [2]int{r.first.Width, r.first.Height}, [2]int{r.last.Width, r.last.Height / r.words}
		p.Draw(&pass.Pass{Op: Merge{m.op, from, to}, Color: r.last, Program: m.fold.program(), Textures: []textures.Ref{{Temp: r.first}},
			Uniforms: []shaders.Uniform{pair("extent", from[0], from[1]), pair("apart", to[0], to[1]), pair("above", r.first.Line, r.last.Line)}})
	})
}

func pair(name string, x, y int) shaders.Uniform {
	return shaders.Uniform{Name: name, U: []uint32{uint32(x), uint32(y)}}
}

// results returns the chunk's partial results of a reduction, a line at a time. What all chunks have is read back at once.
func (p *part) results(r *reduction) (iter.Seq[[]uint32], error) {
	for _, merge := range p.merges {
		merge()
	}
	p.merges = nil
	if err := p.Err(); err != nil {
		return nil, err
	}
	last := r.last
	all := last.Whole()
	words := p.read[all]
	if words == nil {
		words = make([]uint32, 4*all.Width*all.Height)
		if err := p.ReadTexels(all, words); err != nil {
			return nil, err
		}
		p.read[all] = words
	}
	return func(yield func([]uint32) bool) {
		for y := range last.Height {
			at := 4 * (last.Line + y) * all.Width
			if !yield(words[at : at+4*last.Width]) {
				return
			}
		}
	}, nil
}

// counts adds up partial counts.
func (p *part) counts() (n [4]uint64, err error) {
	lines, err := p.results(p.reduction)
	if err != nil {
		return n, err
	}
	for line := range lines {
		for ; len(line) > 0; line = line[4:] {
			for i, c := range line[:4] {
				n[i] += uint64(c)
			}
		}
	}
	return n, nil
}

// total adds up partial sums of codes, and how many codes they are.
func (p *part) total() (*big.Int, uint64, error) {
	lines, err := p.results(p.reduction)
	if err != nil {
		return nil, 0, err
	}
	var low, high, n uint64 // bits 0 to 63 of the sum, and those above
	for line := range lines {
		for ; len(line) > 0; line = line[4:] {
			var carry uint64
			low, carry = bits.Add64(low, uint64(line[0])|uint64(line[1])<<32, 0)
			high += uint64(line[2]) + carry
			n += uint64(line[3])
		}
	}
	sum := new(big.Int).SetUint64(high)
	return sum.Add(sum.Lsh(sum, 64), new(big.Int).SetUint64(low)), n, nil
}

// span is from the smallest to the largest code of some records; lo is above hi where there is none.
type span struct{ lo, hi uint64 }

// ends merges partial extremes.
func (p *part) ends() (span, error) {
	all := span{lo: ^uint64(0)}
	lines, err := p.results(p.reduction)
	if err != nil {
		return all, err
	}
	for line := range lines {
		for ; len(line) > 0; line = line[4:] {
			lo, hi := uint64(line[0])|uint64(line[1])<<32, uint64(line[2])|uint64(line[3])<<32
			all = span{min(all.lo, lo), max(all.hi, hi)}
		}
	}
	return all, nil
}
