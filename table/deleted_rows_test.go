package table_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/stencildb/stencildb/internal/plantest"
	"github.com/stencildb/stencildb/table"
)

// rows are the values of a table's rows that are not deleted, chunk by chunk.
func rows(t *table.Table) (out [][][]table.Value) {
	for _, c := range t.Chunks {
		var chunk [][]table.Value
		for i := range c.Rows {
			var row []table.Value
			for f := range t.Fields {
				row = append(row, c.Segments[f].Value(i))
			}
			if !c.IsLive(i) {
				row = nil
			}
			chunk = append(chunk, row)
		}
		out = append(out, chunk)
	}
	return out
}

func same(a, b [][][]table.Value) bool {
	return strings.Join(words(a), "|") == strings.Join(words(b), "|")
}

func words(rows [][][]table.Value) (out []string) {
	for _, chunk := range rows {
		for _, row := range chunk {
			for _, v := range row {
				out = append(out, v.String())
			}
			out = append(out, "/")
		}
		out = append(out, "//")
	}
	return out
}

// Random deletions and patches against plain slices of values. Every snapshot keeps its rows. The next
// one has the changed ones in the same places, and shares the segments of what did not change.
func TestSnapshotsAgreeWithSlices(t *testing.T) {
	knobs := plantest.Default()
	knobs.Changes = false
	rapid.Check(t, func(t *rapid.T) {
		tab := plantest.Table(t, knobs)
		if len(tab.Chunks) == 0 {
			return
		}
		for range rapid.IntRange(1, 4).Draw(t, "changes") {
			before, model := rows(tab), rows(tab)
			chunks := append([]*table.Chunk(nil), tab.Chunks...)
			at := rapid.IntRange(0, len(chunks)-1).Draw(t, "chunk")
			old := chunks[at]
			places := rapid.SliceOfDistinct(rapid.IntRange(0, old.Rows-1), rapid.ID[int]).Draw(t, "rows")
			if rapid.IntRange(0, 3).Draw(t, "all rows") == 0 {
				places = nil
				for r := range old.Rows {
					places = append(places, r)
				}
			}
			slices.Sort(places)
			nulls := rapid.IntRange(0, 3).Draw(t, "NULLs alone") == 0
			col := rapid.IntRange(-1, len(tab.Fields)-1).Draw(t, "column")
			var err error
			if col < 0 {
				chunks[at], err = old.Delete(places)
				for _, r := range places {
					model[at][r] = nil
				}
			} else {
				var values []table.Value
				for _, r := range places {
					v := table.Null(tab.Fields[col].Type)
					if !nulls && rapid.Bool().Draw(t, "not NULL") {
						v = plantest.Value(t, v.Type, 63, knobs)
						v.F += 0 // -0 is stored as +0
					}
					if values = append(values, v); model[at][r] != nil {
						model[at][r][col] = v
					}
				}
				chunks[at], err = old.Assign(col, places, table.SegmentOf(tab.Fields[col].Type, append([]table.Value{table.Null(tab.Fields[col].Type)}, values...)...), 1)
			}
			if err != nil {
				t.Fatal(err)
			}
			next := tab.With(chunks...)
			if err := next.Check(); err != nil {
				t.Fatal(err)
			}
			if got := rows(next); !same(got, model) {
				t.Fatalf("column %d, rows %v: %v, want %v", col, places, got, model)
			}
			if !same(rows(tab), before) {
				t.Fatal("a snapshot has changed")
			}
			for f := range tab.Fields {
				if f != col && next.Chunks[at].Segments[f] != old.Segments[f] {
					t.Fatalf("column %d did not change and is not shared", f)
				}
			}
			if next.Version != tab.Version+1 {
				t.Fatalf("version %d after %d", next.Version, tab.Version)
			}
			tab = next
		}
		one := tab.Chunks[0]
		for _, c := range tab.Chunks[1:] {
			var err error
			if one, err = table.Joined(tab.Fields, one, c); err != nil {
				t.Fatal(err)
			}
		}
		merged := tab.With(one)
		if err := merged.Check(); err != nil {
			t.Fatal(err)
		}
		if got, want := live(rows(merged)), live(rows(tab)); got != want {
			t.Fatalf("chunks joined: %s, want %s", got, want)
		}
		compacted := tab.Compacted()
		if err := compacted.Check(); err != nil {
			t.Fatal(err)
		}
		if got, want := live(rows(compacted)), live(rows(tab)); got != want || compacted.Rows() != tab.Rows() {
			t.Fatalf("compacted %s, want %s", got, want)
		}
	})
}

// live are the rows that are not deleted, in words, without their chunks.
func live(chunks [][][]table.Value) string {
	var all [][]table.Value
	for _, c := range chunks {
		for _, row := range c {
			if row != nil {
				all = append(all, row)
			}
		}
	}
	return strings.Join(words([][][]table.Value{all}), "|")
}

