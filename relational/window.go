package relational

import (
	"fmt"
	"math/bits"

	"github.com/stencildb/stencildb/compute"
	"github.com/stencildb/stencildb/expr"
	"github.com/stencildb/stencildb/pass"
	"github.com/stencildb/stencildb/plan"
	"github.com/stencildb/stencildb/plan/physical"
	"github.com/stencildb/stencildb/primitives"
	"github.com/stencildb/stencildb/shaders"
	"github.com/stencildb/stencildb/table"
	"github.com/stencildb/stencildb/textures"
)

// Window computes the functions of a [plan.Window] over the rows of its input, which are the rows of t; none of
// them is deleted. It returns a table of these rows with one column more for each function, as [window.Window]
// does. What it cannot do is a [plan.Declined], before any pass.
func Window(run pass.Runner, d compute.Profile, t *table.Table, n *plan.Window) (*table.Table, error) {
	columns, err := WindowColumns(run, d, t, n)
	if err != nil {
		return nil, err
	}
	out := &table.Table{Name: t.Name, Fields: n.Fields()}
	for _, c := range t.Chunks {
		out.Chunks = append(out.Chunks, &table.Chunk{Rows: c.Rows, Segments: append([]*table.Segment{}, c.Segments...)})
	}
	for _, c := range columns {
		segments, err := c.read(run, t)
		if err != nil {
			return nil, err
		}
		for i, s := range segments {
			out.Chunks[i].Segments = append(out.Chunks[i].Segments, s)
		}
	}
	return out, nil
}

// WindowColumns are the columns of [Window], one for each function, which stay on the device.
//
// The rows are sorted by the codes of PARTITION BY and ORDER BY, once for all functions that have these in common. Rows
// whose codes differ from those of the row before begin a partition, or a group of peers, and a prefix sum numbers
// these. A sum or a count over a frame is the difference of two prefix sums, modulo 2^64. The largest value so far is a
// segmented scan. A value of another row is a look-up. What was found goes to the rows' places.
func WindowColumns(run pass.Runner, d compute.Profile, t *table.Table, n *plan.Window) ([]*WindowColumn, error) {
	w, err := newWindowing(run, d, t)
	if err != nil {
		return nil, err
	}
	var list []*windowFunction
	for _, f := range n.Funcs {
		x, err := w.lower(f)
		if err != nil {
			return nil, err
		}
		list = append(list, x)
	}
	columns := make([]*WindowColumn, len(list))
	for i, x := range list {
		if columns[i] != nil {
			continue
		}
		o, err := w.ordered(x)
		if err != nil {
			return nil, err
		}
		for k := i; k < len(list); k++ {
			if columns[k] == nil && list[k].Spec() == x.Spec() {
				if columns[k], err = o.column(list[k]); err != nil {
					return nil, err
				}
			}
		}
	}
	return columns, nil
}

// windowing is the rows of a table, by their places: numbers in the order of its chunks.
type windowing struct {
	run    pass.Runner
	device compute.Profile
	t      *table.Table
	rows   int
	spaces map[int]*physical.CodeSpace
}

func newWindowing(run pass.Runner, d compute.Profile, t *table.Table) (*windowing, error) {
	w := &windowing{run: run, device: d, t: t, rows: t.Rows(), spaces: map[int]*physical.CodeSpace{}}
	if w.rows >= d.Primitives.MaxWords {
		return nil, &plan.Declined{Why: fmt.Sprintf("a window over %d rows: a storage block of the device holds %d", w.rows, d.Primitives.MaxWords)}
	}
	return w, nil
}

// space is the code space that the chunks of a column have in common.
func (w *windowing) space(col int) *physical.CodeSpace {
	s := w.spaces[col]
	if s == nil {
		s = physical.NewCodeSpace(w.t, col)
		w.spaces[col] = s
	}
	return s
}

// nulls reports whether some row is NULL in a column.
func (w *windowing) nulls(col int) bool {
	for _, c := range w.t.Chunks {
		if c.Segments[col].Nulls > 0 {
			return true
		}
	}
	return false
}

// loading says which word a column's codes become: see window_load.comp.
type loading struct {
	verb             string
	col              int
	plus, null       uint64
	negate, constant bool
	shift            int
	or               bool
}

