package relational

import (
	"fmt"
	"math"

	"github.com/stencildb/stencildb/compute"
	"github.com/stencildb/stencildb/pass"
	"github.com/stencildb/stencildb/plan"
	"github.com/stencildb/stencildb/plan/physical"
	"github.com/stencildb/stencildb/primitives"
)

// Partnered makes the rows of a semi, an anti or a left join of its pairs. The left side has n rows. places are those of the pairs in it, in any
// order and each any number of times. The result is rows of the lists of the left side and, of a left join, of right, which are lists of the
// pairs: a left row without a pair has no right row there. Rows that have no pair come last.
func Partnered(run pass.Runner, d compute.Profile, kind plan.JoinKind, n int, places primitives.Vector, left []physical.RowIDs, right []primitives.Vector) (held [2][]*physical.Held, rows int, err error) {
	if most := max(n, n+places.N); most > d.Primitives.MaxWords {
		return held, 0, &plan.Declined{Why: fmt.Sprintf("%d rows are more than a block of the device holds", most)}
	}
	of := &partnered{run, d.Primitives}
	has, err := of.has(n, places)
	if err != nil {
		return held, 0, err
	}
	all := places
	if kind == plan.Semi || n == 0 {
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

// partnered is [Partnered] at work.
type partnered struct {
	run pass.Runner
	d   primitives.Shapes
}

// has has 1 for each of n rows that a list of places has, else 0.
func (p *partnered) has(n int, places primitives.Vector) (primitives.Vector, error) {
	has := primitives.Zeros(max(1, n)).First(n)
	if places.N == 0 || n == 0 {
		return has, nil
	}
	ones := primitives.New(places.N)
	if err := primitives.Map(p.run, p.d, primitives.Expr("1u"), ones); err != nil {
		return has, err
	}
	return has, primitives.Scatter(p.run, p.d, ones, places, has)
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