// Texts that no row has any more are not kept: a row that gets one text after the other would have all of them.
func TestTextsThatAreGone(t *testing.T) {
	typ := table.Type{Kind: table.Varchar}
	c := &table.Chunk{Rows: 4, Segments: []*table.Segment{table.SegmentOf(typ, table.Str("a"), table.Null(typ), table.Str("b"), table.Str("c"))}}
	want := []table.Value{table.Str("a"), table.Null(typ), table.Str("b"), table.Str("c")}
	for i := range 100 {
		v := table.Str(fmt.Sprint("new ", i))
		if i%7 == 3 {
			v = table.Null(typ)
		}
		var err error
		if c, err = c.Assign(0, []int{i % 3}, table.SegmentOf(typ, v), 0); err != nil {
			t.Fatal(err)
		}
		want[i%3] = v
		for row, w := range want {
			if got := c.Segments[0].Value(row); got.String() != w.String() {
				t.Fatalf("after %d texts row %d is %v, not %v", i+1, row, got, w)
			}
		}
		if n := len(c.Segments[0].Dict); n > 2*c.Rows {
			t.Fatalf("%d texts for %d rows", n, c.Rows)
		}
	}
	c, err := c.Delete([]int{0, 1, 2})
	if err != nil {
		t.Fatal(err)
	}
	all := &table.Table{Name: "t", Fields: []table.Field{{Name: "s", Type: typ}}, Chunks: []*table.Chunk{c}}
	if s := all.Compacted().Chunks[0].Segments[0]; len(s.Dict) > 2 || s.Value(0).S != "c" {
		t.Errorf("a row that is left of four has %v of %d texts", s.Value(0), len(s.Dict))
	}
}

func TestChangesThatAreErrors(t *testing.T) {
	b := table.NewBuilder("t", []table.Field{{Name: "a", Type: table.Type{Kind: table.BigInt}}, {Name: "b", Unsupported: "a list"}}, 0)
	b.Column(0).Int(7)
	if err := b.EndRow(); err != nil {
		t.Fatal(err)
	}
	c := b.Table().Chunks[0]
	one := table.SegmentOf(c.Segments[0].Type, table.Int(1))
	for name, change := range map[string]func() (*table.Chunk, error){
		"row -1 deleted":        func() (*table.Chunk, error) { return c.Delete([]int{-1}) },
		"row 1 of one deleted":  func() (*table.Chunk, error) { return c.Delete([]int{1}) },
		"row 1 of one changed":  func() (*table.Chunk, error) { return c.Assign(0, []int{1}, one, 0) },
		"no such column":        func() (*table.Chunk, error) { return c.Assign(2, []int{0}, one, 0) },
		"an unsupported column": func() (*table.Chunk, error) { return c.Assign(1, []int{0}, one, 0) },
		"another type": func() (*table.Chunk, error) {
			return c.Assign(0, []int{0}, table.SegmentOf(table.Type{Kind: table.Varchar}, table.Str("1")), 0)
		},
		"too few values": func() (*table.Chunk, error) { return c.Assign(0, []int{0}, one, 1) },
	} {
		if out, err := change(); err == nil {
			t.Errorf("%s: no error, %v", name, out)
		}
	}
	none, err := c.Delete([]int{0})
	if err != nil || none.Live() != 0 || none.IsLive(0) {
		t.Fatalf("a chunk of one row without it: %v, %v", none, err)
	}
	if _, err := none.Assign(2, []int{0}, one, 0); err == nil {
		t.Error("the hidden column can be patched")
	}
}

// What Check is for: each of these tables is broken in one way.
func TestCheckFindsWhatIsBroken(t *testing.T) {
	b := table.NewBuilder("t", []table.Field{{Name: "a", Type: table.Type{Kind: table.BigInt}}}, 0)
	for i := range 3 {
		b.Column(0).Int(int64(i))
		if err := b.EndRow(); err != nil {
			t.Fatal(err)
		}
	}
	whole := b.Table()
	deleted, err := whole.Chunks[0].Delete([]int{1})
	if err != nil {
		t.Fatal(err)
	}
	if err := whole.With(deleted).Check(); err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]*table.Chunk{
		"too few deleted":      {Rows: 3, Deleted: 2, Segments: deleted.Segments},
		"no hidden column":     {Rows: 3, Deleted: 1, Segments: whole.Chunks[0].Segments},
		"nothing deleted":      {Rows: 3, Segments: deleted.Segments},
		"another hidden one":   {Rows: 3, Deleted: 1, Segments: append(whole.Chunks[0].Segments[:1:1], whole.Chunks[0].Segments[0])},
		"rows of another size": {Rows: 2, Segments: whole.Chunks[0].Segments},
	} {
		if whole.With(c).Check() == nil {
			t.Errorf("%s: Check finds nothing", name)
		}
	}
}
