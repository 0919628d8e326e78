package compute

import (
	"fmt"
	"math"
	"math/bits"
	"slices"

	"github.com/stencildb/stencildb/expr"
	"github.com/stencildb/stencildb/pass"
	"github.com/stencildb/stencildb/plan/physical"
	"github.com/stencildb/stencildb/plan/predicate"
	"github.com/stencildb/stencildb/shaders"
	"github.com/stencildb/stencildb/textures"
)

// order is what order statistics of one column share: the code space that the chunks have in common. In it
// all chunks' passes count the same digits in the same place of the result. So a digit is decided on the
// device whatever the number of chunks.
type order struct {
	col      int
	space    *physical.CodeSpace
	stored   stored // the bits of the space's codes that differ
	digits   []digit
	chunks   []*ChunkWork // that have values
	frames   []*frame     // one a chunk
	first    int          // the place of the first digit's counts, of which value 0's is all
	searches []*search
}

// of is the frame of a chunk.
func (o *order) of(x *ChunkWork) *frame {
	return o.frames[slices.IndexFunc(o.chunks, func(y *ChunkWork) bool { return x.Index == y.Index })]
}

// Of the constant, the bits below the highest one of the codes are added to the planes (textures.Block.Plus).
// The bits above, and the carry, make bits that all records have alike, or that are the plane of the carry,
// inverted or not. Ranks in another dictionary are looked up: planes are made of them.
type frame struct {
	stored stored    // the bits that have planes
	plus   uint64    // what is added to the planes
	above  [2]uint64 // the bits above the planes, without and with a carry
	carry  int       // the bit of the plane that carries; -1 without one
	made   *Marks    // the planes, where they are made
}

// newFrame places a segment in a space.
func (x *ChunkWork) newFrame(col int, space *physical.CodeSpace) *frame {
	seg := x.Segment(col)
	delta, ranks := space.Translation(seg)
	if ranks != nil {
		f := &frame{stored: 1<<space.Bits() - 1, carry: -1}
		f.made = x.newPlanes(space.Bits())
		return f
	}
	f := &frame{stored: storedOf(seg), above: [2]uint64{delta, delta}, carry: -1}
	if delta&uint64(f.stored) == 0 {
		return f
	}
	width := bits.Len64(seg.Max)
	below := uint64(1)<<width - 1
	if f.plus = delta & below; f.plus != 0 {
		f.stored = 1<<bits.Len64(seg.Max+f.plus) - 1
	}
	f.above = [2]uint64{delta &^ below, delta&^below + below + 1}
	if f.stored>>width != 0 {
		f.carry = width
	} else {
		f.above[1] = f.above[0]
	}
	return f
}

// varying are the bits of the space in which codes may differ from 0.
func (f *frame) varying() stored { return f.stored | stored(f.above[0]|f.above[1]) }

// newOrder places the chunks in a space.
func newOrder(col int, space *physical.CodeSpace, chunks []*ChunkWork) *order {
	o := &order{col: col, space: space}
	for _, x := range chunks {
		if y := x.column(col); x.Tree.Op == predicate.False || y.n.set && y.n.known == 0 && len(y.n.words) == 0 {
			continue
		}
		f := x.newFrame(col, space)
		o.chunks, o.frames = append(o.chunks, x), append(o.frames, f)
		o.stored |= f.varying()
	}
	o.digits = o.stored.digits()
	return o
}

// SearchedBits returns the bits by which the passes of a query count a column's codes in
// the space that its chunks have in common.
func SearchedBits(q *physical.Query, col int) (uint64, error) {
	c, err := compile(Profile{MaxBlock: math.MaxInt32, MaxBlocks: 16}, q)
	if err != nil {
		return 0, err
	}
	if o := c.order(col); o != nil {
		return uint64(o.stored), nil
	}
	return 0, nil
}

// sweep is the look at a chunk's records that counts the selected ones by the first digit.
func (o *order) sweep(of pass.Attribute) *sweep {
	s := &sweep{op: func(r Result) pass.Op { return Digits{r, of, o.digits[0].label()} }, cols: []int{o.col}, order: o}
	for _, z := range o.searches {
		s.aggs = append(s.aggs, z.aggs...)
	}
	return s
}

// newPlanes names planes of the chunk's windows, not yet written.
func (x *ChunkWork) newPlanes(planes int) *Marks {
	m := &Marks{}
	for _, w := range x.Pieces {
		runs := (textures.Units(w.Rows) + textures.UnitsPerRun - 1) / textures.UnitsPerRun
		m.Blocks = append(m.Blocks, textures.ScratchBlock(&textures.Scratch{Words: 4 * runs * textures.UnitsPerRun * planes}))
	}
	return m
}

