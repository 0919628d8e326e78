package backends

import (
	"context"
	"errors"
	"math/rand/v2"
	"testing"

	"pgregory.net/rapid"

	"github.com/stencildb/stencildb/aggregates"
	"github.com/stencildb/stencildb/compute"
	"github.com/stencildb/stencildb/cpu"
	"github.com/stencildb/stencildb/expr"
	"github.com/stencildb/stencildb/fused"
	"github.com/stencildb/stencildb/glctx"
	"github.com/stencildb/stencildb/internal/gltest"
	"github.com/stencildb/stencildb/internal/plantest"
	"github.com/stencildb/stencildb/pass"
	"github.com/stencildb/stencildb/plan"
	"github.com/stencildb/stencildb/plan/partial"
	"github.com/stencildb/stencildb/plan/physical"
	"github.com/stencildb/stencildb/predicates"
	"github.com/stencildb/stencildb/table"
)

// thread runs functions one after the other, as a GL context's does.
type thread chan func()

func (th thread) do(f func()) {
	done := make(chan struct{})
	th <- func() { f(); close(done) }
	<-done
}

// merged joins the selections of parts, if there are several.
func merged(q *physical.Query, parts []partial.Selection) partial.Partial {
	if len(parts) == 1 {
		return parts[0]
	}
	return partial.Merge(q, len(parts), func(i int, do func(partial.Selection) error) func() error {
		err := do(parts[i]) // on the one GL thread
		return func() error { return err }
	})
}

// onThread is a selection whose methods run on a thread.
type onThread struct {
	thread
	s partial.Selection
}

func (o onThread) Check() (err error) {
	o.do(func() { err = o.s.Check() })
	return err
}

func (o onThread) Count() (n uint64, err error) {
	o.do(func() { n, err = o.s.Count() })
	return n, err
}

func (o onThread) CountNotNull(col int) (n uint64, err error) {
	o.do(func() { n, err = o.s.CountNotNull(col) })
	return n, err
}

func (o onThread) Sum(col int) (sum partial.Sum, err error) {
	o.do(func() { sum, err = o.s.Sum(col) })
	return sum, err
}

func (o onThread) Kth(col int, k uint64, largest bool) (v table.Value, err error) {
	o.do(func() { v, err = o.s.Kth(col, k, largest) })
	return v, err
}

func (o onThread) CountAtLeast(col int, s *physical.CodeSpace, d partial.Digit) (n []uint64, err error) {
	o.do(func() { n, err = o.s.CountAtLeast(col, s, d) })
	return n, err
}

func (o onThread) DigitBits(left uint64) int { return o.s.DigitBits(left) }

func (o onThread) VisitBits() int { return o.s.VisitBits() }

// The chunks of a table on several backends, some of which have none of them, give the answer that one
// backend gives for all. Else all give the same error.
func TestPartsMergeToTheWhole(t *testing.T) {
	gltest.Run(t, 0, func(ctx *glctx.Context, g *pass.GL) {
		draws, scans, goroutines := predicates.LimitsOf(ctx.Caps()), compute.ProfileOf(ctx.Caps()), cpu.New(2)
		backends := []func(q *physical.Query) (partial.Selection, error){
			func(q *physical.Query) (partial.Selection, error) { return goroutines.Select(context.Background(), q) },
			func(q *physical.Query) (partial.Selection, error) { return compute.Select(g, scans, q) },
			func(q *physical.Query) (partial.Selection, error) { return fused.Select(g, draws, q) },
			func(q *physical.Query) (partial.Selection, error) { return aggregates.Select(g, draws, q) },
		}
		compared, failed := 0, 0
		rapid.Check(t, func(t *rapid.T) {
			tab := plantest.Table(t, plantest.Default())
			for range 3 {
				q, err := physical.NewQuery(tab, plantest.Query(t, tab, plantest.Default()))
				if err != nil {
					continue
				}
				places := make([][]int, rapid.IntRange(1, 3).Draw(t, "parts"))
				for i := range q.Chunks {
					p := rapid.IntRange(0, len(places)-1).Draw(t, "part")
					places[p] = append(places[p], i)
				}
				main, open := make(thread), backends
				var parts []partial.Selection
				for _, chunks := range places {
					part := q
					if len(places) > 1 {
						part = q.Part(chunks)
					}
					b := rapid.IntRange(0, len(open)-1).Draw(t, "backend")
					s, err := open[b](part)
					if b == len(backends)-1 { // a device has one stencil buffer for the queries of classic
						open = backends[:b]
					}
					if err != nil {
						break
					}
					parts = append(parts, onThread{main, s})
				}
				if len(parts) < len(places) {
					continue
				}
				want, wantErr := goroutines.Execute(context.Background(), q)
				var got []table.Value
				go func() {
					defer close(main)
					got, err = partial.Finish(merged(q, parts), q)
				}()
				for f := range main {
					f()
				}
				g.End()
				if declined := (*plan.Declined)(nil); errors.As(err, &declined) {
					continue
				}
				if err != nil || wantErr != nil {
					failed++
					if err == nil || wantErr == nil || err.Error() != wantErr.Error() {
						t.Fatalf("%v of %v: error %v, the whole has %v", q.Aggs, places, err, wantErr)
					}
					continue
				}
				compared++
				for i, v := range want {
					if got[i].String() != v.String() {
						t.Fatalf("%v of %v is %v, the whole's is %v", q.Aggs[i], places, got[i], v)
					}
				}
			}
		})
		if compared == 0 || failed == 0 {
			t.Errorf("%d answers compared, %d errors", compared, failed)
		}
	})
}

