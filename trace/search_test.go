package trace

import (
	"context"
	"fmt"
	"math"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/stencildb/stencildb/cpu"
	"github.com/stencildb/stencildb/engine"
	"github.com/stencildb/stencildb/expr"
	"github.com/stencildb/stencildb/glctx"
	"github.com/stencildb/stencildb/internal/gltest"
	"github.com/stencildb/stencildb/internal/numbers"
	"github.com/stencildb/stencildb/pass"
	"github.com/stencildb/stencildb/plan"
	"github.com/stencildb/stencildb/plan/physical"
	"github.com/stencildb/stencildb/table"
)

// chunked draws a table of several chunks. Those of a may lie apart, overlap, be all
// NULL or of one value; s is text; b is 0 to 9.
func chunked(t *rapid.T) *table.Table {
	whole, text := table.Type{Kind: table.BigInt}, table.Type{Kind: table.Varchar}
	size := rapid.IntRange(1, 50).Draw(t, "rows of a chunk")
	tab := table.NewBuilder("t", []table.Field{{Name: "a", Type: whole}, {Name: "s", Type: text}, {Name: "b", Type: whole}}, size)
	for range rapid.SampledFrom([]int{2, 2, 3}).Draw(t, "chunks") {
		base := rapid.SampledFrom([]int64{0, 0, 0, 7, 7, 500, 500, -1000, -1000, 1 << 20, 1 << 33}).Draw(t, "base")
		span := rapid.SampledFrom([]int64{1, 2, 20, 20, 20, 1000, 1000, 1 << 18, 1 << 40}).Draw(t, "span")
		nulls := rapid.SampledFrom([]int{0, 0, 3, 10}).Draw(t, "tenths NULL")
		for range size {
			v := table.Value{Type: whole, I: base + rapid.Int64Range(0, span-1).Draw(t, "a"), Null: rapid.IntRange(0, 9).Draw(t, "NULL") < nulls}
			tab.Column(0).Value(v)
			tab.Column(1).Value(table.Str(fmt.Sprintf("w%03d", rapid.IntRange(0, 200).Draw(t, "s"))))
			tab.Column(2).Value(table.Int(rapid.Int64Range(0, 9).Draw(t, "b")))
			if err := tab.EndRow(); err != nil {
				t.Fatal(err)
			}
		}
	}
	return tab.Table()
}

// ranks draws order statistics of selected records.
func ranks(t *rapid.T, tab *table.Table) *plan.Fragment {
	q := &plan.Fragment{Table: tab.Name}
	for range rapid.IntRange(1, 2).Draw(t, "aggregates") {
		col := rapid.IntRange(0, 1).Draw(t, "column")
		f := tab.Fields[col]
		q.Aggs = append(q.Aggs, expr.Aggregate{Col: col, Name: f.Name, Arg: f.Type, P: -1,
			Kind: rapid.SampledFrom([]expr.AggKind{expr.Min, expr.Max, expr.Percentile, expr.KthLargest, expr.KthSmallest}).Draw(t, "aggregate"),
			F:    rapid.SampledFrom([]float64{0.1, 0.5, 0.9}).Draw(t, "fraction"), K: rapid.Int64Range(1, 9).Draw(t, "k")})
	}
	if most := rapid.Int64Range(0, 9).Draw(t, "b is at most"); most < 9 {
		q.Where = &expr.Compare{Op: expr.LE, L: &expr.Column{Index: 2, Name: "b", T: tab.Fields[2].Type}, R: &expr.Const{V: table.Int(most)}}
	}
	return q
}

// Over several chunks, on every backend, each pass of a search belongs to one chunk. What a search
// knows always holds the answer of the scalar oracle, and is never more than passes that are over
// tell. In the end it is the answer alone.
func TestSearchesOverSeveralChunksCloseInOnTheAnswer(t *testing.T) {
	gltest.Run(t, 0, func(ctx *glctx.Context, g *pass.GL) {
		backends := backendsOf(ctx)
		rapid.Check(t, func(rt *rapid.T) {
			tab := chunked(rt)
			asked := ranks(rt, tab)
			want, err := cpu.Scalar(context.Background(), tab, asked)
			if err != nil {
				return // no such rank
			}
			q, err := physical.NewQuery(tab, asked)
			if err != nil {
				rt.Fatal(err)
			}
			backend := rapid.SampledFrom([]string{"classic", "fused", "compute"}).Draw(rt, "backend")
			tr := newTracer(engine.Stage{Runner: g, Context: ctx, Plan: q}, &limiter{Runner: g, most: 10000})
			defer tr.close()
			got, err := backends[backend](tr, q)
			g.End()
			if err != nil {
				rt.Fatal(err)
			}
			tr.steps(got)
			checkSteps(rt, tr, want)
			checkAllTold(rt, tr)
			for _, s := range tr.trace.Searches {
				for i, a := range q.Aggs {
					if a.String() == s.Aggregate {
						checkSearch(rt, tr, s, want[i])
						break
					}
				}
			}
		})
	})
}