// digit says where a chunk has the planes of a digit. First comes how many planes its block has. Then it
// lists for each bit of a program's digit, lowest first, the plane (-1 for zeros), and -1 if it is inverted.
func (f *frame) digit(d digit) []int32 {
	part, list := f.part(d), make([]int32, 1+2*d.room())
	list[0] = int32(bits.OnesCount32(f.stored.part(part)))
	for j := range d.room() {
		list[1+2*j] = -1
	}
	for j, bit := range d.at {
		list[2+2*j] = -int32(f.above[0] >> bit & 1)
		at := -1
		switch {
		case (f.above[0]^f.above[1])>>bit&1 != 0:
			at = f.carry
		case f.stored>>bit&1 != 0:
			at = bit
		}
		if at >= 0 {
			list[1+2*j] = int32(bits.OnesCount64(uint64(f.stored) & (1<<at - 1) >> (textures.PartBits * part)))
		}
	}
	return list
}

// part is that of the block that a digit is read from: bits above the highest plane are
// constant or follow from it.
func (f *frame) part(d digit) int {
	if f.stored.part(d.part) == 0 {
		return 0
	}
	return d.part
}

// planes names the block with the planes of a digit; none where there are none.
func (f *frame) planes(x *ChunkWork, col int, d digit, window int) textures.Block {
	switch part := f.part(d); {
	case f.stored.part(part) == 0:
		return textures.Block{}
	case f.made != nil:
		return f.made.Blocks[window]
	default:
		b := x.Block(col, textures.Planes, part, x.Pieces[window].Window)
		b.Plus = f.plus
		return b
	}
}

// makePlanes queues the passes that make the planes of the chunks that need it.
func (o *order) makePlanes(c *Compiler) {
	for i, x := range o.chunks {
		if f := o.frames[i]; f.made != nil && len(o.digits) > 0 {
			for j := range x.Pieces {
				c.Chunks[x.Index].translate(o, f, j)
			}
		}
	}
}

// translate queues the pass that looks up the ranks of a window's strings in the
// dictionary of all chunks.
func (x *ChunkWork) translate(o *order, f *frame, window int) {
	w, seg, op := x.Pieces[window], x.Segment(o.col), Translate{x.attribute(o.col)}
	_, ranks := o.space.Translation(seg)
	ranks = append(ranks, make([]uint32, -len(ranks)&3)...)
	units := w.units()
	x.Stage(&kernel{piece: w, op: op, pass: &pass.Pass{Op: op,
		Program: shaders.Join([]string{"units.glsl", "planes.comp"},
			x.Defines(x.Device, append(textures.CodeDefines(seg), "RANKS", fmt.Sprintf("BITS %d", o.space.Bits()))...)...),
		Uniforms: []shaders.Uniform{shaders.Uint("units", uint32(units)), shaders.Uint("rows", uint32(w.Rows)),
			shaders.Uint("stored", f.stored.part(0)), shaders.Uint("from", 0)},
		Dispatch: &pass.Dispatch{Groups: [2]int{x.Device.groupsOf(units, digitGroups, 32*o.space.Bits())}, Images: x.Device.Software,
			Blocks: []textures.Block{textures.ScratchBlock(&textures.Scratch{Words: len(ranks), Init: ranks}), f.made.Blocks[window],
				x.Block(o.col, textures.Codes, 0, w.Window)}}}})
}

// passes queues what follows the first digit's counts: for each other digit the passes
// of all chunks, side by side.
func (o *order) passes(c *Compiler) {
	for i := range o.digits {
		for j, s := range o.searches {
			if i == 0 {
				s.bases, s.parts = []int{o.first}, make([]candidates, len(o.chunks))
				continue
			}
			s.bases = append(s.bases, c.Alloc(1<<digitBits))
			s.decide(c, o, i, i+1 < len(o.digits), j > 0)
		}
	}
}

// decide queues the passes of all chunks that decide the digit before number i from its counts. They count
// the candidates that are left by number i. more says that another follows, beside that the pass before need
// not be over.
func (s *search) decide(c *Compiler, o *order, i int, more, beside bool) {
	lists := &textures.Scratch{}
	for j := range o.chunks {
		x := c.Chunks[o.chunks[j].Index]
		x.part.Aggs = s.aggs
		list := s.kernels(x, o, i, j, more, lists)
		list[0].waits = j == 0 && !beside
		x.Stage(list...)
	}
	c.Flush()
}

