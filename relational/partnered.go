package relational

import (
	"fmt"
	"math"
	"math/bits"

	"github.com/stencildb/stencildb/compute"
	"github.com/stencildb/stencildb/pass"
	"github.com/stencildb/stencildb/plan"
	"github.com/stencildb/stencildb/plan/physical"
	"github.com/stencildb/stencildb/primitives"
)

// Partnered makes the rows of a semi, an anti or a left join of its pairs. The left side has n rows. places are those of the pairs in it, in any
// order and each any number of times. The result is rows of the lists of the left side. A left join has rows of right, too, which are lists of the
// pairs: a left row without a pair has no right row there. Rows that have no pair come last.
func Partnered(run pass.Runner, d compute.Profile, kind plan.JoinKind, n int, places primitives.Vector, left []physical.RowIDs, right []primitives.Vector) (held [2][]*physical.Held, rows int, err error) {
	if most := max(n, n+places.N); most > d.Primitives.MaxWords {
		return held, 0, &plan.Declined{Why: fmt.Sprintf("%d rows are more than a block of the device holds", most)}
	}
	if n == 0 {
		for range right {
			held[1] = append(held[1], &physical.Held{On: primitives.Vector{}})
		}
		held[0], err = Taken(run, d, left, primitives.Vector{})
		return held, 0, err
	}
	of := &partnered{run, d.Primitives}
	if kind == plan.Semi && fewPlaces*places.N < n {
		all, err := of.distinct(n, places)
		if err != nil {
			return held, 0, err
		}
		held[0], err = Taken(run, d, left, all)
		return held, all.N, err
	}
	has, err := of.has(n, places)
	if err != nil {
		return held, 0, err
	}
	all := places
	if kind == plan.Semi {
		all, err = of.compacted(has)
	} else {
		without := primitives.New(n)
		if err = primitives.Map(run, d.Primitives, primitives.Expr("1u - x"), without, has); err != nil {
			return held, 0, err
		}
		if without, err = of.compacted(without); err != nil {
			return held, 0, err
		}
		if all = without; kind == plan.LeftOuter {
			if all, err = concatenated(run, d.Primitives, places, without); err != nil {
				return held, 0, err
			}
			nobody := primitives.New(without.N)
			if without.N > 0 {
				err = primitives.Map(run, d.Primitives, primitives.Func{Expr: "c0", Constants: []uint32{math.MaxUint32}}, nobody)
			}
			for _, list := range right {
				if err == nil {
					list, err = concatenated(run, d.Primitives, list, nobody)
				}
				held[1] = append(held[1], &physical.Held{N: list.N, On: list})
			}
		}
	}
	if err != nil {
		return held, 0, err
	}
	held[0], err = Taken(run, d, left, all)
	return held, all.N, err
}

// fewPlaces is how many times as many rows as places there are where the places are sorted, and the other rows are not looked at.
const fewPlaces = 8

// partnered is [Partnered] at work.
type partnered struct {
	run pass.Runner
	d   primitives.Shapes
}

// has has 1 for each of n rows that a list of places has, else 0.
func (p *partnered) has(n int, places primitives.Vector) (primitives.Vector, error) {
	has := primitives.Zeros(n)
	if places.N == 0 {
		return has, nil
	}
	ones := primitives.New(places.N)
	if err := primitives.Map(p.run, p.d, primitives.Expr("1u"), ones); err != nil {
		return has, err
	}
	return has, primitives.Scatter(p.run, p.d, ones, places, has)
}

// distinct are the different places below n of a list, in order.
func (p *partnered) distinct(n int, places primitives.Vector) (primitives.Vector, error) {
	if places.N == 0 {
		return primitives.Vector{}, nil
	}
	sorted, before, previous, marks := primitives.New(places.N), primitives.New(places.N), primitives.New(places.N), primitives.New(places.N)
	if err := primitives.Sort(p.run, p.d, primitives.Keys{Words: places, Bits: max(1, bits.Len(uint(n-1)))}, sorted, primitives.Vector{}); err != nil {
		return sorted, err
	}
	if err := primitives.Map(p.run, p.d, primitives.Expr("max(i, 1u) - 1u"), before); err != nil {
		return sorted, err
	}
	if err := primitives.Gather(p.run, p.d, sorted, before, previous); err != nil {
		return sorted, err
	}
	if err := primitives.Map(p.run, p.d, primitives.Expr("uint(i == 0u || x != y)"), marks, sorted, previous); err != nil {
		return sorted, err
	}
	first, err := p.compacted(marks)
	if err != nil || first.N == places.N {
		return sorted, err
	}
	out := primitives.New(first.N)
	return out, primitives.Gather(p.run, p.d, sorted, first, out)
}

// compacted are the places of the words that are 1, in order. The others are 0.
func (p *partnered) compacted(marks primitives.Vector) (primitives.Vector, error) {
	if marks.N == 0 {
		return primitives.Vector{}, nil
	}
	total := primitives.New(1)
	if err := primitives.Reduce(p.run, p.d, primitives.Add, marks, total); err != nil {
		return total, err
	}
	words, err := total.Read(p.run)
	if err != nil || words[0] == 0 {
		return primitives.Vector{}, err
	}
	to, from := primitives.New(marks.N), primitives.New(marks.N)
	if err := primitives.Map(p.run, p.d, primitives.Expr("i"), from); err != nil || int(words[0]) == marks.N {
		return from, err
	}
	if err := primitives.Scan(p.run, p.d, primitives.Add, primitives.ScanShape{}, marks, to); err != nil {
		return to, err
	}
	if err := primitives.Map(p.run, p.d, primitives.Expr("y > 0u ? x : 0xffffffffu"), to, to, marks); err != nil {
		return to, err
	}
	places := primitives.New(int(words[0]))
	return places, primitives.Scatter(p.run, p.d, from, to, places)
}

// concatenated is vectors one behind the other, in a new one.
func concatenated(run pass.Runner, d primitives.Shapes, list ...primitives.Vector) (primitives.Vector, error) {
	n := 0
	for _, v := range list {
		n += v.N
	}
	if n == 0 {
		return primitives.Vector{}, nil
	}
	out, at := primitives.New(n), 0
	for _, v := range list {
		if v.N == 0 {
			continue
		}
		places := primitives.New(v.N)
		if err := primitives.Map(run, d, primitives.Func{Expr: "i + c0", Constants: []uint32{uint32(at)}}, places); err != nil {
			return out, err
		}
		if err := primitives.Scatter(run, d, v, places, out); err != nil {
			return out, err
		}
		at += v.N
	}
	return out, nil
}