// Parts that look ahead, and count few values by many bits at once, as on hardware, find the k-th values
// of the whole. Columns have 40 bits, with NULLs and without, and chunks have other values.
func TestPartsCountByWideDigits(t *testing.T) {
	gltest.Run(t, 0, func(ctx *glctx.Context, g *pass.GL) {
		d := compute.ProfileOf(ctx.Caps())
		d.Software, d.Fuse, d.Multiprocessors, d.Together, d.Few = false, true, 1, 1, 500
		goroutines := cpu.New(2)
		for seed := range uint64(8) {
			rng := rand.New(rand.NewPCG(seed, 7))
			q := ranked(t, rng, 40)
			want, err := goroutines.Execute(context.Background(), q)
			if err != nil {
				t.Fatal(err)
			}
			var parts []partial.Selection
			main := make(thread)
			for _, chunks := range [][]int{{0, 2, 4}, {3, 1}} {
				s, err := compute.Select(g, d, q.Part(chunks))
				if err != nil {
					t.Fatal(err)
				}
				parts = append(parts, anyWidth{onThread{main, s}, rng})
			}
			var got []table.Value
			go func() {
				defer close(main)
				got, err = partial.Finish(merged(q, parts), q)
			}()
			for f := range main {
				f()
			}
			if g.End(); err != nil {
				t.Fatal(err)
			}
			for i, v := range want {
				if got[i].String() != v.String() {
					t.Errorf("%v is %v, want %v", q.Aggs[i], got[i], v)
				}
			}
		}
	})
}

// anyWidth is a part whose digits have few bits or many.
type anyWidth struct {
	onThread
	rng *rand.Rand
}

func (a anyWidth) DigitBits(left uint64) int {
	if a.rng.IntN(4) == 0 {
		return min(1+a.rng.IntN(12), a.onThread.DigitBits(left))
	}
	return a.onThread.DigitBits(left)
}

// ranked is k-th values of a column of that many bits over five chunks. One chunk has NULLs and mostly small
// values, one has one value again and again, and one has no value.
func ranked(t *testing.T, rng *rand.Rand, width int) *physical.Query {
	integer := table.Type{Kind: table.BigInt}
	tab := &table.Table{Name: "t", Fields: []table.Field{{Name: "x", Type: integer}, {Name: "s", Type: integer}}}
	for i, rows := range []int{9000, 5000, 8193, 1, 700} {
		fields := table.NewBuilder("t", tab.Fields, rows)
		same := rng.Uint64() >> (64 - width)
		for range rows {
			x := rng.Uint64() >> (64 - width)
			switch {
			case i == 1 && rng.IntN(4) > 0:
				x >>= 5
			case i == 2:
				x = same
			}
			fields.Column(0).Value(table.Value{Type: integer, I: int64(x), Null: i == 4 || i == 1 && rng.IntN(3) == 0})
			fields.Column(1).Value(table.Int(rng.Int64N(100)))
			if err := fields.EndRow(); err != nil {
				t.Fatal(err)
			}
		}
		tab.Chunks = append(tab.Chunks, fields.Table().Chunks...)
	}
	q := &plan.Fragment{Table: "t", Where: &expr.Compare{Op: expr.LT, L: &expr.Column{Index: 1, Name: "s", T: integer}, R: &expr.Const{V: table.Int(70)}}}
	for _, f := range []float64{0.1, 0.5, 0.97} {
		q.Aggs = append(q.Aggs, expr.Aggregate{Kind: expr.Percentile, Col: 0, Name: "x", Arg: integer, F: f, P: -1})
	}
	p, err := physical.NewQuery(tab, q)
	if err != nil {
		t.Fatal(err)
	}
	return p
}
