package joinorder_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/stencildb/stencildb/cpu"
	"github.com/stencildb/stencildb/cpu/index"
	"github.com/stencildb/stencildb/cpu/join"
	"github.com/stencildb/stencildb/engine/joinorder"
	"github.com/stencildb/stencildb/expr"
	"github.com/stencildb/stencildb/internal/plantest"
	"github.com/stencildb/stencildb/plan"
	"github.com/stencildb/stencildb/plan/physical"
	"github.com/stencildb/stencildb/plan/rules"
	"github.com/stencildb/stencildb/table"
)

// joinFields are those of the tables that are joined.
var joinFields = []table.Field{
	{Name: "k", Type: table.Type{Kind: table.BigInt}}, {Name: "j", Type: table.Type{Kind: table.SmallInt}},
	{Name: "d", Type: table.Type{Kind: table.Decimal, Precision: 18, Scale: 2}}, {Name: "e", Type: table.Type{Kind: table.Decimal, Precision: 18}},
	{Name: "x", Type: table.Type{Kind: table.Double}}, {Name: "s", Type: table.Type{Kind: table.Varchar}},
	{Name: "day", Type: table.Type{Kind: table.Date}}, {Name: "yes", Type: table.Type{Kind: table.Boolean}},
}

// alike are pairs of these fields that compare without a conversion.
var alike = [][2]int{{0, 0}, {0, 1}, {1, 0}, {1, 1}, {2, 2}, {2, 3}, {3, 2}, {4, 4}, {5, 5}, {6, 6}, {7, 7}}

// TestJoinsAreThoseOfTheirDefinition compares random joins with loops over all rows.
func TestJoinsAreThoseOfTheirDefinition(t *testing.T) {
	byIndex := 0
	rapid.Check(t, func(t *rapid.T) {
		j := &drawnJoin{T: t}
		n := j.tree(1 + rapid.IntRange(1, 3).Draw(t, "joins"))
		moved := plan.Rewrite(n, rules.PushFilter)
		if above, ok := moved.(*plan.Filter); ok { // conditions that may not be moved below an outer join
			n, moved = above.Input, above.Input
		}
		root := moved.(*plan.Join)
		way := rapid.SampledFrom(append(slices.Clone(join.Algorithms), "index", "index", "index", "index")).Draw(t, "way")
		columns := make([]int, len(root.Fields()))
		for i := range columns {
			columns[i] = i
		}
		if rapid.IntRange(0, 3).Draw(t, "no columns") == 0 {
			columns = nil
		}
		of := joinorder.Spec{Spec: join.Spec{Tables: j.tables, Columns: columns, Way: way, ChunkRows: rapid.SampledFrom([]int{0, 3}).Draw(t, "chunk rows"), Memory: func() int64 { return 1 << 40 }}}
		if rapid.Bool().Draw(t, "pairs are found elsewhere") {
			of.Pairs = pairsByLoops
			if rapid.Bool().Draw(t, "and stay there") {
				of.Stays, of.Hold = func(*table.Table) bool { return true }, elsewhere{rapid.IntRange(0, 3).Draw(t, "counts") > 0}
			}
		}
		if rapid.IntRange(0, 3).Draw(t, "few rows are wanted") == 0 {
			of.AtMost = rapid.IntRange(1, 8).Draw(t, "rows wanted")
		}
		got, steps, _, err := joinorder.Join(context.Background(), cpu.New(2, cpu.WithIndexes(j.indexes())), root, of)
		if err != nil {
			t.Fatal(err)
		}
		if slices.ContainsFunc(steps, func(s join.Step) bool { return strings.Contains(s.Way, "index ") }) {
			byIndex++
		}
		want := j.rows(n)
		if of.AtMost > 0 {
			if got.Rows() < min(of.AtMost, len(want)) {
				t.Fatalf("%s: %d rows of %d, %d are wanted\n%v", root, got.Rows(), len(want), of.AtMost, steps)
			}
			if columns == nil {
				return
			}
			if have, all := sortedRows(plantest.Rows(got)), sortedRows(want); !within(have, all) {
				t.Fatalf("%s\n%+v\nby %s, %d wanted:\n%s\nare not among\n%s", sketch(root), steps, way, of.AtMost, strings.Join(have, "\n"), strings.Join(all, "\n"))
			}
			return
		}
		if got.Rows() != len(want) {
			t.Fatalf("%s: %d rows, want %d\n%v", root, got.Rows(), len(want), steps)
		}
		if columns == nil {
			return
		}
		ordered := func(rows [][]table.Value) []string {
			if _, joins := root.Left.(*plan.Join); root.Kind.LeftOnly() && !joins { // in the order of the left table
				return shown(rows)
			}
			return sortedRows(rows)
		}
		if have, want := ordered(plantest.Rows(got)), ordered(want); !slices.Equal(have, want) {
			t.Fatalf("%s\n%+v\nby %s:\n%s\nwant\n%s", sketch(root), steps, way, strings.Join(have, "\n"), strings.Join(want, "\n"))
		}
	})
	if t.Log(byIndex, "joins used an index"); byIndex == 0 {
		t.Error("no join used an index")
	}
}

