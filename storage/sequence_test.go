package storage

import (
	"math"
	"strings"
	"testing"

	"github.com/stencildb/stencildb/table"
)

// A counter gives each number once, up to the limit of its type or its own.
func TestCounter(t *testing.T) {
	small, big := table.Type{Kind: table.SmallInt}, table.Type{Kind: table.BigInt}
	ten := int64(10)
	for _, c := range []struct {
		of    *Sequence
		typ   table.Type
		takes []int   // how many
		want  []int64 // the first of each; 0 where there are not as many
	}{
		{&Sequence{Start: 1, Step: 1}, small, []int{1, 5, 32761, 1, 1}, []int64{1, 2, 7, 0, 0}},
		{&Sequence{Start: 1, Step: 1}, small, []int{32768, 32767, 1}, []int64{0, 1, 0}},
		{&Sequence{Start: 7, Step: 3, Max: &ten}, big, []int{3, 2, 1}, []int64{0, 7, 0}},
		{&Sequence{Start: 11, Step: 3, Max: &ten}, big, []int{1}, []int64{0}},
		{&Sequence{Start: -1, Step: -1}, small, []int{32767, 1, 1}, []int64{-1, -32768, 0}},
		{&Sequence{Start: math.MaxInt64 - 1, Step: 1}, big, []int{1, 1, 1}, []int64{math.MaxInt64 - 1, math.MaxInt64, 0}},
		{&Sequence{Start: math.MinInt64, Step: math.MaxInt64}, big, []int{3, 1}, []int64{math.MinInt64, 0}},
		{&Sequence{Start: math.MaxInt64, Step: math.MinInt64}, big, []int{2, 1}, []int64{math.MaxInt64, 0}},
	} {
		for i, n := range c.takes {
			got, err := c.of.Take(n, c.typ)
			if (err != nil) != (c.want[i] == 0) || got != c.want[i] {
				t.Errorf("start %d, step %d: the %d-th take, of %d, is %d, %v, and not %d", c.of.Start, c.of.Step, i, n, got, err, c.want[i])
			}
		}
	}
}

// Counters go on behind the last number that the log or the manifest has.
func TestCountersAreKept(t *testing.T) {
	dir := t.TempDir()
	def := numbers("t")
	def.Columns[0].Sequence = &Sequence{Kind: Always, Start: 5, Step: 2}
	db, err := openIn(dir)
	if err == nil {
		err = db.commit(Change{Table: "t", Define: def})
	}
	for _, n := range []int64{9, 7} { // of transactions that took their numbers in another order
		if err == nil {
			err = db.commit(Change{Table: "t", Sequences: []SequenceValue{{0, n}}})
		}
	}
	if err == nil {
		err = db.Close()
	}
	for _, from := range []string{"the log", "the manifest"} {
		if err == nil {
			db, err = openIn(dir)
		}
		if err != nil {
			t.Fatal(err)
		}
		c := find(db.Store.tables, "t").def.Columns[0].Sequence
		if last, ok := c.Last(); !ok || last != 9 || c.Kind != Always || c.Start != 5 || c.Step != 2 {
			t.Errorf("from %s: %d, %v, %+v", from, last, ok, c)
		}
		if err = db.checkpoint(); err == nil {
			err = db.Close()
		}
	}
	// A number of a column that is not counted is damage.
	if db, err = openIn(dir); err == nil {
		err = db.commit(Change{Table: "t", Sequences: []SequenceValue{{1, 3}}})
		db.Close()
	}
	if _, again := openIn(dir); err != nil || again == nil || !strings.Contains(again.Error(), "column 1 of table t is not counted") {
		t.Errorf("%v; %v", err, again)
	}
}
