package fused

import (
	"fmt"
	"math/bits"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/stencildb/stencildb/aggregates"
	"github.com/stencildb/stencildb/pass"
	"github.com/stencildb/stencildb/plan/partial"
	"github.com/stencildb/stencildb/plan/physical"
	"github.com/stencildb/stencildb/predicates"
	"github.com/stencildb/stencildb/shaders"
	"github.com/stencildb/stencildb/textures"
)

// Between draws two bits a record of a chunk: whether the record is in, and whether it is above, two conditions over the same
// columns.
type Between struct{ In, Above string }

// String implements pass.Op.
func (b Between) String() string { return "Between(" + b.In + "; " + b.Above + ")" }

// Counts implements pass.Op.
func (Between) Counts() string { return "nothing; two selections become two bits a record" }

// betweenTexels is how many texels of four records a fragment of [Find] takes: eight for each word of bits.
const betweenTexels = 16

// Find lists the records of a chunk that one query selects, and counts those that another one does, in one pass. A
// fragment takes texels at distances, so that fragments side by side read texels side by side. Checks are left to [Select].
func Find(run pass.Runner, device predicates.Limits, in, above *physical.Query, chunk int) (partial.BracketRows, error) {
	if err := aggregates.Supported(in); err != nil {
		return partial.BracketRows{}, err
	}
	c, inside, beyond := in.Table.Chunks[chunk], in.Chunks[chunk].Pred, above.Chunks[chunk].Pred
	w := &program{chunk: c}
	w.collect(inside)
	w.collect(beyond)
	w.bind()
	w.condition = w.pred(inside, "        ")
	other := w.pred(beyond, "        ")
	if err := w.fits(device, betweenTexels); err != nil {
		return partial.BracketRows{}, err
	}
	lines := textures.LineShape(c.Rows)
	b := &bitPairs{texels: lines.Width / 4, rows: c.Rows}
	b.width = (b.texels + betweenTexels - 1) / betweenTexels
	out := &textures.Temp{Width: b.width, Height: lines.Height, Words: 4}
	_, err := run.Run(&pass.Pass{Op: Between{inside.String(), beyond.String()}, Chunk: chunk, Window: textures.Window{Rows: c.Rows}, Color: out, Program: w.pairing(other), Textures: w.refs,
		Uniforms: append([]shaders.Uniform{shaders.Uint("texels", uint32(b.texels)), shaders.Uint("apart", uint32(b.width))}, w.uniforms...)})
	if err != nil {
		return partial.BracketRows{}, err
	}
	words, _ := readBits.Get().(*[]uint32)
	if n := 4 * out.Width * out.Height; words == nil || cap(*words) < n {
		words = new(make([]uint32, n))
	} else {
		*words = (*words)[:n]
	}
	b.words = *words
	if err := run.ReadTexels(out, b.words); err != nil {
		return partial.BracketRows{}, err
	}
	return b.found(func() { readBits.Put(words) }), nil
}

// readBits are *[]uint32 that nobody uses: new memory costs as much as to read the bits back.
var readBits sync.Pool

// pairing returns the program that draws both conditions.
func (w *program) pairing(other string) shaders.Source {
	params, args := w.parameters()
	return w.compose("pairs", fmt.Sprintf(`
bool above(%s) {
    return %s;
}

uniform uint texels; // in a line
uniform uint apart;  // from one texel of a fragment to its next
layout(location = 0) out uvec4 pairs; // whether the records are in, eight texels a word, and whether they are above

void main() {
    uvec2 low = uvec2(0u), high = uvec2(0u);
    for (uint i = 0u; i < 16u; i++) { // betweenTexels
        ivec2 at = ivec2(uint(gl_FragCoord.x) + i * apart, gl_FragCoord.y);
        if (at.x >= int(texels))
            break;
`+w.fetch("        ")+`        uvec2 four = uvec2(0u);
        for (int k = 0; k < 4; k++)
            four |= uvec2(%s, above(%s)) << uint(k);
        four <<= 4u * (i & 7u);
        if (i < 8u)
            low |= four;
        else
            high |= four;
    }
    pairs = uvec4(low.x, high.x, low.y, high.y);
}
`, strings.Join(params, ", "), other, w.holds(), strings.Join(args, ", ")))
}

// bitPairs are two bits a record as [program.pairing] draws them: four words for sixteen texels of a line, which are width texels apart.
type bitPairs struct {
	words               []uint32
	width, texels, rows int
}

// found counts and lists the records, by pieces of some lines; when all have been, it calls done.
func (b *bitPairs) found(done func()) (f partial.BracketRows) {
	const piece = 1 << 16 // words
	lines := max(1, piece/4/b.width)
	var left atomic.Int64
	for from := 0; from*b.width*4 < len(b.words); from += lines {
		to := min(from+lines, len(b.words)/4/b.width)
		f.Parts = append(f.Parts, func() (rows []uint32, above uint64) {
			for line := from; line < to; line++ {
				last := 4*b.texels*(line+1) > b.rows // its bits behind the rows mean nothing
				for x := range b.width {
					texel := b.words[4*(line*b.width+x):][:4]
					for half := range 2 {
						for word := texel[half]; word != 0; word &= word - 1 {
							if row := b.row(line, x, half, bits.TrailingZeros32(word)); row < b.rows {
								rows = append(rows, uint32(row))
							}
						}
						if !last {
							above += uint64(bits.OnesCount32(texel[2+half]))
							continue
						}
						for word := texel[2+half]; word != 0; word &= word - 1 {
							if b.row(line, x, half, bits.TrailingZeros32(word)) < b.rows {
								above++
							}
						}
					}
				}
			}
			if left.Add(-1) == 0 {
				done()
			}
			return rows, above
		})
	}
	left.Store(int64(len(f.Parts)))
	return f
}

// row is the record of a bit of a word.
func (b *bitPairs) row(line, x, half, bit int) int {
	return 4*(line*b.texels+x+(8*half+bit/4)*b.width) + bit%4
}