// indexes are some on the columns of the tables.
func (j *drawnJoin) indexes() func(*table.Segment) []*index.Index {
	of := map[*table.Segment][]*index.Index{}
	for _, tab := range j.tables {
		for _, c := range tab.Chunks {
			for _, s := range c.Segments {
				kind := rapid.SampledFrom([]string{"sorted", "hash", "sorted", "hash", ""}).Draw(j.T, "kind of index")
				if kind == "" || len(of[s]) > 0 {
					continue
				}
				x, err := index.New(context.Background(), kind, kind, s)
				if err != nil {
					j.Fatal(err)
				}
				of[s] = append(of[s], x)
			}
		}
	}
	return func(s *table.Segment) []*index.Index { return of[s] }
}

// pairsByLoops is a [joinorder.FindPairs]: the last pairs come first.
func pairsByLoops(ctx context.Context, q *physical.JoinQuery) (found physical.JoinPairs, how string, err error) {
	var rows [2][]uint32
	var values [2][][]table.Value // of the keys
	for i, s := range q.Sides {
		starts := []int{0}
		for _, c := range s.Table.Chunks {
			starts = append(starts, starts[len(starts)-1]+c.Rows)
		}
		for b, err := range cpu.New(1).Rows(ctx, s) {
			if err != nil {
				return found, "", err
			}
			for k := range b.Len() {
				rows[i] = append(rows[i], uint32(starts[b.Chunk]+b.Row(k)))
				var keys []table.Value
				for _, key := range q.Keys {
					v, err := expr.Eval(key[i], &expr.Env{Column: func(col int) table.Value { return s.Table.Chunks[b.Chunk].Segments[col].Value(b.Row(k)) }})
					if err != nil {
						return found, "", err
					}
					keys = append(keys, v)
				}
				values[i] = append(values[i], keys)
			}
		}
		if of := q.RowIDs[i]; !of.IsNone() { // places, by the rows that they have
			var places []uint32
			var keys [][]table.Value
			for place, row := range rowsIn(of) {
				if row == 1<<32-1 && !of.MayBeNull {
					return found, "", errors.New("a list has no row in a place, and does not say so")
				}
				if at := slices.Index(rows[i], row); at >= 0 {
					places, keys = append(places, uint32(place)), append(keys, values[i][at])
				}
			}
			rows[i], values[i] = places, keys
		}
		found.Selected[i] = len(rows[i])
	}
	for l := len(rows[0]) - 1; l >= 0; l-- {
		for r := range rows[1] {
			c := slices.CompareFunc(values[0][l], values[1][r], table.Compare)
			if holds := map[expr.CmpOp]bool{expr.EQ: c == 0, expr.LT: c < 0, expr.LE: c <= 0, expr.GT: c > 0, expr.GE: c >= 0, expr.NE: c != 0}; !holds[q.Cmp] {
				continue
			}
			found.N++
			found.Rows[0], found.Rows[1] = append(found.Rows[0], rows[0][l]), append(found.Rows[1], rows[1][r])
			if q.Exists {
				found.Rows[1] = nil
				break
			}
		}
	}
	if found.N > q.Limit {
		found.Rows = [2][]uint32{}
	}
	if q.KeepOnDevice == nil {
		return found, "loops elsewhere", nil
	}
	if found.N%5 == 3 { // now and then
		return found, "", &plan.Declined{Why: "there is no room"}
	}
	for i, lists := range q.KeepOnDevice {
		for _, l := range lists {
			found.Held[i] = append(found.Held[i], takenThere(l, found.Rows[i]))
		}
	}
	found.Rows = [2][]uint32{}
	return found, "loops elsewhere", nil
}

func rowsIn(l physical.RowIDs) []uint32 {
	if l.Held != nil {
		return l.Held.On.([]uint32)
	}
	return l.Rows
}

// elsewhere is a [joinorder.Holder] of what pairsByLoops leaves there.
type elsewhere struct{ counts bool }

