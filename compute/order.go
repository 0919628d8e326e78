package compute

import (
	"fmt"
	"math"
	"math/bits"

	"github.com/stencildb/stencildb/expr"
	"github.com/stencildb/stencildb/pass"
	"github.com/stencildb/stencildb/plan"
	"github.com/stencildb/stencildb/shaders"
	"github.com/stencildb/stencildb/table"
	"github.com/stencildb/stencildb/textures"
)

// order is what order statistics of one column share: the code space that the chunks
// have in common, in which all chunks' passes count the same digits in the same place
// of the result, so that a digit is decided on the device whatever the number of chunks.
type order struct {
	col      int
	space    *plan.Space
	stored   stored // the bits of the space's codes that differ
	digits   []digit
	chunks   []*chunk // that have values
	frames   []*frame // one a chunk
	first    int      // the place of the first digit's counts, of which value 0's is all
	searches []*search
}

// frame is a column of a chunk in a common space: its codes there are those of the
// planes, with ones set. Where that takes more than setting bits, the chunk has planes
// made for it: bit-sliced numbers are added a constant with one carry mask, and ranks in
// another dictionary are looked up.
type frame struct {
	stored stored // the bits that have planes
	ones   uint64
	made   [2]*marks // the planes of each part, where they are made
}

// newOrder places the chunks in a space.
func newOrder(col int, space *plan.Space, chunks []*chunk) *order {
	o := &order{col: col, space: space}
	for _, x := range chunks {
		if y := x.column(col); x.tree.op == plan.False || y.n.known && y.n.n == 0 {
			continue
		}
		f := &frame{stored: storedOf(x.segment(col))}
		if delta, ok := offset(x.segment(col), space); ok && delta&uint64(f.stored) == 0 {
			f.ones = delta
		} else {
			f.stored = stored(uint64(1)<<space.Bits() - 1)
			for part := range 2 {
				if f.stored.part(part) != 0 {
					f.made[part] = x.newPlanes(bits.OnesCount32(f.stored.part(part)))
				}
			}
		}
		o.chunks, o.frames = append(o.chunks, x), append(o.frames, f)
		o.stored |= f.stored | stored(f.ones)
	}
	o.digits = o.stored.digits()
	return o
}

// SearchedBits returns the bits by which the passes of a query count a column's codes in
// the space that its chunks have in common.
func SearchedBits(q *plan.Query, col int) (uint64, error) {
	c, err := compile(Device{MaxBlock: math.MaxInt32, MaxBlocks: 16}, q)
	if err != nil {
		return 0, err
	}
	if o := c.order(col); o != nil {
		return uint64(o.stored), nil
	}
	return 0, nil
}

// offset is what the codes of a segment are less than those of a space; ok is false
// where it is not the same for all.
func offset(seg *table.Segment, space *plan.Space) (delta uint64, ok bool) {
	delta = space.Code(seg, 0)
	if seg.Type.Kind == table.Varchar {
		for c := range seg.Max + 1 {
			if space.Code(seg, c) != c+delta {
				return 0, false
			}
		}
	}
	return delta, true
}

// sweep is the look at a chunk's records that counts the selected ones by the first digit.
func (o *order) sweep(of pass.Attribute) *sweep {
	s := &sweep{op: func(r Result) pass.Op { return Digits{r, of, o.digits[0].label()} }, col: o.col, order: o}
	for _, z := range o.searches {
		s.aggs = append(s.aggs, z.index)
	}
	return s
}

// newPlanes names planes of the chunk's windows, not yet written.
func (e *evaluator) newPlanes(planes int) *marks {
	m := &marks{}
	for _, w := range e.windows {
		runs := (textures.Units(w.Rows) + textures.UnitsPerRun - 1) / textures.UnitsPerRun
		m.blocks = append(m.blocks, textures.ScratchBlock(&textures.Scratch{Words: 4 * runs * textures.UnitsPerRun * planes}))
	}
	return m
}

// digit says where a chunk has the planes of a digit: how many the part's block has, and
// for each bit, lowest first, its plane; -1 stands for zeros and -2 for ones.
func (f *frame) digit(d digit) (list [1 + digitBits]int32) {
	list[0] = int32(bits.OnesCount32(f.stored.part(d.part)))
	for j := range digitBits {
		switch {
		case j < len(d.at) && f.stored>>d.at[j]&1 != 0:
			list[1+j] = int32(bits.OnesCount64(uint64(f.stored) & (1<<d.at[j] - 1) >> (textures.PartBits * d.part)))
		case j < len(d.at) && f.ones>>d.at[j]&1 != 0:
			list[1+j] = -2
		default:
			list[1+j] = -1
		}
	}
	return list
}

