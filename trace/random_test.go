package trace

import (
	"errors"
	"fmt"
	"math/big"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/stencildb/stencildb/aggregates"
	"github.com/stencildb/stencildb/compute"
	"github.com/stencildb/stencildb/engine"
	"github.com/stencildb/stencildb/fused"
	"github.com/stencildb/stencildb/glctx"
	"github.com/stencildb/stencildb/internal/gltest"
	"github.com/stencildb/stencildb/internal/numbers"
	"github.com/stencildb/stencildb/internal/plantest"
	"github.com/stencildb/stencildb/pass"
	"github.com/stencildb/stencildb/plan"
	"github.com/stencildb/stencildb/plan/physical"
	"github.com/stencildb/stencildb/predicates"
	"github.com/stencildb/stencildb/table"
)

// backendsOf are the backends that have passes.
func backendsOf(ctx *glctx.Context) map[string]func(pass.Runner, *physical.Query) ([]table.Value, error) {
	draws, scans := predicates.LimitsOf(ctx.Caps()), compute.ProfileOf(ctx.Caps()).ByChunk()
	return map[string]func(pass.Runner, *physical.Query) ([]table.Value, error){
		"classic": func(r pass.Runner, q *physical.Query) ([]table.Value, error) { return aggregates.Run(r, draws, q) },
		"fused": func(r pass.Runner, q *physical.Query) ([]table.Value, error) {
			return gltest.Answer(fused.Select)(r, draws, q)
		},
		"compute": func(r pass.Runner, q *physical.Query) ([]table.Value, error) {
			return gltest.Answer(compute.Select)(r, scans, q)
		},
	}
}

// Random queries over random tables, on each backend. Looking at the passes changes no answer. The
// records seen to pass are as many as were counted, and searches and sums end at the answer.
func TestRandomQueriesUnderWatch(t *testing.T) {
	gltest.Run(t, 0, func(ctx *glctx.Context, g *pass.GL) {
		backends := backendsOf(ctx)
		rapid.Check(t, func(rt *rapid.T) {
			knobs := plantest.Exact()
			knobs.Arith = 0 // a program for each shape takes long to compile
			tab := plantest.Table(rt, knobs)
			q, err := physical.NewQuery(tab, plantest.Query(rt, tab, knobs))
			if err != nil || len(tab.Chunks) == 0 {
				return // refused: package lower's tests say when
			}
			backend := rapid.SampledFrom([]string{"classic", "fused", "compute"}).Draw(rt, "backend")
			want, wantErr := backends[backend](g, q)
			g.End()
			tr := newTracer(engine.Stage{Runner: g, Context: ctx, Plan: q}, &limiter{Runner: g, most: 10000})
			defer tr.close()
			got, err := backends[backend](tr, q)
			g.End()
			if declined := (*plan.Declined)(nil); errors.As(wantErr, &declined) {
				return
			}
			if (err == nil) != (wantErr == nil) {
				rt.Fatalf("%s: error %v, without a tracer %v", backend, err, wantErr)
			}
			checkPasses(rt, tr)
			if err != nil {
				return
			}
			for i := range want {
				if got[i].String() != want[i].String() {
					rt.Fatalf("%s: %v is %v, without a tracer %v", backend, q.Aggs[i], got[i], want[i])
				}
			}
			if tr.columns(); tr.images.err != nil {
				rt.Fatal(tr.images.err)
			}
			tr.steps(got)
			checkSteps(rt, tr, got)
			checkSums(rt, tr)
		})
	})
}

// checkPasses checks counts against pictures.
func checkPasses(t *rapid.T, tr *tracer) {
	for _, p := range tr.trace.Passes {
		for _, panel := range p.Panels {
			if panel.Title == "records that pass" && p.Counted && uint64(panel.Total) != p.Samples {
				t.Fatalf("%s: %d samples, %d records seen to pass", p.Name, p.Samples, panel.Total)
			}
		}
		if p.Counted && p.Passed != nil && *p.Passed != p.Samples {
			t.Fatalf("%s: %d samples, the trace has counted %d", p.Name, p.Samples, *p.Passed)
		}
	}
}

// checkSteps checks that a search ends at one value, the answer.
func checkSteps(t *rapid.T, tr *tracer, values []table.Value) {
	for _, s := range tr.trace.Searches {
		for i, st := range s.Steps {
			checkDigits(t, tr, s, st)
			checkDecision(t, tr, s, i, s.space.Value(s.code))
		}
		last := s.Steps[len(s.Steps)-1]
		found := false
		for i, a := range tr.plan.Aggs {
			found = found || a.String() == s.Aggregate && values[i].String() == last.Ends[0]
		}
		if !found || last.Ends[0] != last.Ends[1] {
			t.Fatalf("%s: the last pass leaves %v, the answers are %v", s.Aggregate, last.Ends, values)
		}
	}
}