func (e elsewhere) Count(ctx context.Context, q *physical.Query) (n int, err error) {
	if !e.counts {
		return 0, &plan.Declined{Why: "it does not count"}
	}
	for b, err := range cpu.New(1).Rows(ctx, q) {
		if err != nil {
			return 0, err
		}
		n += b.Len()
	}
	return n, nil
}

func (elsewhere) Read(_ context.Context, list []*physical.Held, _ []uint32) ([][]uint32, error) {
	out := make([][]uint32, len(list))
	for i, h := range list {
		if h != nil {
			out[i] = append([]uint32{}, h.On.([]uint32)...)
		}
	}
	return out, nil
}

func (elsewhere) Where(ctx context.Context, columns []joinorder.HeldColumn, query func([]*table.Segment) (*physical.Query, error), lists []physical.RowIDs) ([]*physical.Held, int, error) {
	var segments []*table.Segment
	for _, c := range columns {
		segments = append(segments, gatheredThere(c))
	}
	q, err := query(segments)
	if err != nil {
		return nil, 0, err
	}
	places := []uint32{}
	for b, err := range cpu.New(1).Rows(ctx, q) {
		if err != nil {
			return nil, 0, err
		}
		for k := range b.Len() {
			places = append(places, uint32(b.Row(k)))
		}
	}
	var held []*physical.Held
	for _, l := range lists {
		held = append(held, takenThere(l, places))
	}
	return held, len(places), nil
}

// gatheredThere is a column by a list of rows, in its code space.
func gatheredThere(c joinorder.HeldColumn) *table.Segment {
	rows := rowsIn(c.Rows)
	seg := *c.Space.Segment()
	seg.Codes, seg.Valid = table.NewCodes(len(rows), max(1, seg.Bits)), table.NewBitmap(len(rows))
	for i, row := range rows {
		at := int(row)
		for _, chunk := range c.Table.Chunks {
			if row == 1<<32-1 || at < 0 || at >= chunk.Rows {
				at -= chunk.Rows
				continue
			}
			if of := chunk.Segments[c.Col]; !of.IsNull(at) {
				seg.Valid.Set(i)
				seg.Codes.Set(i, c.Space.Code(of, of.Codes.At(at)))
			}
			break
		}
		if !seg.Valid.Get(i) {
			seg.Nulls++
		}
	}
	return &seg
}

// takenThere are the rows of a list at places; the places where there is none.
func takenThere(l physical.RowIDs, places []uint32) *physical.Held {
	if l.IsNone() {
		return &physical.Held{N: len(places), On: places}
	}
	rows := []uint32{}
	for _, place := range places {
		rows = append(rows, rowsIn(l)[place])
	}
	return &physical.Held{N: len(rows), On: rows}
}

func (elsewhere) Select(ctx context.Context, q *physical.Query) (*physical.Held, error) {
	rows, starts := []uint32{}, physical.RowOffsetsOf(q.Table)
	for b, err := range cpu.New(1).Rows(ctx, q) {
		if err != nil {
			return nil, err
		}
		for k := range b.Len() {
			rows = append(rows, uint32(starts[b.Chunk]+b.Row(k)))
		}
	}
	return &physical.Held{N: len(rows), On: rows}, nil
}

func (elsewhere) Partnered(_ context.Context, kind plan.JoinKind, n int, places *physical.Held, left []physical.RowIDs, right []*physical.Held) (held [2][]*physical.Held, rows int, err error) {
	if places.N%7 == 5 { // now and then
		return held, 0, &plan.Declined{Why: "there is no room"}
	}
	pairs, in := places.On.([]uint32), make([]bool, n)
	for _, p := range pairs {
		in[p] = true
	}
	all := []uint32{}
	if kind == plan.LeftOuter {
		all = append(all, pairs...)
	}
	for p := range n {
		if in[p] == (kind == plan.Semi) {
			all = append(all, uint32(p))
		}
	}
	for _, l := range left {
		held[0] = append(held[0], takenThere(l, all))
	}
	for _, h := range right {
		list := slices.Concat(h.On.([]uint32), slices.Repeat([]uint32{1<<32 - 1}, len(all)-len(pairs)))
		held[1] = append(held[1], &physical.Held{N: len(list), On: list})
	}
	return held, len(all), nil
}

func (elsewhere) OnOneDevice() bool { return true }

func (elsewhere) Release(...*physical.Held) {}

func (elsewhere) Columns(context.Context, []joinorder.HeldColumn) ([][]*table.Segment, error) {
	return nil, &plan.Declined{Why: "its columns are wanted here"}
}

// drawnJoin draws joins of tables.
type drawnJoin struct {
	*rapid.T
	tables []*table.Table
}