// load writes a word of each row to out.
func (w *windowing) load(l loading, out primitives.Vector) error {
	first, space := 0, w.space(l.col)
	for _, c := range w.t.Chunks {
		seg := c.Segments[l.col]
		delta, ranks := space.Translation(seg)
		plus := l.plus + delta
		if l.negate {
			plus = l.plus - delta
		} else if l.constant {
			plus = l.plus
		}
		others := []string{fmt.Sprintf("BYTES %d", textures.CodeBytes(seg))}
		var rank textures.Block
		if ranks != nil {
			others, rank = append(others, "RANKS"), primitives.FromSlice(ranks).Block
		}
		for _, v := range []struct {
			define string
			holds  bool
		}{{"WIDE", textures.Parts(seg) > 1}, {"NULLS", seg.Nulls > 0}, {"NEGATE", l.negate}, {"CONSTANT", l.constant}, {"OR", l.or}} {
			if v.holds {
				others = append(others, v.define)
			}
		}
		for _, window := range w.device.WindowsOf(c.Rows) {
			block := func(content textures.Content, part int) textures.Block {
				return textures.Block{Chunk: c, Col: l.col, Content: content, Part: part, Window: window}
			}
			blocks := []textures.Block{block(textures.Codes, 0), {}, {}, rank, out.Block}
			if textures.Parts(seg) > 1 {
				blocks[1] = block(textures.Codes, 1)
			}
			if seg.Nulls > 0 {
				blocks[2] = block(textures.Validity, 0)
			}
			defines, groups := w.device.ByRow(window.Rows)
			_, err := w.run.Run(&pass.Pass{Op: primitives.Op{Verb: "Window: " + l.verb + " of " + w.t.Field(l.col).Name, Over: fmt.Sprintf("%d codes", window.Rows)},
				Program: shaders.Load("window_load.comp", append(defines, others...)...),
				Uniforms: []shaders.Uniform{shaders.Uint("n", uint32(window.Rows)), shaders.Uint("base", uint32(first+window.From)), shaders.Int("shift", int32(l.shift)),
					shaders.Uint("plus_low", uint32(plus)), shaders.Uint("plus_high", uint32(plus>>32)), shaders.Uint("null_low", uint32(l.null)), shaders.Uint("null_high", uint32(l.null>>32))},
				Dispatch: &pass.Dispatch{Groups: groups, Blocks: blocks}})
			if err != nil {
				return err
			}
		}
		first += c.Rows
	}
	return nil
}

// orderedRows are the rows in the order of their partitions, and within these in that of a window.
type orderedRows struct {
	*windowing
	place             primitives.Vector // of each row; none where they are in order as they are
	partitions, peers numbered
	// moved, when set, is the word of movedBy of each row in their order: it went with the keys.
	moved   primitives.Vector
	movedBy loading
}

// numbered are parts of the rows in their order. of is the number of each row's part, from 1. starts is where each
// part begins, and where the last one ends. Both are none where all rows are in one part.
type numbered struct{ of, starts primitives.Vector }

// keyField is some bits of the keys of the rows.
type keyField struct {
	loading
	bits int
}

// fields are the bits of the keys of a window, the lowest first, and how many of them are ORDER BY's.
func (w *windowing) fields(f *expr.Window) (list []keyField, order, all int) {
	var keys []expr.SortKey
	for _, e := range f.Partition {
		keys = append(keys, expr.SortKey{E: e})
	}
	keys = append(keys, f.Order...)
	for i := len(keys) - 1; i >= 0; i-- {
		k := keys[i]
		col := k.E.(*expr.Column).Index
		s := w.space(col)
		if n := s.Bits(); n > 0 {
			l := loading{verb: "key", col: col}
			if k.Desc {
				l.negate, l.plus = true, s.Max()
			}
			list, all = append(list, keyField{l, n}), all+n
		}
		if w.nulls(col) { // a bit that tells NULLs from values
			l := loading{verb: "NULLs", col: col, constant: true}
			if k.NullsFirst {
				l.plus = 1
			} else {
				l.null = 1
			}
			list, all = append(list, keyField{l, 1}), all+1
		}
		if i == len(f.Partition) {
			order = all
		}
	}
	return list, order, all
}

// mostKeyWords is how many words a window's keys may have.
const mostKeyWords = 8

// ordered sorts the rows for a function, and for those that have its partitions and order.
func (w *windowing) ordered(f *windowFunction) (*orderedRows, error) {
	o, d := &orderedRows{windowing: w}, w.device.Primitives
	fields, order, all := w.fields(f.Window)
	if all == 0 || w.rows == 0 {
		return o, nil
	}
	words := make([]primitives.Word, (all+31)/32)
	for i := range words {
		words[i] = primitives.Word{Words: primitives.New(w.rows), Bits: min(32, all-32*i)}
	}
	at := 0
	for _, field := range fields {
		for i := at / 32; i <= (at+field.bits-1)/32; i++ {
			l := field.loading
			l.shift, l.or = at-32*i, at > 32*i
			if err := w.load(l, words[i].Words); err != nil {
				return nil, err
			}
		}
		at += field.bits
	}
	o.place = primitives.New(w.rows)
	sorted := make([]primitives.Vector, len(words))
	for i := range sorted {
		sorted[i] = primitives.New(w.rows)
	}
	if len(words) == 1 {
		keys := primitives.Keys{Words: words[0].Words, Bits: all}
		if err := o.move(f, &keys); err != nil {
			return nil, err
		}
		if err := primitives.Sort(w.run, d, keys, sorted[0], o.place); err != nil {
			return nil, err
		}
	} else {
		if err := primitives.SortBy(w.run, d, words, o.place); err != nil {
			return nil, err
		}
		for i, word := range words {
			if err := primitives.Gather(w.run, d, word.Words, o.place, sorted[i]); err != nil {
				return nil, err
			}
		}
	}
	var err error
	if all > order {
		if o.partitions, err = numberRuns(w.run, d, sorted, order); err != nil {
			return nil, err
		}
	}
	if o.peers = o.partitions; order > 0 {
		o.peers, err = numberRuns(w.run, d, sorted, 0)
	}
	return o, err
}

