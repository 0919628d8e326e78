package storage

import (
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stencildb/stencildb/table"
)

// An UPDATE whose rows move makes the rows that it would make in their places, and leaves the codes of large chunks as they are.
func TestRowsThatMove(t *testing.T) {
	defer func(rows, part int) { movingRows, movingPart = rows, part }(movingRows, movingPart)
	movingRows, movingPart = 20, 20
	fields := []table.Field{{Name: "a", Type: table.Type{Kind: table.BigInt}}, {Name: "s", Type: table.Type{Kind: table.Varchar}}, {Name: "x", Type: table.Type{Kind: table.Double}},
		{Name: "d", Type: table.Type{Kind: table.Decimal, Precision: 9, Scale: 2}}}
	moved, stayed, both := 0, 0, 0
	for seed := range uint64(500) {
		r := rand.New(rand.NewPCG(seed, 5))
		segments := func(n, least int) (list []*table.Segment) {
			for _, f := range fields {
				var values []table.Value
				for range n {
					v := table.Value{Type: f.Type, Null: r.IntN(8) == 0}
					switch k := least + r.IntN(60); {
					case v.Null:
					case f.Type.Kind == table.Varchar:
						v = table.Str("w" + strconv.Itoa(k))
					case f.Type.Kind == table.Double:
						v.F = float64(k)
					default:
						v.I = int64(k)
					}
					values = append(values, v)
				}
				list = append(list, table.SegmentOf(f.Type, values...))
			}
			return list
		}
		before := &table.Table{Name: "t", Fields: fields}
		for range 1 + r.IntN(3) {
			n := 1 + r.IntN(400)
			before = before.With(append(before.Chunks, &table.Chunk{Rows: n, Segments: segments(n, 0)})...)
		}
		total := before.Rows()
		var rows []int
		many := 1 + r.IntN(10)
		for row := range total {
			if r.IntN(total) < many {
				rows = append(rows, row)
			}
		}
		c := Change{Table: "t"}
		values := segments(len(rows), r.IntN(40)-20)
		for col := range fields {
			if r.IntN(2) == 0 && len(rows) > 0 {
				c.Update = append(c.Update, Update{Column: col, Rows: rows, Values: values[col]})
			}
		}
		if n := r.IntN(30); n < 5 && len(c.Update) > 0 { // as ON CONFLICT DO UPDATE does
			c.Append = []*table.Chunk{{Rows: 1 + n, Segments: segments(1+n, 0)}}
		}
		m, err := c.MoveRows(before)
		if err != nil {
			t.Fatal(err)
		}
		want, err := c.Apply(before)
		if err != nil {
			t.Fatal(err)
		}
		got, err := m.Apply(before)
		if err != nil {
			t.Fatal(err)
		}
		if err := got.Check(); err != nil {
			t.Fatal(err)
		}
		if x, y := rowsOf(got, got.All()), rowsOf(want, want.All()); !slices.Equal(slices.Sorted(slices.Values(x)), slices.Sorted(slices.Values(y))) {
			t.Fatalf("seed %d: rows %v, want %v", seed, x, y)
		}
		switch {
		case len(m.Delete) == 0:
			stayed++
		case len(m.Update) == 0:
			moved++
		default:
			both++
		}
		first, stays := 0, Change{Update: m.Update, Delete: m.Delete}
		for _, chunk := range before.Chunks {
			n := 0
			for _, row := range rows {
				if row >= first && row < first+chunk.Rows {
					n++
				}
			}
			if gone := func(row int) bool { return row >= first && row < first+chunk.Rows }; (chunk.Rows < movingRows || n > chunk.Rows/movingPart) && slices.ContainsFunc(m.Delete, gone) {
				t.Errorf("seed %d: %d of %d rows were changed, and some moved", seed, n, chunk.Rows)
			}
			same, err := stays.Apply(before)
			if err != nil {
				t.Fatal(err)
			}
			now, at := same.At(first)
			if at != 0 {
				t.Fatal("chunks were joined")
			}
			for _, u := range c.Update {
				old, new := chunk.Segments[u.Column], now.Segments[u.Column]
				if chunk.Rows >= movingRows && n <= chunk.Rows/64 && old.NonNull() > 0 && (old.Base != new.Base || len(old.Dict) != len(new.Dict)) {
					t.Errorf("seed %d: %d of %d rows were changed, and column %d has other codes", seed, n, chunk.Rows, u.Column)
				}
			}
			first += chunk.Rows
		}
	}
	if min(moved, stayed, both) < 10 {
		t.Errorf("of %d changes all rows moved, of %d none, of %d some", moved, stayed, both)
	}
}

// Columns that change places, and two that become of one, are so after a checkpoint, and when the log is read. None is changed with
// another.
func TestColumnsThatChangePlaces(t *testing.T) {
	big := table.Type{Kind: table.BigInt}
	def := func() *Definition {
		return &Definition{Name: "t", Fields: []table.Field{{Name: "a", Type: big}, {Name: "b", Type: big}}, Columns: make([]Column, 2)}
	}
	column := func(values ...int64) *table.Segment {
		var list []table.Value
		for _, v := range values {
			list = append(list, table.Int(v))
		}
		return table.SegmentOf(big, list...)
	}
	from := func(columns ...int) Change {
		return Change{Table: "t", Define: def(), From: columns, Fill: make([]table.Value, 2)}
	}
	update := func(col int, values ...int64) Change {
		return Change{Table: "t", Update: []Update{{col, []int{0, 1, 2}, column(values...)}}}
	}
	for _, written := range []bool{false, true} { // the rows are in files
		r := rand.New(rand.NewPCG(1, 2))
		d := newModelled()
		db, err := openOn(d)
		if err != nil {
			t.Fatal(err)
		}
		for i, step := range []struct {
			change Change
			want   string
		}{
			{Change{Table: "t", Define: def()}, ""},
			{Change{Table: "t", Append: []*table.Chunk{{Rows: 3, Segments: []*table.Segment{column(1, 2, 3), column(300, 200, 100)}}}}, "1|300|2|200|3|100|"},
			{from(1, 0), "300|1|200|2|100|3|"},
			{update(0, 7, 8, 9), "7|1|8|2|9|3|"},
			{from(0, 0), "7|7|8|8|9|9|"},
			{update(1, 9, 8, 7), "7|9|8|8|9|7|"},
			{update(0, 7, 7, 7), "7|9|7|8|7|7|"},
		} {
			if err := db.commit(step.change); err != nil {
				t.Fatal(err)
			}
			if written {
				if err := db.checkpoint(); err != nil {
					t.Fatal(err)
				}
			}
			again, err := openOn(d.after(r))
			if err != nil {
				t.Fatal(err)
			}
			for _, db := range []*database{db, again} {
				_, rows, _ := strings.Cut(db.state(), "\n")
				if got := strings.ReplaceAll(rows, "\n", ""); got != step.want {
					t.Errorf("written %v, commit %d: %s, want %s", written, i, got, step.want)
				}
			}
		}
	}
}