func (j *drawnJoin) tree(scans int) plan.Node {
	if scans == 1 {
		k := plantest.Default()
		k.Narrow, k.MaxRows = true, 14
		if rapid.Bool().Draw(j.T, "as one chunk") {
			k.MaxChunk, k.Changes = 0, false
		}
		tab := plantest.TableOf(j.T, fmt.Sprintf("t%d", len(j.tables)), joinFields, k)
		j.tables = append(j.tables, tab)
		var n plan.Node = &plan.Scan{Table: tab.Name, Columns: joinFields}
		if rapid.IntRange(0, 3).Draw(j.T, "filter") == 0 {
			n = &plan.Filter{Input: n, Where: j.test(0)}
		}
		return n
	}
	left := rapid.IntRange(1, scans-1).Draw(j.T, "on the left")
	out := &plan.Join{Kind: plan.JoinKind(rapid.IntRange(0, 5).Draw(j.T, "kind")), Left: j.tree(left), Right: j.tree(scans - left)}
	width := len(out.Left.Fields())
	all := width + len(out.Right.Fields())
	var on []expr.Expr
	for range rapid.IntRange(0, 3).Draw(j.T, "conditions") {
		on = append(on, j.condition(width, all))
	}
	out.On = plan.Conjunction(on)
	switch above := rapid.IntRange(0, 4).Draw(j.T, "filter above") == 0 && len(j.tables) < 3; {
	case above && out.Kind.LeftOnly():
		return &plan.Filter{Input: out, Where: j.test(0)}
	case above:
		return &plan.Filter{Input: out, Where: j.condition(width, all)}
	}
	return out
}

func column(i int) expr.Expr {
	f := joinFields[i%len(joinFields)]
	return &expr.Column{Index: i, Name: f.Name, Table: fmt.Sprintf("t%d", i/len(joinFields)), T: f.Type, P: -1}
}

// condition is one over both sides of a join, or over one of them.
func (j *drawnJoin) condition(left, all int) expr.Expr {
	of := len(joinFields)
	l, r := rapid.IntRange(0, left/of-1).Draw(j.T, "left table"), rapid.IntRange(left/of, all/of-1).Draw(j.T, "right table")
	pair := rapid.SampledFrom(alike).Draw(j.T, "columns")
	switch rapid.IntRange(0, 5).Draw(j.T, "condition") {
	case 0:
		return j.test(rapid.SampledFrom([]int{l, r}).Draw(j.T, "of") * of)
	case 1:
		op := rapid.SampledFrom([]expr.CmpOp{expr.LT, expr.GE, expr.NE}).Draw(j.T, "operator")
		return &expr.Compare{Op: op, L: column(l*of + pair[0]), R: column(r*of + pair[1]), P: -1}
	case 2:
		return &expr.Compare{Op: expr.EQ, L: column(r*of + pair[0]), R: column(l*of + pair[1]), P: -1}
	}
	return &expr.Compare{Op: expr.EQ, L: column(l*of + pair[0]), R: column(r*of + pair[1]), P: -1}
}

// test is a condition over a table whose columns begin at first.
func (j *drawnJoin) test(first int) expr.Expr {
	c := rapid.IntRange(0, len(joinFields)-1).Draw(j.T, "column")
	if rapid.Bool().Draw(j.T, "null test") {
		return &expr.IsNull{X: column(first + c), Not: rapid.Bool().Draw(j.T, "not"), P: -1}
	}
	return &expr.Compare{Op: expr.GT, L: column(first), R: &expr.Const{V: table.Int(2), P: -1}, P: -1}
}

// rows are those of a node by its definition.
func (j *drawnJoin) rows(n plan.Node) (out [][]table.Value) {
	holds := func(e expr.Expr, row []table.Value) bool {
		if e == nil {
			return true
		}
		v, err := expr.Eval(e, &expr.Env{Column: func(i int) table.Value { return row[i] }})
		if err != nil {
			j.Fatal(err)
		}
		return !v.Null && v.I != 0
	}
	switch n := n.(type) {
	case *plan.Scan:
		i := slices.IndexFunc(j.tables, func(t *table.Table) bool { return t.Name == n.Table })
		return plantest.Rows(j.tables[i])
	case *plan.Filter:
		for _, row := range j.rows(n.Input) {
			if holds(n.Where, row) {
				out = append(out, row)
			}
		}
	case *plan.Join:
		left, right := j.rows(n.Left), j.rows(n.Right)
		nobody := func(fields []table.Field) (row []table.Value) {
			for _, f := range fields {
				row = append(row, table.Null(f.Type))
			}
			return row
		}
		had := make([]bool, len(right))
		for _, l := range left {
			alone := true
			for i, r := range right {
				if row := slices.Concat(l, r); holds(n.On, row) {
					if alone, had[i] = false, true; !n.Kind.LeftOnly() {
						out = append(out, row)
					}
				}
			}
			if alone && n.Kind == plan.Anti || !alone && n.Kind == plan.Semi {
				out = append(out, l)
			}
			if alone && n.Kind.KeepsLeft() {
				out = append(out, slices.Concat(l, nobody(n.Right.Fields())))
			}
		}
		for i, r := range right {
			if !had[i] && n.Kind.KeepsRight() {
				out = append(out, slices.Concat(nobody(n.Left.Fields()), r))
			}
		}
	}
	return out
}