func checkSearch(t *rapid.T, tr *tracer, s *Search, answer table.Value) {
	first, last := uint64(0), s.space.Max()
	for i, st := range s.Steps {
		p := tr.trace.Passes[st.Pass]
		if st.first < first || st.last > last || table.Compare(s.space.Value(st.first), answer) > 0 || table.Compare(s.space.Value(st.last), answer) < 0 {
			t.Fatalf("%s, pass %q: %v after codes %d to %d; the answer is %v", s.Aggregate, p.Name, st.Ends, first, last, answer)
		}
		if i+1 < len(s.Steps) && tr.trace.Passes[s.Steps[i+1].Pass].Name == p.Name && i > 0 && (st.first != first || st.last != last) {
			t.Fatalf("%s, pass %q: %v is known before the last chunk is counted", s.Aggregate, p.Name, st.Ends)
		}
		if strings.Contains(p.Counts, "tentative values") {
			if want := counted(tr, s, st); !slices.Equal(p.Results, want) {
				t.Fatalf("%s, pass %q: results %q, want %q", s.Aggregate, p.Name, p.Results, want)
			}
		}
		checkDecision(t, tr, s, i, answer)
		first, last = st.first, st.last
		for _, code := range []uint64{first, last} {
			if bits := fmt.Sprintf("%0*b", s.Bits, code); !strings.HasPrefix(bits, st.Known) {
				t.Fatalf("%s, pass %q: known are %s, %s is possible", s.Aggregate, p.Name, st.Known, bits)
			}
		}
	}
	if st := s.Steps[len(s.Steps)-1]; first != last || st.Ends != [2]string{answer.String(), answer.String()} || len(st.Known) != s.Bits {
		t.Fatalf("%s: the last pass leaves %v, bits %q of %d, the answer is %v", s.Aggregate, st.Ends, st.Known, s.Bits, answer)
	}
}

// counted counts on the host how many selected records of a step's chunk reach the values
// that it tries.
func counted(tr *tracer, s *Search, st Step) (list []string) {
	chunk := tr.trace.Passes[st.Pass].Chunk
	seg := tr.plan.Table.Chunks[chunk].Segments[s.agg.Col]
	for _, tried := range st.Tried {
		reach := 0
		for row := range seg.Rows() {
			switch v := seg.Value(row); {
			case !tr.selection(chunk).Get(row) || v.Null:
			case table.Compare(v, s.space.Value(tried.Code)) >= 0:
				reach++
			}
		}
		list = append(list, fmt.Sprintf("%s %s", numbers.Count(reach, "record reaches", "records reach"), tried.Value))
	}
	return list
}

var ofSearch = regexp.MustCompile(`^Kth.* bit \d+|^Digits\(|^Decide\(`)

// checkAllTold checks that no pass of a search is left without one, but in chunks that
// have no value to search for.
func checkAllTold(t *rapid.T, tr *tracer) {
	for _, p := range tr.trace.Passes {
		if p.Search < 0 && ofSearch.MatchString(p.Name) && !nothingToFind(tr, p) {
			t.Fatalf("pass %q (%s) belongs to no search", p.Name, p.Counts)
		}
	}
}

// nothingToFind reports whether a pass counts digits of a column in a chunk where none of
// its values is selected.
func nothingToFind(tr *tracer, p *Pass) bool {
	for col, seg := range tr.plan.Table.Chunks[p.Chunk].Segments {
		n := 0
		for row := range seg.Rows() {
			if tr.selection(p.Chunk).Get(row) && !seg.IsNull(row) {
				n++
			}
		}
		if n == 0 && strings.Contains(p.Name, "("+tr.columnName(col)+", bits ") {
			return true
		}
	}
	return false
}

