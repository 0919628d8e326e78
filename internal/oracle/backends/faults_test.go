package backends

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"maps"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/stencildb/stencildb/aggregates"
	"github.com/stencildb/stencildb/compute"
	"github.com/stencildb/stencildb/cpu"
	"github.com/stencildb/stencildb/cpu/aggregation"
	"github.com/stencildb/stencildb/expr"
	"github.com/stencildb/stencildb/fused"
	"github.com/stencildb/stencildb/glctx"
	"github.com/stencildb/stencildb/internal/gltest"
	"github.com/stencildb/stencildb/pass"
	"github.com/stencildb/stencildb/plan"
	"github.com/stencildb/stencildb/plan/partial"
	"github.com/stencildb/stencildb/plan/physical"
	"github.com/stencildb/stencildb/predicates"
	"github.com/stencildb/stencildb/relational"
	"github.com/stencildb/stencildb/table"
)

// faulty is a table of two chunks of narrow and wide codes, with NULLs and without.
func faulty(t *testing.T) *table.Table {
	integer := table.Type{Kind: table.BigInt}
	b := table.NewBuilder("t", []table.Field{{Name: "x", Type: integer}, {Name: "w", Type: integer}, {Name: "y", Type: integer}}, 400)
	rng := rand.New(rand.NewPCG(7, 8))
	for range 700 {
		for col, most := range []int64{500, 1 << 26, 40} {
			if col < 2 && rng.IntN(9) == 0 {
				b.Column(col).Null()
			} else {
				b.Column(col).Value(table.Int(1 + rng.Int64N(most)))
			}
		}
		if err := b.EndRow(); err != nil {
			t.Fatal(err)
		}
	}
	return b.Table()
}

// faultyQuery asks for aggregates, or for rows where there are none, of the records with (x < 200 OR w
// > 2^24) AND 1000 / y > 30. That has to be checked for y = 0.
func faultyQuery(t *testing.T, tab *table.Table, aggs ...expr.Aggregate) *physical.Query {
	integer := table.Type{Kind: table.BigInt}
	compare := func(op expr.CmpOp, l expr.Expr, n int64) expr.Expr {
		return &expr.Compare{Op: op, L: l, R: &expr.Const{V: table.Int(n)}}
	}
	col := func(i int) expr.Expr { return &expr.Column{Index: i, Name: tab.Fields[i].Name, T: integer} }
	zero := &expr.Arith{Op: expr.Sub, L: col(2), R: col(2), T: integer}
	divided := &expr.Arith{Op: expr.Div, L: &expr.Const{V: table.Int(1000)}, R: &expr.Arith{Op: expr.Add, L: col(2), R: zero, T: integer}, T: integer}
	where := &expr.And{Kids: []expr.Expr{
		&expr.Or{Kids: []expr.Expr{compare(expr.LT, col(0), 200), compare(expr.GT, col(1), 1<<24)}}, compare(expr.GT, divided, 30)}}
	q, err := physical.NewQuery(tab, &plan.Fragment{Table: "t", Where: where, Aggs: aggs})
	if err != nil {
		t.Fatal(err)
	}
	return q
}

// counting is a context that ends when it is asked for the at-th time, from 0.
type counting struct {
	context.Context
	at, calls atomic.Int64
}

func (c *counting) Err() error {
	if c.calls.Add(1) > c.at.Load() {
		return context.Canceled
	}
	return nil
}

// faultCase is something to be run, and what comes of it.
type faultCase struct {
	what, want string
	run        func(pass.Runner) (string, error)
}

// listedGroups is groups as text.
func listedGroups(groups iter.Seq2[aggregation.GroupRows, error]) (text string, err error) {
	for rows, err := range aggregation.InValues(groups) {
		if err != nil {
			return "", err
		}
		text += fmt.Sprint(rows)
	}
	return text, nil
}

