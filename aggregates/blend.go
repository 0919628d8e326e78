package aggregates

import (
	"math"
	"math/bits"
	"slices"

	"github.com/stencildb/stencildb/expr"
	"github.com/stencildb/stencildb/pass"
	"github.com/stencildb/stencildb/plan/physical"
	"github.com/stencildb/stencildb/shaders"
	"github.com/stencildb/stencildb/table"
	"github.com/stencildb/stencildb/textures"
)

// blends reports whether the order of a query is that of one column's values alone, which its codes tell. The codes
// are one limb, which floats hold exactly.
func blends(q *physical.Query) bool {
	if !q.KeyOnly {
		return false
	}
	c, ok := q.Order.Keys[0].E.(*expr.Column)
	return ok && !physical.HasNegativeZeros(q.Table, c.Index) && textures.Limbs(q.Table.Chunks[0].Segments[c.Index].Bits) == 1
}

// The keys that are no codes: see keys.frag.
const (
	firstNull = -1
	lastNull  = textures.NullLimb
	noKey     = 1 << 25
)

// blended sorts the selected values of a column without a program that compares. The blending unit keeps the smaller or the
// larger of the stored and the drawn value. The authors of the 2004 paper sorted like that a year later (Govindaraju, Raghuvanshi
// and Manocha, SIGMOD 2005). A texel has four keys in its components, one of each quarter of the records, so that a pass compares
// four pairs at once. The host merges the four sorted quarters. Theirs is the periodic balanced network. This one is bitonic, and
// all its runs go up. The first step to a run's length compares texels from both ends of it, which takes half as many steps. Over
// n records these are t (t + 1) / 2 steps of three passes each, t the base-2 logarithm of n / 4.
func blended(run pass.Runner, chunk *table.Chunk, key expr.SortKey, mask *textures.Temp, first int64) (*table.Segment, error) {
	col := key.E.(*expr.Column)
	seg := chunk.Segments[col.Index]
	n := newNetwork(run, chunk.Rows, textures.Temp{Words: 4, Floats: true}, (chunk.Rows+3)/4)
	w := &pairsWriter{refs: []textures.Ref{textures.Attribute(chunk, col.Index)}}
	w.selected(mask)
	sign, start, nulls := float32(1), float32(0), float32(lastNull)
	if key.Desc {
		sign, start = -1, float32(seg.Max)
	}
	if key.NullsFirst {
		nulls = firstNull
	}
	n.draw(pass.Keys{Column: key.String()}, shaders.Compose("selected.frag", []string{"keys.frag"}, w.whole), w.refs,
		shaders.Uint("rows", uint32(chunk.Rows)), shaders.Uint("line", 1<<n.line), shaders.Uint("quarter", uint32(n.records)),
		shaders.Float("sign", sign), shaders.Float("first", start), shaders.Float("nulls", nulls))
	for length := 2; length <= n.records; length *= 2 {
		for apart := length / 2; apart > 0; apart /= 2 {
			n.blend(length, apart)
		}
	}
	words := make([]uint32, 4*n.records)
	if n.err == nil {
		n.err = n.ReadTexels(n.from, words)
	}
	if n.err != nil {
		return nil, n.err
	}
	return merged(words, seg, key.Desc, first), nil
}

// blend is a step in which runs of a length are made.
func (n *network) blend(length, apart int) {
	flip := apart // the bits in which the numbers of texels differ that are compared
	if 2*apart == length {
		flip = length - 1
	}
	op := pass.Blending{Run: length, Distance: apart, Texels: n.records}
	line, refs := shaders.Uint("line", uint32(n.line)), []textures.Ref{{Temp: n.from}}
	n.over(&pass.Pass{Op: op, Program: shaders.Load("partner.frag"), Textures: refs, Uniforms: []shaders.Uniform{line, shaders.Uint("flip", 0)}})
	block, lines := bits.Len(uint(apart)), bits.Len(uint(n.to.Height))-1
	quads := n.records >> block // of several lines each
	if block <= n.line {
		quads = 1 << (n.line - block) // which stand over all lines
	}
	for half, keep := range []pass.Blend{pass.Min, pass.Max} {
		op.Keep = keep
		n.over(&pass.Pass{Op: op, Blend: keep, Quads: quads, Program: shaders.LoadPair([]string{"halves.vert"}, "partner.frag"), Textures: refs,
			Uniforms: []shaders.Uniform{line, shaders.Uint("flip", uint32(flip)), shaders.Uint("lines", uint32(lines)), shaders.Uint("block", uint32(block)), shaders.Uint("last", uint32(half))}})
	}
	n.turn()
}

// merged are the values of four sorted quarters in order, up to first of them where that is not negative.
func merged(words []uint32, seg *table.Segment, desc bool, first int64) *table.Segment {
	var quarters [4][]int32
	total := 0
	for k := range quarters {
		for i := k; i < len(words); i += 4 {
			key := int32(math.Float32frombits(words[i]))
			if key == noKey || first >= 0 && int64(len(quarters[k])) == first {
				break
			}
			quarters[k] = append(quarters[k], key)
		}
		total += len(quarters[k])
	}
	if first >= 0 && first < int64(total) {
		total = int(first)
	}
	halves := [2][]int32{two(quarters[0], quarters[1]), two(quarters[2], quarters[3])}
	out := &table.Segment{Type: seg.Type, Base: seg.Base, Max: seg.Max, Bits: seg.Bits, Dict: seg.Dict, Spans: seg.Spans}
	codes, valid := make([]uint64, total), table.NewBitmap(total)
	for i, key := range two(halves[0], halves[1])[:total] {
		switch {
		case key == firstNull || key == lastNull:
			out.Nulls++
			continue
		case desc:
			key = int32(seg.Max) - key
		}
		codes[i] = uint64(key)
		valid.Set(i)
	}
	if out.Nulls > 0 {
		out.Valid = valid
	}
	out.Codes = table.Narrow(codes, seg.Bits)
	return out
}

// two is two sorted lists merged.
func two(a, b []int32) []int32 {
	out := make([]int32, 0, len(a)+len(b))
	for len(a) > 0 && len(b) > 0 {
		if b[0] < a[0] {
			out, b = append(out, b[0]), b[1:]
		} else {
			out, a = append(out, a[0]), a[1:]
		}
	}
	return slices.Concat(out, a, b)
}