// planes names the block with the planes of a part; none where there are none.
func (f *frame) planes(x *chunk, col, part, window int) textures.Block {
	switch {
	case f.stored.part(part) == 0:
		return textures.Block{}
	case f.made[part] != nil:
		return f.made[part].blocks[window]
	}
	return x.planes(col, part, x.windows[window])
}

// makePlanes queues the passes that make the planes of the chunks that need it.
func (o *order) makePlanes(c *compiler) error {
	if len(o.digits) == 0 {
		return nil
	}
	for i, x := range o.chunks {
		f := o.frames[i]
		if f.made[0] == nil {
			continue
		}
		e := x.with(c)
		for j := range e.windows {
			var err error
			if x.segment(o.col).Type.Kind == table.Varchar {
				err = e.translate(o, f, j)
			} else {
				err = e.shift(c, o, f, j)
			}
			if err != nil {
				return err
			}
		}
	}
	return nil
}

// shift queues the pass that adds a constant to the codes of a window.
func (e *evaluator) shift(c *compiler, o *order, f *frame, window int) error {
	w, seg := e.windows[window], e.segment(o.col)
	delta := o.space.Code(seg, 0)
	own := storedOf(seg)
	list := make([]int32, 2*64)
	for b := range o.space.Bits() {
		list[b] = -1
		if own>>b&1 != 0 {
			part := b / textures.PartBits
			list[b] = int32(bits.OnesCount32(own.part(part) & (1<<(b%textures.PartBits) - 1)))
		}
		list[64+b] = -int32(delta >> b & 1)
	}
	units := textures.Units(w.Rows)
	args := []int32{int32(units), int32(e.claims(c))}
	blocks := []textures.Block{c.result}
	for part := range 2 {
		args = append(args, int32(bits.OnesCount32(own.part(part))), int32(bits.OnesCount32(f.stored.part(part))))
		in, out := textures.Block{}, textures.Block{}
		if own.part(part) != 0 {
			in = e.planes(o.col, part, w)
		}
		if f.made[part] != nil {
			out = f.made[part].blocks[window]
		}
		blocks = append(blocks, in, out)
	}
	program := shaders.Join([]string{"units.glsl", "shift.comp"}, e.defines(e.device)...)
	return e.dispatch(Shift{Attribute: e.attribute(o.col), By: delta}, w, program, e.groups(e.device, units, digitGroups, len(list)/2), blocks,
		[]shaders.Uniform{{Name: "arg", I: args}, {Name: "list", I: list}})
}

// translate queues the pass that looks up the ranks of a window's strings in the
// dictionary of all chunks.
func (e *evaluator) translate(o *order, f *frame, window int) error {
	w, seg := e.windows[window], e.segment(o.col)
	ranks := make([]uint32, (seg.Max+4)/4*4)
	for c := range seg.Max + 1 {
		ranks[c] = uint32(o.space.Code(seg, c))
	}
	units := textures.Units(w.Rows)
	ranksBlock := textures.ScratchBlock(&textures.Scratch{Words: len(ranks), Init: ranks})
	program := shaders.Join([]string{"units.glsl", "planes.comp"},
		e.device.defines(append(textures.CodeDefines(seg), "RANKS", fmt.Sprintf("BITS %d", o.space.Bits()))...)...)
	return e.dispatch(Shift{Attribute: e.attribute(o.col), Ranks: true}, w, program, e.device.groupsOf(units, digitGroups, 32*o.space.Bits()),
		[]textures.Block{ranksBlock, f.made[0].blocks[window], e.codes(o.col, w)[0]},
		[]shaders.Uniform{shaders.Uint("units", uint32(units)), shaders.Uint("rows", uint32(w.Rows)),
			shaders.Uint("stored", f.stored.part(0)), shaders.Uint("from", 0)})
}

// with is the evaluator for the passes of another list.
func (e *evaluator) with(c *compiler) *evaluator {
	x := *e
	x.run, x.compiler = &c.rec, c
	return &x
}