// A statement whose n-th call of its runner fails ends with that error, for every n and each of the
// runner's methods. It leaves no GL object and no memory behind. The same statement is right after it.
// On cpu the context ends instead.
func TestFaultsLeaveNothingBehind(t *testing.T) {
	tab := faulty(t)
	agg := func(kind expr.AggKind, col int) expr.Aggregate {
		return expr.Aggregate{Kind: kind, Col: col, Name: tab.Fields[col].Name, Arg: table.Type{Kind: table.BigInt}, F: 0.5}
	}
	answers := faultyQuery(t, tab, expr.Aggregate{Kind: expr.CountAll, Col: -1}, agg(expr.Sum, 0), agg(expr.Sum, 1), agg(expr.Count, 1),
		agg(expr.Min, 0), agg(expr.Max, 1), agg(expr.Percentile, 0), agg(expr.Percentile, 1))
	rows := faultyQuery(t, tab)
	one := cpu.New(1)
	finish := func(q *physical.Query, parts ...partial.Selection) (string, error) {
		values, err := partial.Finish(merged(q, parts), q)
		return fmt.Sprint(values), err
	}
	want, err := finish(answers, selected(t, one, answers))
	if err != nil {
		t.Fatal(err)
	}
	listed, err := rowsOnCPU(context.Background(), one, rows)
	if err != nil || listed == "" {
		t.Fatal(listed, err)
	}
	groups, byY := *faultyQuery(t, tab), &plan.Aggregate{Keys: []expr.Expr{&expr.Column{Index: 2, Name: "y", T: tab.Fields[2].Type}},
		Aggs: []expr.Aggregate{{Kind: expr.CountAll, Col: -1}, agg(expr.Sum, 1), agg(expr.Min, 0)}}
	groups.Groups = byY
	counted, err := listedGroups(aggregation.Group(context.Background(), tab, byY, one.Rows(context.Background(), rows)))
	if err != nil || counted == "" {
		t.Fatal(counted, err)
	}
	order := *faultyQuery(t, tab.With(tab.Chunks[0]))
	order.Order = &plan.Sort{Keys: []expr.SortKey{{E: &expr.Column{Index: 2, Name: "y", T: tab.Fields[2].Type}, Desc: true}}, Limit: -1}
	var byHand []uint32
	for b, err := range one.Rows(context.Background(), &order) {
		if err != nil {
			t.Fatal(err)
		}
		for i := range b.Len() {
			byHand = append(byHand, uint32(b.Row(i)))
		}
	}
	y := tab.Chunks[0].Segments[2]
	slices.SortStableFunc(byHand, func(a, b uint32) int { return table.Compare(y.Value(int(b)), y.Value(int(a))) })
	sorted, firstTen := fmt.Sprint(byHand), fmt.Sprint(byHand[:10])
	valuesOf := func(s *table.Segment, rows []uint32) (text string) {
		for _, row := range rows {
			text += s.Value(int(row)).String() + " "
		}
		return text
	}
	alone := valuesOf(y, byHand)
	gathered := *faultyQuery(t, tab)
	gathered.ValuesOnly, gathered.Columns = true, []int{2}
	var ofFirst []uint32
	for b, err := range one.Rows(context.Background(), &gathered) {
		if err != nil {
			t.Fatal(err)
		}
		for i := range b.Len() {
			if b.Chunk == 0 {
				ofFirst = append(ofFirst, uint32(b.Row(i)))
			}
		}
	}
	values := valuesOf(y, ofFirst)
	gltest.Run(t, 0, func(ctx *glctx.Context, g *pass.GL) {
		draws, scans := predicates.LimitsOf(ctx.Caps()), compute.ProfileOf(ctx.Caps())
		gathers := scans // as hardware does
		gathers.Software, gathers.Fuse, gathers.Multiprocessors = false, true, 1
		failed := map[string]bool{}
		for _, b := range []struct {
			name   string
			choose func(pass.Runner, *physical.Query) (partial.Selection, error)
			rows   func(run pass.Runner, q *physical.Query, chunk int) ([]physical.SelectedRows, error)
		}{
			{"classic", func(r pass.Runner, q *physical.Query) (partial.Selection, error) {
				return aggregates.Select(r, draws, q)
			},
				func(r pass.Runner, q *physical.Query, chunk int) ([]physical.SelectedRows, error) {
					return aggregates.Rows(r, draws, q, chunk)
				}},
			{"fused", func(r pass.Runner, q *physical.Query) (partial.Selection, error) { return fused.Select(r, draws, q) },
				func(r pass.Runner, q *physical.Query, chunk int) ([]physical.SelectedRows, error) {
					return fused.Rows(r, draws, q, chunk)
				}},
			{"compute", func(r pass.Runner, q *physical.Query) (partial.Selection, error) { return compute.Select(r, scans, q) },
				func(r pass.Runner, q *physical.Query, chunk int) ([]physical.SelectedRows, error) {
					return compute.Rows(r, scans, q, chunk)
				}},
		} {
			whole := func(r pass.Runner) (string, error) {
				s, err := b.choose(r, answers)
				if err != nil {
					return "", err
				}
				return finish(answers, s)
			}
			part := func(r pass.Runner) (string, error) { // order statistics go by counts at thresholds
				s, err := b.choose(r, answers.Part([]int{0, 1}))
				if err != nil {
					return "", err
				}
				none, err := b.choose(r, answers.Part(nil))
				if err != nil {
					return "", err
				}
				main, got := make(thread), ""
				go func() {
					defer close(main)
					got, err = finish(answers, onThread{main, s}, onThread{main, none})
				}()
				for f := range main {
					f()
				}
				return got, err
			}
			list := func(r pass.Runner) (string, error) { return rowsOnGPU(r, rows, b.choose, b.rows) }
			cases := []faultCase{{"answers", want, whole}, {"a part's answers", want, part}, {"rows", listed, list}}
			if b.name == "compute" {
				cases = append(cases, faultCase{"order", sorted, func(r pass.Runner) (string, error) {
					runs, err := relational.Order(r, scans, &order)
					if err != nil {
						return "", err
					}
					return fmt.Sprint(runs[0].Rows), nil
				}}, faultCase{"first rows", firstTen, func(r pass.Runner) (string, error) {
					ten := order
					ten.Order = &plan.Sort{Keys: order.Order.Keys, Limit: 10}
					runs, err := relational.Order(r, scans, &ten)
					if err != nil {
						return "", err
					}
					return fmt.Sprint(runs[0].Rows), nil
				}}, faultCase{"gathered values", values, func(r pass.Runner) (string, error) {
					marked, err := compute.Rows(r, gathers, &gathered, 0)
					if err != nil {
						return "", err
					}
					var text string
					for _, m := range marked {
						for _, c := range m.Values {
							for i := range c.Rows {
								text += c.Segments[2].Value(i).String() + " "
							}
						}
					}
					return text, nil
				}}, faultCase{"groups", counted, func(r pass.Runner) (string, error) {
					states, err := relational.Groups(r, scans, &groups)
					if err != nil {
						return "", err
					}
					return listedGroups(aggregation.GroupStates(context.Background(), tab, byY, states))
				}})
			}
			if b.name == "classic" {
				cases = append(cases, faultCase{"order", sorted, func(r pass.Runner) (string, error) {
					out, err := aggregates.Order(r, draws, &order)
					return fmt.Sprint(out.Rows), err
				}}, faultCase{"keys alone", alone, func(r pass.Runner) (string, error) {
					of := order
					of.KeyOnly = true
					out, err := aggregates.Order(r, draws, &of)
					if err != nil {
						return "", err
					}
					places := make([]uint32, out.Keys.Rows())
					for i := range places {
						places[i] = uint32(i)
					}
					return valuesOf(out.Keys, places), nil
				}})
			}
			for _, c := range cases {
				what := b.name + ", " + c.what
				all := &pass.Failer{Runner: g, At: math.MaxInt}
				for range 2 { // what is resident, and what is kept for the next
					all.Calls = 0
					if got, err := c.run(all); err != nil || got != c.want {
						t.Fatalf("%s: %s, %v, not %s", what, got, err, c.want)
					}
					g.End()
				}
				live, usage := ctx.Live(), g.Store().Usage()
				for at := range all.Calls {
					got, err := c.run(&pass.Failer{Runner: g, At: at, Err: glctx.ErrOutOfMemory})
					g.End()
					g.Store().Finish() // as after queries that fail
					if !errors.Is(err, glctx.ErrOutOfMemory) {
						t.Fatalf("%s: %s, error %v though call %d of %d failed", what, got, err, at, all.Calls)
					}
					for _, method := range []string{"pass ", "the count of pass ", "reading a block back: ", "reading a block back in parts: ", "reading texels back: "} {
						failed[method] = failed[method] || strings.Contains(err.Error(), method)
					}
					if d := cmp.Diff(live, ctx.Live()) + cmp.Diff(usage, g.Store().Usage()); d != "" {
						t.Fatalf("%s: after the fault of call %d of %d: %s", what, at, all.Calls, d)
					}
				}
				if got, err := c.run(g); err != nil || got != c.want {
					t.Errorf("%s: %s, %v after faults, not %s", what, got, err, c.want)
				}
				g.End()
			}
		}
		if len(failed) != 5 || slices.Contains(slices.Collect(maps.Values(failed)), false) {
			t.Errorf("failed: %v", failed)
		}
	})
	for what, run := range map[string]func(context.Context) (string, error){
		want: func(ctx context.Context) (string, error) {
			a, err := one.Execute(ctx, answers)
			if err != nil {
				return "", err
			}
			return fmt.Sprint(a), nil
		},
		listed: func(ctx context.Context) (string, error) { return rowsOnCPU(ctx, one, rows) },
	} {
		all := &counting{Context: context.Background()}
		all.at.Store(math.MaxInt64)
		if got, err := run(all); err != nil || got != what {
			t.Fatalf("cpu: %s, %v, not %s", got, err, what)
		}
		for at := range all.calls.Load() {
			c := &counting{Context: context.Background()}
			c.at.Store(at)
			if got, err := run(c); !errors.Is(err, context.Canceled) {
				t.Fatalf("cpu: %s, error %v though the context ended at call %d of %d", got, err, at, all.calls.Load())
			}
		}
	}
}

