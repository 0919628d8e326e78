package gpujoin

import (
	"cmp"
	"context"
	"fmt"
	"runtime"
	"slices"
	"sync"
	"time"

	"github.com/stencildb/stencildb/cpu/join"
	"github.com/stencildb/stencildb/engine/backends"
	"github.com/stencildb/stencildb/engine/querystats"
	"github.com/stencildb/stencildb/expr"
	"github.com/stencildb/stencildb/internal/numbers"
	"github.com/stencildb/stencildb/internal/parallel"
	"github.com/stencildb/stencildb/pass"
	"github.com/stencildb/stencildb/plan"
	"github.com/stencildb/stencildb/plan/physical"
	"github.com/stencildb/stencildb/relational"
	"github.com/stencildb/stencildb/table"
)

// subJoin is a part of a join: each pair of the whole is one of one part.
type subJoin struct{ left, right physical.Bucket }

func (j *subJoin) size() int { return j.left.Len() + j.right.Len() }

// bucketsLog is the logarithm of how many parts a join has that both processors share.
const bucketsLog = 6

// subJoins divides a join into parts by a hash of the keys. For nested loops and comparisons other than = it divides the outer side (GDB,
// section 5).
func subJoins(ctx context.Context, q *physical.JoinQuery) (list []subJoin, selected [2]int, err error) {
	log, loops := bucketsLog, q.Cmp != expr.EQ || q.Algorithm == "loops"
	if loops {
		log = 0
	}
	sides, err := dealt(ctx, q, log)
	if err != nil {
		return nil, selected, err
	}
	for i := range sides {
		for _, b := range sides[i] {
			selected[i] += b.Len()
		}
	}
	if loops {
		outer, inner := sides[0][0], join.SortBucket(sides[1][0])
		for n, i := outer.Len(), 0; i < 1<<bucketsLog; i++ {
			list = append(list, subJoin{outer.Cut(n*i>>bucketsLog, n*(i+1)>>bucketsLog), inner})
		}
	} else {
		for i := range sides[0] {
			list = append(list, subJoin{sides[0][i], sides[1][i]})
		}
	}
	list = slices.DeleteFunc(list, func(j subJoin) bool { return j.left.Len() == 0 || j.right.Len() == 0 })
	slices.SortStableFunc(list, func(a, b subJoin) int { return cmp.Compare(b.size(), a.size()) })
	return list, selected, nil
}

// sharing is a join whose parts are handed out as processors become free: the largest to the faster one, the smallest to the other.
type sharing struct {
	q  *physical.JoinQuery
	mu sync.Mutex

	left  []subJoin // the largest first
	found physical.JoinPairs
	many  bool             // there are more pairs than are wanted: they are counted
	took  [2]time.Duration // from the start to the end of the last part that a side has done
	parts [2]int
}

// next hands out a part; list says that its pairs are wanted.
func (s *sharing) next(largest bool) (j subJoin, list, ok bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	n := len(s.left)
	switch {
	case n == 0:
		return j, false, false
	case largest:
		j, s.left = s.left[0], s.left[1:]
	default:
		j, s.left = s.left[n-1], s.left[:n-1]
	}
	return j, !s.many && s.q.Limit > 0, true
}

// add takes in the pairs of a part.
func (s *sharing) add(side int, of physical.JoinPairs, took time.Duration) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.parts[side]++
	s.took[side] = took
	s.found.N += of.N
	if s.many = s.many || s.q.Limit == 0 || s.found.N > s.q.Limit; s.many {
		s.found.Rows = [2][]uint32{}
		return
	}
	for i := range of.Rows {
		s.found.Rows[i] = append(s.found.Rows[i], of.Rows[i]...)
	}
}

// work does one part after the other.
func (s *sharing) work(ctx context.Context, side int, faster bool, join func(left, right physical.Bucket, list bool) (physical.JoinPairs, error)) error {
	for start := time.Now(); ; {
		j, list, ok := s.next(faster)
		if !ok || ctx.Err() != nil {
			return ctx.Err()
		}
		found, err := join(j.left, j.right, list)
		if err != nil {
			return err
		}
		s.add(side, found, time.Since(start))
	}
}

// together finds the pairs of a join by the devices and cpu together (EXEC_COP); faster is the side that takes less for all. A [plan.Declined] where
// it is not divided, or a row has an error, which cpu knows the first of.
func (p *Pairing) together(ctx context.Context, q *physical.JoinQuery, faster int) (found physical.JoinPairs, how string, err error) {
	err = p.View.On(ctx, "compute", &p.opening, func(b backends.Backend) error {
		p.Took.Start(b.Name(), p.opening)
		p.opening = 0
		list, selected, err := subJoins(ctx, q)
		if err != nil {
			return err
		}
		s := &sharing{q: q, left: list, found: physical.JoinPairs{Selected: selected}}
		room := b.(*backends.Passes).Room() / 2
		sides, inner := parallel.WithContext(ctx)
		var notes []*Noting
		for _, g := range b.(*backends.Passes).GPUs {
			n := &Noting{Runner: g.GL, G: g, Of: func(*pass.Pass) *table.Table { return q.Sides[0].Table }}
			notes = append(notes, n)
			sides.Go(g.Start(inner, q.Sides[0], n, p.Took, func(run pass.Runner) error {
				return s.work(inner, querystats.OnDevices, faster == querystats.OnDevices, relational.NewBuckets(run, g.Computes, q, room).Join)
			}))
		}
		for range max(1, runtime.GOMAXPROCS(0)-1) { // one is the device's
			sides.Go(func() error {
				return s.work(inner, querystats.OnHost, faster == querystats.OnHost, func(left, right physical.Bucket, list bool) (physical.JoinPairs, error) {
					return join.JoinBuckets(q, left, right, list), nil
				})
			})
		}
		if err := sides.Wait(); err != nil {
			return err
		}
		for _, n := range notes {
			p.Ran = append(p.Ran, backends.Added(n.Steps)...)
		}
		found, how = s.found, fmt.Sprintf("%d sub-joins on compute, %d on cpu", s.parts[querystats.OnDevices], s.parts[querystats.OnHost])
		p.choices = append(p.choices, backends.Step{Pass: "Divide(join)", Counts: fmt.Sprintf("sub-joins %d: compute %d in %s, cpu %d in %s", len(list), s.parts[querystats.OnDevices],
			numbers.Milliseconds(s.took[querystats.OnDevices].Seconds()), s.parts[querystats.OnHost], numbers.Milliseconds(s.took[querystats.OnHost].Seconds()))})
		return nil
	})
	if backends.Again(ctx, err) {
		err = &plan.Declined{Why: err.Error()}
	}
	return found, how, err
}
