package aggregates

import (
	"fmt"
	"math"
	"math/bits"
	"slices"
	"strings"

	"github.com/stencildb/stencildb/expr"
	"github.com/stencildb/stencildb/pass"
	"github.com/stencildb/stencildb/plan"
	"github.com/stencildb/stencildb/plan/physical"
	"github.com/stencildb/stencildb/plan/predicate"
	"github.com/stencildb/stencildb/predicates"
	"github.com/stencildb/stencildb/shaders"
	"github.com/stencildb/stencildb/table"
	"github.com/stencildb/stencildb/textures"
)

// keyWords is how many words of 32 bits a texel of the network has for keys; the fourth is the row.
const keyWords = 3

// Order finds the selected rows of a table in the order of q.Order, no more than are wanted. Rows alike in all
// of its keys come in the order of the table. It is a bitonic sorting network (Batcher, 1968) in fragment passes. Graphics hardware
// sorted so before it could scatter (Purcell and others, "Photon mapping on programmable graphics hardware", 2003).
// Pass by pass each texel fetches the record at a distance and keeps one of the two. Over n records, filled up to a
// power of two, these are log n (log n + 1) / 2 passes. Values alone, of one limb, need no program that compares: [blended].
// Keys of more than 96 bits, of other expressions, and tables of several chunks are a [plan.Declined]. Checks are left
// to [Select].
func Order(run pass.Runner, device predicates.Limits, q *physical.Query) (out physical.SortedRun, err error) {
	if err := Supported(q); err != nil {
		return out, err
	}
	if len(q.Chunks) != 1 {
		return out, &plan.Declined{Why: fmt.Sprintf("the table has %d chunks: a sorting network is over one", len(q.Chunks))}
	}
	chunk, keys, first := q.Table.Chunks[0], q.Order.Keys, q.Order.Limit
	if out.Chunk = q.ChunkID(0); q.Chunks[0].Pred.Op == predicate.False || chunk.Rows == 0 || first == 0 {
		return out, nil
	}
	w := &pairsWriter{chunk: chunk}
	for _, k := range keys {
		if err := w.key(k); err != nil {
			return out, err
		}
	}
	p := NewSelection(run, device, q, true).List[0]
	s := p.selection()
	mask := (*textures.Temp)(nil)
	if !s.All() {
		mask = p.Render(s, pass.Attribute{Name: "the selection", Col: -1})
	}
	if err := p.Err(); err != nil {
		return out, err
	}
	if blends(q) {
		out.Keys, err = blended(run, chunk, keys[0], mask, first)
		return out, err
	}
	w.selected(mask)
	n := newNetwork(run, chunk.Rows, textures.Temp{Words: 4}, chunk.Rows)
	n.draw(pass.Pairs{Keys: w.names()}, w.program(), w.refs, shaders.Uint("rows", uint32(chunk.Rows)), shaders.Uint("line", 1<<n.line))
	for length := 2; length <= n.records; length *= 2 {
		for apart := length / 2; apart > 0; apart /= 2 {
			n.exchange(length, apart)
		}
	}
	out.Rows, err = n.order(first)
	return out, err
}

// network is a sorting network over texels of two textures, from which it draws to the other in turns.
type network struct {
	pass.Runner
	rows    int // of the chunk
	records int // texels, a power of two
	line    int // the base-2 logarithm of the texels of a line
	from    *textures.Temp
	to      *textures.Temp
	err     error
}

// newNetwork is a network over at least so many texels like one.
func newNetwork(run pass.Runner, rows int, like textures.Temp, texels int) *network {
	all := bits.Len(uint(texels - 1))
	n := &network{Runner: run, rows: rows, records: 1 << all, line: (all + 1) / 2}
	like.Width, like.Height = 1<<n.line, 1<<(all-n.line)
	from, to := like, like
	n.from, n.to = &from, &to
	return n
}

// over draws over what the other texture has.
func (n *network) over(p *pass.Pass) {
	p.Window, p.Color = textures.Window{Rows: n.rows}, n.to
	if n.err == nil {
		_, n.err = n.Run(p)
	}
}

// turn makes what has been drawn what is read next.
func (n *network) turn() { n.from, n.to = n.to, n.from }

// draw draws every texel anew.
func (n *network) draw(op pass.Op, program shaders.Source, refs []textures.Ref, uniforms ...shaders.Uniform) {
	n.over(&pass.Pass{Op: op, Program: program, Textures: refs, Uniforms: uniforms})
	n.turn()
}

// exchange is a step in which runs of a length are made.
func (n *network) exchange(length, apart int) {
	n.draw(pass.CompareExchange{Run: length, Distance: apart, Records: n.records}, shaders.Load("exchange.frag"), []textures.Ref{{Temp: n.from}},
		shaders.Uint("line", uint32(n.line)), shaders.Uint("run", uint32(length)), shaders.Uint("apart", uint32(apart)))
}