// checkSums adds the selected values up one by one, with the bits that each sum's words tell.
func checkSums(t *rapid.T, tr *tracer) {
	for _, s := range tr.trace.Sums {
		seg, scale := tr.plan.Table.Chunks[s.Chunk].Segments[s.col], tr.plan.Table.Fields[s.col].Type.Scale
		total, records := new(big.Int), make([]uint64, 64)
		for row := range seg.Rows() {
			if !tr.selection(s.Chunk).Get(row) || seg.IsNull(row) {
				continue
			}
			total.Add(total, big.NewInt(table.IntFromOrdinal(seg.Base)))
			total.Add(total, new(big.Int).SetUint64(seg.Codes.At(row)))
			for b := range records {
				records[b] += seg.Codes.At(row) >> b & 1
			}
		}
		if want := table.Dec(table.Type{Kind: table.Decimal, Precision: 38, Scale: scale}, total).String(); s.Total != want {
			t.Fatalf("the sum of %s is %s, want %s", s.Column, s.Total, want)
		}
		for _, b := range s.Bits {
			if want := fmt.Sprintf("%s of %s selected value", numbers.Grouped(records[b.Bit]), numbers.Grouped(s.Values)); !strings.HasPrefix(b.Words, want) {
				t.Fatalf("of bit %d of %s the words are %q, want %q", b.Bit, s.Column, b.Words, want)
			}
			if !strings.HasSuffix(b.Words, "so far is "+grouped(b.SoFar)) {
				t.Fatalf("of bit %d of %s the words are %q, the sum so far %s", b.Bit, s.Column, b.Words, b.SoFar)
			}
		}
		if n := len(s.Bits); n > 0 && s.Bits[n-1].SoFar != s.Total {
			t.Fatalf("the last bit of %s makes %s, the sum is %s", s.Column, s.Bits[n-1].SoFar, s.Total)
		}
	}
}

// checkDigits counts the candidates of a step of backend compute on the host. They are the selected
// values that have the answer's bits above those that the pass counts by.
func checkDigits(t *rapid.T, tr *tracer, s *Search, st Step) {
	if len(st.Digits) == 0 {
		return
	}
	chunk := tr.trace.Passes[st.Pass].Chunk
	counts := map[string]uint64{}
	for i := range chunk + 1 { // the chunks are counted one after the other
		seg := tr.plan.Table.Chunks[i].Segments[s.agg.Col]
		for row := range seg.Rows() {
			if !tr.selection(i).Get(row) || seg.IsNull(row) {
				continue
			}
			code := s.space.Code(seg, seg.Codes.At(row))
			if code>>(st.Counts[0]+1) != s.code>>(st.Counts[0]+1) {
				continue
			}
			bits := ""
			for b := st.Counts[0]; b >= st.Counts[1]; b-- {
				if s.stored>>b&1 != 0 {
					bits += fmt.Sprint(code >> b & 1)
				}
			}
			counts[bits]++
		}
	}
	last := !slices.ContainsFunc(s.Steps, func(o Step) bool {
		return o.Pass > st.Pass && slices.Equal(o.Counts, st.Counts)
	})
	taken := false
	for _, d := range st.Digits {
		if counts[d.Bits] != d.Records {
			t.Fatalf("%s, pass %q: %d candidates have %s, the trace says %d", s.Aggregate, tr.trace.Passes[st.Pass].Name, counts[d.Bits], d.Bits, d.Records)
		}
		taken = taken || d.Bits == st.Taken
	}
	if last && (len(st.Digits) != 1<<len(st.Taken) || !taken) {
		t.Fatalf("%s, pass %q: digits %v, the answer has %q", s.Aggregate, tr.trace.Passes[st.Pass].Name, st.Digits, st.Taken)
	}
}

// The cells of a grid take each record once, are numbered without gaps, and show the
// first record of their block.
func TestCellsOfAGrid(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		rows := rapid.IntRange(1, 300000).Draw(t, "rows")
		g := newGrid(0, rows)
		if g.Cols > MaxSide || g.Lines > MaxSide || len(g.cells) > g.Cols*g.Lines {
			t.Fatalf("%d rows: %d x %d cells, %d used", rows, g.Cols, g.Lines, len(g.cells))
		}
		for cell, row := range g.cells {
			if g.cell(row) != cell {
				t.Fatalf("%d rows: row %d of cell %d is in cell %d", rows, row, cell, g.cell(row))
			}
		}
		each, total := g.count(func(int) bool { return true })
		sum := 0
		for cell, n := range each {
			if n == 0 || n > uint32(g.Step*g.Step) {
				t.Fatalf("%d rows: cell %d has %d records", rows, cell, n)
			}
			sum += int(n)
		}
		if total != rows || sum != rows {
			t.Fatalf("%d rows: %d in cells, %d in all", rows, sum, total)
		}
	})
}