// checkDecision checks what a step concludes, and its words, by the selected values one by one. Of a
// chunk by itself whose codes have one limb the pass's own count is the same.
func checkDecision(t *rapid.T, tr *tracer, s *Search, step int, answer table.Value) {
	d, st, p := s.Decision(step), s.Steps[step], tr.trace.Passes[s.Steps[step].Pass]
	if d == nil {
		if over := step+1 == len(s.Steps) || s.Steps[step+1].high < st.high; over && (st.Counts == nil || st.Taken != "") {
			t.Fatalf("%s, pass %q: the bits are decided, and nobody says so", s.Aggregate, p.Name)
		}
		return
	}
	var values []table.Value
	for i, c := range tr.plan.Table.Chunks {
		for row := range c.Rows {
			if v := c.Segments[s.agg.Col].Value(row); tr.selection(i).Get(row) && !v.Null {
				values = append(values, v)
			}
		}
	}
	number := func(holds func(v table.Value) bool) (n uint64) {
		for _, v := range values {
			if holds(v) {
				n++
			}
		}
		return n
	}
	before := number(func(v table.Value) bool {
		order := table.Compare(v, answer)
		return d.Largest && order > 0 || !d.Largest && order < 0
	})
	same := number(func(v table.Value) bool { return table.Compare(v, answer) == 0 })
	if d.Of != uint64(len(values)) || d.K <= before || d.K > before+same || !strings.Contains(d.Words, d.rank()) {
		t.Fatalf("%s: %q of %d values: %d come before the answer, %d are the same", s.Aggregate, d.Words, d.Of, before, same)
	}
	for _, r := range d.Counts {
		n := number(func(v table.Value) bool { return table.Compare(v, r.value) >= 0 == d.Largest })
		if r.Records != n || !strings.Contains(d.Words, numbers.Grouped(n)) || !strings.Contains(d.Words, r.value.String()) {
			t.Fatalf("%s: %q: %d values are beyond %v", s.Aggregate, d.Words, n, r.value)
		}
		if op, ok := tr.looks[st.Pass].pass.Op.(pass.KthLargest); ok && op.Limbs == 1 && len(tr.trace.Grids) == 1 && p.Samples != n {
			t.Fatalf("%s: %d samples, %d values are beyond %v", p.Name, p.Samples, n, r.value)
		}
	}
	first, last := s.Between(st)
	within := number(func(v table.Value) bool { return table.Compare(v, first) >= 0 && table.Compare(v, last) <= 0 })
	if d.Left != within || st.Ends[0] != st.Ends[1] && !strings.Contains(d.Words, numbers.Grouped(within)+" value") {
		t.Fatalf("%s: %q: %d values are left from %v to %v", s.Aggregate, d.Words, within, first, last)
	}
}