// order reads the rows back.
func (n *network) order(first int64) ([]uint32, error) {
	most := n.rows
	if first >= 0 && first < int64(most) {
		most = int(first)
	}
	texels := (most + 3) / 4
	width := min(texels, 1024)
	out := &textures.Temp{Width: width, Height: (texels + width - 1) / width, Words: 4}
	if n.err != nil {
		return nil, n.err
	}
	_, err := n.Run(&pass.Pass{Op: pass.SortedRows{}, Window: textures.Window{Rows: n.rows}, Color: out, Program: shaders.Load("order.frag"), Textures: []textures.Ref{{Temp: n.from}},
		Uniforms: []shaders.Uniform{shaders.Uint("line", uint32(n.line)), shaders.Uint("records", uint32(n.records)), shaders.Uint("width", uint32(width))}})
	if err != nil {
		return nil, err
	}
	rows := make([]uint32, 4*out.Width*out.Height)
	if err := n.ReadTexels(out, rows); err != nil {
		return nil, err
	}
	rows = rows[:most]
	if end := slices.Index(rows, math.MaxUint32); end >= 0 {
		rows = rows[:end]
	}
	return rows, nil
}

// pairsWriter writes the program that draws the pairs.
type pairsWriter struct {
	chunk *table.Chunk
	refs  []textures.Ref
	keys  []string
	text  strings.Builder // the body of keysOf
	whole string          // the functions before it
	word  int             // of the three, the one that is being filled
	used  int             // its bits
}

func (w *pairsWriter) names() string { return strings.Join(w.keys, ", ") }

// bind makes a texture one of the program's.
func (w *pairsWriter) bind(ref textures.Ref) (name string) {
	name = fmt.Sprintf("t%d", len(w.refs))
	w.whole += fmt.Sprintf("layout(binding = %d) uniform sampler2D %s;\n", len(w.refs), name)
	w.refs = append(w.refs, ref)
	return name
}

// selected writes the function that says which rows are selected: all without a mask.
func (w *pairsWriter) selected(mask *textures.Temp) {
	holds := "true"
	if mask != nil {
		t := w.bind(textures.Ref{Temp: mask})
		holds = fmt.Sprintf("texelFetch(%s, at(row, textureSize(%s, 0).x), 0).r != 0.0", t, t)
	}
	w.whole += "bool selected(uint row) { return " + holds + "; }\n"
}

// key writes what a key adds to the words. That is its codes, inverted for a descending order, with NULL before or behind
// them.
func (w *pairsWriter) key(k expr.SortKey) error {
	c, ok := k.E.(*expr.Column)
	if !ok {
		return &plan.Declined{Why: fmt.Sprintf("a sorting network orders by columns, and %v is computed", k.E)}
	}
	seg := w.chunk.Segments[c.Index]
	nulls := seg.Nulls > 0
	if nulls && seg.Max == math.MaxUint64 {
		return &plan.Declined{Why: fmt.Sprintf("%s has all codes of 64 bits, and NULL has none", c.Name)}
	}
	most := seg.Max
	if nulls {
		most++
	}
	width := bits.Len64(most)
	w.keys = append(w.keys, k.String())
	if width == 0 {
		return nil
	}
	limbs := textures.Limbs(seg.Bits)
	t := w.bind(textures.Attribute(w.chunk, c.Index))
	f := func(text string, values ...any) { fmt.Fprintf(&w.text, "    "+text+"\n", values...) }
	f("limb = uvec4(texelFetch(%s, at(row, textureSize(%s, 0).x), 0));", t, t)
	f("code = uvec2(limb.r, 0u);")
	if limbs > 1 {
		f("code = uvec2(limb.r | limb.g << 24, limb.g >> 8);")
	}
	if limbs > 2 {
		h := w.bind(textures.AttributeHigh(w.chunk, c.Index))
		f("code.y |= uint(texelFetch(%s, at(row, textureSize(%s, 0).x), 0).r) << 16;", h, h)
	}
	constant := func(v uint64) string { return fmt.Sprintf("uvec2(%#xu, %#xu)", uint32(v), uint32(v>>32)) }
	if nulls {
		f("isNull = limb.r == 0x1000000u;")
	}
	if k.Desc {
		f("code = minus(%s, code);", constant(seg.Max))
	}
	if nulls && k.NullsFirst {
		f("code = isNull ? uvec2(0u) : minus(code, uvec2(0xffffffffu, 0xffffffffu));")
	} else if nulls {
		f("code = isNull ? %s : code;", constant(most))
	}
	if width > 32 {
		if err := w.take(width - 32); err != nil {
			return err
		}
		f("%s", w.into("code.y", width-32))
		width = 32
	}
	if err := w.take(width); err != nil {
		return err
	}
	f("%s", w.into("code.x", width))
	return nil
}

// take finds room for bits: in the word at hand or the next.
func (w *pairsWriter) take(width int) error {
	if w.used+width > 32 {
		w.word, w.used = w.word+1, 0
	}
	if w.used += width; w.word == keyWords {
		return &plan.Declined{Why: fmt.Sprintf("a sorting network has three words of 32 bits for keys, and %s take more", w.names())}
	}
	return nil
}

// into writes how bits come behind those of a word.
func (w *pairsWriter) into(from string, width int) string {
	word := "words." + "xyz"[w.word:w.word+1]
	if w.used == width {
		return word + " = " + from + ";"
	}
	return fmt.Sprintf("%s = %s << %d | %s;", word, word, width, from)
}

func (w *pairsWriter) program() shaders.Source {
	return shaders.Compose("keys.frag", []string{"pairs.frag"}, w.whole+`
uvec2 minus(uvec2 a, uvec2 b) {
    uint borrow;
    uint low = usubBorrow(a.x, b.x, borrow);
    return uvec2(low, a.y - b.y - borrow);
}

uvec3 keysOf(uint row) {
    uvec3 words = uvec3(0u);
    uvec4 limb;
    uvec2 code;
    bool isNull;
`+w.text.String()+`    return words;
}
`)
}