func selected(t *testing.T, b *cpu.Backend, q *physical.Query) partial.Selection {
	s, err := b.Select(context.Background(), q)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// rowsOnCPU lists the selected rows of a query.
func rowsOnCPU(ctx context.Context, b *cpu.Backend, q *physical.Query) (string, error) {
	var list []string
	for block, err := range b.Rows(ctx, q) {
		if err != nil {
			return "", err
		}
		for i := range block.Len() {
			row := uint32(block.First + i)
			if block.Rows != nil {
				row = block.Rows[i]
			}
			list = append(list, fmt.Sprintf("%d:%d", block.Chunk, row))
		}
	}
	return strings.Join(list, " "), nil
}

// rowsOnGPU is rowsOnCPU by the passes of a backend.
func rowsOnGPU(run pass.Runner, q *physical.Query, choose func(pass.Runner, *physical.Query) (partial.Selection, error),
	find func(pass.Runner, *physical.Query, int) ([]physical.SelectedRows, error)) (string, error) {
	var list []string
	for i := range q.Chunks {
		s, err := choose(run, q.Part([]int{i}))
		if err == nil {
			err = s.Check()
		}
		if err != nil {
			return "", err
		}
		marked, err := find(run, q, i)
		if err != nil {
			return "", err
		}
		for _, m := range marked {
			for rows := range m.Lists(64) {
				for _, r := range rows {
					list = append(list, fmt.Sprintf("%d:%d", i, r))
				}
			}
		}
	}
	return strings.Join(list, " "), nil
}