// What a search decides, in words, on each backend.
func TestDecisionsInWords(t *testing.T) {
	values := func(name string, chunk int) *table.Table {
		b := table.NewBuilder(name, []table.Field{{Name: "a", Type: table.Type{Kind: table.BigInt}}}, chunk)
		for i := range int64(41) {
			b.Column(0).Value(table.Int(i * i % 47))
			if err := b.EndRow(); err != nil {
				t.Fatal(err)
			}
		}
		return b.Table()
	}
	tab, chunked := values("t", 100), values("chunked", 15)
	for _, c := range []struct {
		backend, sql string
		want         []string
	}{
		{"classic", "SELECT MEDIAN(a) FROM t", []string{
			"32 values lie below 32; the 21st smallest is among them: bit 5 is 0; 32 values are left, in 0 … 31",
			"18 values lie below 16; the 21st smallest is not among them: bit 4 is 1; 14 values are left, in 16 … 31",
			"25 values lie below 24; the 21st smallest is among them: bit 3 is 0; 7 values are left, in 16 … 23",
			"23 values lie below 20; the 21st smallest is among them: bit 2 is 0; 5 values are left, in 16 … 19",
			"21 values lie below 18; the 21st smallest is among them: bit 1 is 0; 3 values are left, in 16 … 17",
			"19 values lie below 17; the 21st smallest is not among them: bit 0 is 1; the value is 17",
		}},
		{"classic", "SELECT KTH_LARGEST(a, 2) FROM t", []string{
			"9 values are 32 or more; the 2nd largest is among them: bit 5 is 1; 9 values are left, in 32 … 42",
			"no value is so large; the 2nd largest is below: bit 4 is 0; 9 values are left, in 32 … 42",
			"2 values are 40 or more; the 2nd largest is among them: bit 3 is 1; 2 values are left, in 40 … 42",
			"no value is so large; the 2nd largest is below: bit 2 is 0; 2 values are left, in 40 … 42",
			"2 values are 42 or more; the 2nd largest is among them: bit 1 is 1; the value is 42",
			"no value is so large; the 2nd largest is below: bit 0 is 0; the value is 42",
		}},
		{"fused", "SELECT KTH_SMALLEST(a, 3) FROM t", []string{
			"9 values are 32 or more; the 39th largest (the 3rd smallest) is not among them: bit 5 is 0; 32 values are left, in 0 … 31",
			"23 values are 16 or more; the 39th largest (the 3rd smallest) is not among them: bit 4 is 0; 18 values are left, in 0 … 15",
			"30 values are 8 or more; the 39th largest (the 3rd smallest) is not among them: bit 3 is 0; 11 values are left, in 0 … 7",
			"35 values are 4 or more; the 39th largest (the 3rd smallest) is not among them: bit 2 is 0; 6 values are left, in 0 … 3",
			"39 values are 2 or more; the 39th largest (the 3rd smallest) is among them: bit 1 is 1; 4 values are left, in 2 … 3",
			"37 values are 3 or more; the 39th largest (the 3rd smallest) is not among them: bit 0 is 0; the value is 2",
		}},
		{"compute", "SELECT KTH_LARGEST(a, 2) FROM t", []string{
			"39 values lie below 40, 2 lie in 40 … 42; the 40th smallest (the 2nd largest) is among these: bits 5..3 are 101; 2 values are left, in 40 … 42",
			"39 values lie below 42, 2 are 42; the 40th smallest (the 2nd largest) is among these: bits 2..0 are 010; the value is 42",
		}},
		{"compute", "SELECT MIN(a) FROM t", []string{
			"0 values lie below 0, 11 lie in 0 … 7; the smallest is among these: bits 5..3 are 000; 11 values are left, in 0 … 7",
			"0 values lie below 0, 1 is 0; the smallest is among these: bits 2..0 are 000; the value is 0",
		}},
		{"compute", "SELECT MAX(a) FROM chunked", []string{
			"39 values lie below 40, 2 lie in 40 … 42; the 41st smallest (the largest) is among these: bits 5..3 are 101; 2 values are left, in 40 … 42",
			"39 values lie below 42, 2 are 42; the 41st smallest (the largest) is among these: bits 2..0 are 010; the value is 42",
		}},
	} {
		var got []string
		db := open(t, engine.Options{Backend: c.backend}, tab)
		if err := db.Add(chunked); err != nil {
			t.Fatal(err)
		}
		for _, st := range traced(t, db, c.sql).Searches[0].Steps {
			if st.Decision != nil { // the first of compute decides nothing yet
				got = append(got, st.Decision.Words)
			}
		}
		if diff := cmp.Diff(c.want, got); diff != "" {
			t.Errorf("%s, %s: %s", c.backend, c.sql, diff)
		}
	}
}

// The codes of a column may be all that 64 bits have.
func TestDecisionsOverAll64Bits(t *testing.T) {
	b := table.NewBuilder("t", []table.Field{{Name: "a", Type: table.Type{Kind: table.BigInt}}}, 100)
	for _, v := range []int64{math.MinInt64, 0, math.MaxInt64} {
		b.Column(0).Value(table.Int(v))
		if err := b.EndRow(); err != nil {
			t.Fatal(err)
		}
	}
	tab := b.Table()
	for _, backend := range []string{"classic", "fused", "compute"} {
		tr := traced(t, open(t, engine.Options{Backend: backend}, tab), "SELECT KTH_LARGEST(a, 2) FROM t")
		for _, st := range tr.Searches[0].Steps {
			if st.Decision != nil && (st.Decision.Left < 1 || st.Decision.Left > 3) {
				t.Errorf("%s: %s", backend, st.Decision.Words)
			}
		}
	}
}