// kernels are those of the windows of a chunk of the order.
func (s *search) kernels(x *ChunkWork, o *order, i, chunk int, more bool, lists *textures.Scratch) (list []*kernel) {
	f, keep, cand := o.frames[chunk], o.chunks[chunk].keep, &s.parts[chunk]
	decided := 0
	for _, d := range o.digits[:i] {
		decided += len(d.at)
	}
	first := decided == len(o.digits[i-1].at)
	before, now, nulls := o.digits[i-1], o.digits[i], x.Segment(o.col).Nulls > 0
	code := &Code{Name: "kth.comp", Files: []string{"units.glsl", "report.glsl"}, after: []string{"kth.comp"},
		Device: x.Device, PerUnit: digitGroups, Regional: x.Regional, Slots: []slot{{"candidate", "uvec4", ""}, {"kept", "uvec4", "readonly"},
			{"previous", "uvec4", "readonly"}, {"next", "uvec4", "readonly"}}}
	var special []string
	if cand.Marks == nil {
		cand.Marks = x.newMarks()
	}
	if first {
		special = append(special, "FIRST")
		if keep != nil {
			special = append(special, "SELECTION "+keep.first())
			code.Slots = append(code.Slots, slot{"selection", "uvec4", "readonly"})
		}
		if nulls {
			special = append(special, "NULLS")
			code.Slots = append(code.Slots, slot{"valid", "uvec4", "readonly"})
		}
	}
	if s.outside {
		special = append(special, "GIVEN")
	}
	if before.room() != digitBits {
		special = append(special, fmt.Sprintf("PREVIOUS %d", before.room()))
	}
	if now.wide() {
		special = append(special, "WIDE", fmt.Sprintf("NEXT %d", wideBits))
	}
	switch {
	case cand.lists != nil:
		special = append(special, "LISTED", fmt.Sprintf("PIECES %d", maxPieces))
	case !x.Device.Software && more && decided >= listBits:
		special = append(special, "APPEND")
		for _, p := range x.Pieces {
			cand.lists = append(cand.lists, unitList{textures.ScratchBlock(lists), lists.Words})
			lists.Words += listWords(p.units(), x.groups(code, p.units()), x.Device)
		}
	}
	if cand.lists != nil {
		code.Slots = append(code.Slots, slot{"list", "uint", ""})
	}
	code.Defines = x.Defines(x.Device, append(special, "CANDIDATES "+cand.Marks.first(), fmt.Sprintf("DIGIT %d", digitBits), fmt.Sprintf("COUNTERS %d", 1<<digitBits))...)
	from, to := f.digit(before), f.digit(now)
	args := append(slices.Concat(from, to), int32(s.bases[i-1]), int32(s.bases[i]))
	args = append(args, s.rank...)
	op := s.op(x.attribute(o.col), before, now, i)
	for j, p := range x.Pieces {
		k := &kernel{Code: code, piece: p, op: op, blocks: []textures.Block{cand.Blocks[j], cand.Blocks[j],
			f.planes(x, o.col, before, j), f.planes(x, o.col, now, j)}}
		if first && keep != nil {
			k.blocks = append(k.blocks, keep.Blocks[j])
		}
		if first && nulls {
			k.blocks = append(k.blocks, x.Block(o.col, textures.Validity, 0, p.Window))
		}
		at := 0
		if cand.lists != nil {
			k.blocks = append(k.blocks, cand.lists[j].block)
			at = cand.lists[j].at
		}
		k.own = append(args[:len(args):len(args)], int32(at))
		list = append(list, k)
	}
	return list
}

// op says what the pass does that decides the digit before number i, if it is one.
func (s *search) op(of pass.Attribute, before, now digit, i int) pass.Op {
	if len(before.at) == 0 {
		return Digits{Result{-1, s.bases[i]}, of, now.label()}
	}
	return Decide{Attribute: of, Aggregate: s.of, Bits: before.label(), Next: now.label(),
		From: s.bases[i-1], To: s.bases[i], Size: len(before.at)}
}

// unitList is where in a block the units of a piece that have candidates left are listed.
type unitList struct {
	block textures.Block
	at    int
}

// listWords is the size of the lists of a piece. For each work group it has where its list is and how long,
// and room for its units (room in units.glsl).
func listWords(units, groups int, d Profile) int { return 2*groups + units + groups*d.LocalSize() }

// rankArgs says how k follows from the number of values. The first argument is how: 1 counts from the
// smallest value, 2 is a fraction of the values. The next is k or the fraction.
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