// sketch has a line for each node.
func sketch(n plan.Node) (text string) {
	plan.Walk(n, func(n plan.Node, depth int) { text += strings.Repeat("  ", depth) + n.String() + "\n" })
	return text
}

func shown(rows [][]table.Value) (out []string) {
	for _, r := range rows {
		out = append(out, fmt.Sprint(r))
	}
	return out
}

func sortedRows(rows [][]table.Value) []string {
	out := shown(rows)
	slices.Sort(out)
	return out
}

// TestJoinRefusesWhatDoesNotFit asks for more rows than fit into the memory.
// within reports that a sorted list is some of another one.
func within(some, all []string) bool {
	for _, s := range some {
		at, ok := slices.BinarySearch(all, s)
		if !ok {
			return false
		}
		all = all[at+1:]
	}
	return true
}

// TestFewRowsOfAJoin: where few rows are wanted, a join of 4e10 pairs ends with these, whatever its condition.
func TestFewRowsOfAJoin(t *testing.T) {
	b := table.NewBuilder("t", joinFields[:1], 0)
	for i := range 200_000 {
		b.Column(0).Int(int64(i))
		if err := b.EndRow(); err != nil {
			t.Fatal(err)
		}
	}
	tab := b.Table()
	scan := &plan.Scan{Table: "t", Columns: joinFields[:1]}
	other := &expr.Column{Index: 1, Name: "k", T: joinFields[0].Type, P: -1}
	less := &expr.Compare{Op: expr.LT, L: column(0), R: other, P: -1}
	for _, kind := range []plan.JoinKind{plan.Inner, plan.LeftOuter, plan.FullOuter} {
		for _, way := range []string{"auto", "loops"} {
			for _, on := range []expr.Expr{less, nil} {
				got, _, _, err := joinorder.Join(context.Background(), cpu.New(2), &plan.Join{Kind: kind, Left: scan, Right: scan, On: on},
					joinorder.Spec{Spec: join.Spec{Tables: []*table.Table{tab, tab}, Columns: []int{0, 1}, Way: way, Memory: func() int64 { return 1 << 20 }, AtMost: 10}})
				if err != nil {
					t.Fatal(err)
				}
				if got.Rows() < 10 || got.Rows() > 10_000 {
					t.Errorf("%v join ON %v: %d rows", kind, on, got.Rows())
				}
				for _, row := range plantest.Rows(got) {
					if on != nil && !row[1].Null && row[0].I >= row[1].I {
						t.Fatalf("%v join ON %v gives %v", kind, on, row)
					}
				}
			}
		}
	}
}

func TestJoinRefusesWhatDoesNotFit(t *testing.T) {
	b := table.NewBuilder("t", joinFields[:1], 0)
	for i := range 1000 {
		b.Column(0).Int(int64(i % 10))
		if err := b.EndRow(); err != nil {
			t.Fatal(err)
		}
	}
	tab := b.Table()
	scan := &plan.Scan{Table: "t", Columns: joinFields[:1]}
	same := &expr.Compare{Op: expr.EQ, L: column(0), R: &expr.Column{Index: 1, Name: "k", T: joinFields[0].Type, P: -1}, P: -1}
	for _, c := range []struct {
		on   expr.Expr
		want string
	}{
		{nil, "the join has 1e+06 rows of 5 bytes each, 0.005 GB: more than the 0.0001 GB of host memory"},
		{same, "the join has more than "},
	} {
		_, _, _, err := joinorder.Join(context.Background(), cpu.New(2), &plan.Join{Left: scan, Right: scan, On: c.on},
			joinorder.Spec{Spec: join.Spec{Tables: []*table.Table{tab, tab}, Columns: []int{0}, Way: "auto", Memory: func() int64 { return 100_000 }}})
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("got %v, want %s", err, c.want)
		}
	}
}