// passes queues what follows the first digit's counts: for each other digit the passes
// of all chunks, side by side.
func (o *order) passes(c *compiler) error {
	for _, s := range o.searches {
		s.bases = []int{o.first}
		s.parts = make([]candidates, len(o.chunks))
	}
	for i := 1; i < len(o.digits); i++ {
		for j, s := range o.searches {
			to := c.alloc(1 << digitBits)
			s.bases = append(s.bases, to)
			for k, x := range o.chunks {
				d := &decision{order: o, before: o.digits[i-1], now: o.digits[i], from: s.bases[i-1], to: to, rank: s.rank, of: s.of, aggs: []int{s.index},
					first: i == 1, more: i+1 < len(o.digits), beside: k > 0 || j > 0 && !x.regional}
				if err := d.queue(c, x.with(c), k, &s.parts[k]); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

// decision decides one digit from its counts and counts the candidates that are left by
// the next one.
type decision struct {
	*order
	before, now digit
	from, to    int     // where the result has their counts
	rank        []int32 // rankArgs of the first
	of          string  // what is searched for
	aggs        []int   // which of the query's aggregates it is
	first       bool    // the candidates are the selection so far
	more        bool    // another digit follows
	beside      bool    // the pass before need not be over
}

// queue queues a chunk's passes, one a window.
func (d *decision) queue(c *compiler, e *evaluator, chunk int, cand *candidates) error {
	x, f := d.chunks[chunk], d.frames[chunk]
	seg := e.segment(d.col)
	args := make([]int32, 16)
	before, now := f.digit(d.before), f.digit(d.now)
	copy(args[2:], before[:])
	copy(args[6:], now[:])
	args[10], args[11] = int32(d.from), int32(d.to)
	var special []string
	if d.first {
		cand.marks = e.newMarks()
		special = append(special, "FIRST")
		copy(args[12:], d.rank)
		if x.keep != nil {
			special = append(special, "SELECTION")
		}
		if seg.Nulls > 0 {
			special = append(special, "NULLS")
		}
	}
	switch {
	case cand.lists != nil:
		special = append(special, "LISTED")
	case !e.device.Software && d.more && d.digits[0].high()-d.before.low() >= listBits-1:
		special = append(special, "APPEND")
		for _, w := range e.windows {
			units := textures.Units(w.Rows)
			groups := e.groups(e.device, units, digitGroups, 0)
			cand.lists = append(cand.lists, textures.ScratchBlock(&textures.Scratch{Words: groups * (1 + e.share(e.device, units, groups))}))
		}
	}
	defines := e.defines(e.device, append(special, fmt.Sprintf("DIGIT %d", digitBits), fmt.Sprintf("COUNTERS %d", 1<<digitBits))...)
	program := shaders.Join([]string{"units.glsl", "report.glsl", "kth.comp"}, defines...)
	op := Decide{Attribute: e.attribute(d.col), Aggregate: d.of, Bits: d.before.label(), Next: d.now.label(),
		From: d.from, To: d.to, Size: len(d.before.at)}
	e.part.Aggs = d.aggs
	for j, w := range e.windows {
		args := append([]int32(nil), args...)
		units := textures.Units(w.Rows)
		args[0], args[1], args[15] = int32(units), int32(uint32(w.Rows)), int32(e.claims(c))
		blocks := []textures.Block{c.result, f.planes(x, d.col, d.before.part, j), f.planes(x, d.col, d.now.part, j), cand.marks.blocks[j], {}, {}, {}}
		if d.first && x.keep != nil {
			blocks[4] = x.keep.blocks[j]
		}
		if d.first && seg.Nulls > 0 {
			blocks[5] = e.validity(d.col, w)
		}
		if cand.lists != nil {
			blocks[6] = cand.lists[j]
		}
		err := e.queue(w, &pass.Pass{Op: op, Program: program, Uniforms: []shaders.Uniform{{Name: "arg", I: args}},
			Dispatch: &pass.Dispatch{Groups: [2]int{e.groups(e.device, units, digitGroups, 0)}, Blocks: blocks, Beside: d.beside || j > 0,
				Images: e.device.Software}})
		if err != nil {
			return err
		}
	}
	return nil
}

// rankArgs says how k follows from the number of values: how (1: counted from the
// smallest, 2: a fraction of the values), and k or the fraction.
func rankArgs(a expr.Aggregate) []int32 {
	k := func(how int32, k int64) []int32 {
		return []int32{how, int32(uint32(max(0, min(k, math.MaxUint32)))), 0}
	}
	switch a.Kind {
	case expr.Min:
		return k(1, 1)
	case expr.Max:
		return k(0, 1)
	case expr.KthLargest:
		return k(0, a.K)
	case expr.KthSmallest:
		return k(1, a.K)
	}
	how := int32(3)
	if a.Desc {
		how = 2
	}
	f := math.Float64bits(a.F)
	return []int32{how, int32(uint32(f)), int32(uint32(f >> 32))}
}

// code reads the result of a search: the code of the k-th largest value.
func (s *search) code(o *order, words []uint32, k uint64) uint64 {
	var dense uint64
	for i, d := range o.digits {
		v := uint64(1)<<digitBits - 1
		for ; v > 0; v-- {
			n := uint64(words[s.bases[i]+int(v)])
			if k <= n {
				break
			}
			k -= n
		}
		dense = dense<<len(d.at) | v
	}
	return o.stored.code(dense)
}