// move has the first word that a function reads go with the keys, where random access takes longer.
func (o *orderedRows) move(f *windowFunction, keys *primitives.Keys) (err error) {
	list := o.loadings(f)
	if len(list) == 0 || !o.device.Primitives.Far(o.rows) {
		return nil
	}
	o.movedBy, keys.BesideOut = list[0], primitives.New(o.rows)
	keys.Beside, err = o.words(list[0])
	o.moved = keys.BesideOut
	return err
}

// windowPass is a dispatch of window.comp.
type windowPass struct {
	verb, result     string
	defines          []string
	constants        []uint32
	in, out          []primitives.Vector
	partitions, peer bool // what it asks of the rows
}

func (o *orderedRows) pass(p windowPass) error {
	defines, groups := o.device.ByRow(o.rows)
	defines = append(append(defines, p.defines...), fmt.Sprintf("INPUTS %d", len(p.in)), "RESULT "+p.result)
	text := "CONSTANTS"
	uniforms := []shaders.Uniform{shaders.Uint("n", uint32(o.rows))}
	for i, c := range p.constants {
		text += fmt.Sprintf(" uniform uint c%d;", i)
		uniforms = append(uniforms, shaders.Uint(fmt.Sprintf("c%d", i), c))
	}
	defines = append(defines, text)
	blocks := make([]textures.Block, 6, 8)
	for i, v := range p.out {
		blocks[i] = v.Block
	}
	if len(p.out) > 1 {
		defines = append(defines, "TWO")
	}
	if p.partitions && !o.partitions.of.None() {
		defines = append(defines, "PARTITIONS")
		blocks[2], blocks[3] = o.partitions.of.Block, o.partitions.starts.Block
	}
	if p.peer && !o.peers.of.None() {
		defines = append(defines, "PEERS")
		blocks[4], blocks[5] = o.peers.of.Block, o.peers.starts.Block
	}
	for _, v := range p.in {
		blocks = append(blocks, v.Block)
	}
	_, err := o.run.Run(&pass.Pass{Op: primitives.Op{Verb: "Window: " + p.verb, Over: fmt.Sprintf("%d rows", o.rows)},
		Program: shaders.Load("window.comp", defines...), Uniforms: uniforms, Dispatch: &pass.Dispatch{Groups: groups, Blocks: blocks}})
	return err
}

// inOrder are words of the rows' places, in their order.
func (o *orderedRows) inOrder(words primitives.Vector) (primitives.Vector, error) {
	if o.place.None() {
		return words, nil
	}
	out := primitives.New(o.rows)
	return out, primitives.Gather(o.run, o.device.Primitives, words, o.place, out)
}

// atPlaces puts words of the rows in their order, one of each row or two, at the rows' places.
func (o *orderedRows) atPlaces(words []primitives.Vector) (out []primitives.Vector, err error) {
	if o.place.None() {
		return words, nil
	}
	for range words {
		out = append(out, primitives.New(o.rows))
	}
	return out, primitives.Permute(o.run, o.device.Primitives, o.place, words, out)
}

// loaded is a word of each row of a column in their order.
func (o *orderedRows) loaded(l loading) (primitives.Vector, error) {
	if !o.moved.None() && l == o.movedBy {
		return o.moved, nil
	}
	words, err := o.words(l)
	if err != nil {
		return words, err
	}
	return o.inOrder(words)
}

// words is a word of each row of a column, which is not to be changed.
func (w *windowing) words(l loading) (primitives.Vector, error) {
	words := w.asStored(l)
	if words.None() {
		words = primitives.New(w.rows)
		return words, w.load(l, words)
	}
	return words, nil
}

// asStored are the words of a column as the device has them, where these are those that are asked for; else none.
func (w *windowing) asStored(l loading) (none primitives.Vector) {
	if l.negate || l.constant || l.shift != 0 || len(w.t.Chunks) != 1 {
		return none
	}
	c := w.t.Chunks[0]
	seg, windows := c.Segments[l.col], w.device.WindowsOf(c.Rows)
	delta, ranks := w.space(l.col).Translation(seg)
	if seg.Codes.U32 == nil || seg.Nulls > 0 || ranks != nil || l.plus+delta != 0 || len(windows) != 1 {
		return none
	}
	return primitives.Vector{Block: textures.Block{Chunk: c, Col: l.col, Content: textures.Codes, Window: windows[0]}, N: w.rows}
}

// takesTwo reports whether numbers up to most take two words.
func takesTwo(most uint64) bool { return bits.Len64(most) > textures.PartBits }
