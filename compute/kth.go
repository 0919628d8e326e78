package compute

import (
	"fmt"
	"math"
	"math/bits"

	"github.com/stencildb/stencildb/expr"
	"github.com/stencildb/stencildb/pass"
	"github.com/stencildb/stencildb/shaders"
	"github.com/stencildb/stencildb/textures"
)

// digit is some neighbouring planes of one part of a column.
type digit struct {
	part   int
	planes int // of the part
	low    int // the lowest plane, counted in the part
	bits   int
	shift  int // of the digit in the dense code
}

// digits cuts the planes of a column into digits, highest first.
func (e *evaluator) digits(col int) []digit {
	var list []digit
	s := storedOf(e.segment(col))
	shift := s.planes()
	for part := 1; part >= 0; part-- {
		planes := bits.OnesCount32(s.part(part))
		shift -= planes
		for high := planes; high > 0; {
			n := min(high, digitBits)
			high -= n
			list = append(list, digit{part, planes, high, n, shift + high})
		}
	}
	return list
}

// label says which bits of the code it has.
func (d digit) label(s stored) Bits {
	return Bits{bits.TrailingZeros64(s.code(1 << (d.shift + d.bits - 1))), bits.TrailingZeros64(s.code(1 << d.shift))}
}

// search finds one k-th largest value of a column of one chunk, digit by digit
// (the paper's KthLargest, several bits a pass): a pass decides one digit from the
// counts of the pass before, and counts the next one among the candidates left.
type search struct {
	index  int // of the aggregate in the query
	agg    expr.Aggregate
	digits []digit
	bases  []int // where the result has the counts of each digit
	cand   *marks
	lists  []textures.Block // by window: the units that have candidates left
}

// listBits is the number of bits after whose decision the units that have candidates
// left are listed: few units of 128 records are, where values are spread.
const listBits = 8

// searches queues the searches in a column of a chunk, side by side. The first digit
// has been counted by a sweep, for all of them, at place first of the result.
func (c *compiler) searches(e *evaluator, col int, list []*search, selection *marks, first int) error {
	for _, s := range list {
		s.bases = append(s.bases, first)
		if len(s.digits) > 1 {
			s.cand = e.newMarks()
		}
	}
	if len(list) == 0 || len(list[0].digits) == 0 {
		return nil
	}
	for i := range list[0].digits[1:] {
		for j, s := range list {
			if err := c.decide(e, col, s, i+1, selection, j > 0 && !e.regional); err != nil {
				return err
			}
		}
	}
	return nil
}

// decide queues the pass that counts digit i of a search.
func (c *compiler) decide(e *evaluator, col int, s *search, i int, selection *marks, beside bool) error {
	before, now := s.digits[i-1], s.digits[i]
	base := c.alloc(1 << digitBits)
	args := make([]int32, 14)
	for j, v := range []int{before.planes, before.low, before.bits, now.planes, now.low, now.bits, s.bases[i-1], base} {
		args[2+j] = int32(v)
	}
	var special []string
	if i == 1 {
		special = append(special, "FIRST")
		copy(args[10:], rankArgs(s.agg))
		if selection != nil {
			special = append(special, "SELECTION")
		}
		if e.segment(col).Nulls > 0 {
			special = append(special, "NULLS")
		}
	}
	s.bases = append(s.bases, base)
	switch {
	case s.lists != nil:
		special = append(special, "LISTED")
	case !e.device.Software && i+1 < len(s.digits) && s.digits[0].shift+s.digits[0].bits-before.shift >= listBits:
		special = append(special, "APPEND")
		for _, w := range e.windows {
			units := textures.Units(w.Rows)
			groups := e.groups(e.device, units, digitGroups, 0)
			s.lists = append(s.lists, textures.ScratchBlock(&textures.Scratch{Words: groups * (1 + e.share(e.device, units, groups))}))
		}
	}
	defines := e.defines(e.device, append(special, fmt.Sprintf("DIGIT %d", digitBits), fmt.Sprintf("COUNTERS %d", 1<<digitBits))...)
	program := shaders.JoinCompute([]string{"regions.glsl", "values.glsl", "bitmap.glsl", "report.glsl", "digits.glsl", "kth.comp"}, defines...)
	st := storedOf(e.segment(col))
	op := Decide{Attribute: e.attribute(col), Aggregate: s.agg.String(), Bits: before.label(st), Next: now.label(st),
		From: s.bases[i-1], To: base, Size: before.bits}
	e.part.Aggs = []int{s.index}
	defer func() { e.part.Aggs = nil }()
	for j, w := range e.windows {
		args := append([]int32(nil), args...)
		units := textures.Units(w.Rows)
		args[0], args[1], args[13] = int32(units), int32(uint32(w.Rows)), int32(e.claims(c))
		blocks := []textures.Block{c.result, e.planes(col, before.part, w), e.planes(col, now.part, w), s.cand.blocks[j], {}, {}, {}}
		if i == 1 && selection != nil {
			blocks[4] = selection.blocks[j]
		}
		if i == 1 && e.segment(col).Nulls > 0 {
			blocks[5] = e.validity(col, w)
		}
		if s.lists != nil {
			blocks[6] = s.lists[j]
		}
		err := e.queue(w, &pass.Pass{Op: op, Program: program, Uniforms: []shaders.Uniform{{Name: "arg", I: args}},
			Dispatch: &pass.Dispatch{Groups: [2]int{e.groups(e.device, units, digitGroups, 0)}, Blocks: blocks, Beside: beside || j > 0,
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
func (s *search) code(words []uint32, st stored, k uint64) uint64 {
	var dense uint64
	for i, d := range s.digits {
		v := uint64(1)<<digitBits - 1
		for ; v > 0; v-- {
			n := uint64(words[s.bases[i]+int(v)])
			if k <= n {
				break
			}
			k -= n
		}
		dense |= v << d.shift
	}
	return st.code(dense)
}
