package externalsort

import (
	"cmp"
	"context"
	"fmt"
	"math/rand"
	"slices"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"

	"github.com/stencildb/stencildb/engine/sortkey"
	"github.com/stencildb/stencildb/engine/spill"
	"github.com/stencildb/stencildb/expr"
	"github.com/stencildb/stencildb/table"
)

// row is a row of the test: a text and a number, either of which may be NULL, and its number in the input.
type row struct {
	text, number *string
	n            int64
	at           int
}

// batch is rows as columns.
func batch(rows []row) []arrow.Array {
	texts, numbers, places := array.NewStringBuilder(memory.DefaultAllocator), array.NewInt64Builder(memory.DefaultAllocator), array.NewInt64Builder(memory.DefaultAllocator)
	for _, r := range rows {
		if r.text == nil {
			texts.AppendNull()
		} else {
			texts.Append(*r.text)
		}
		if r.number == nil {
			numbers.AppendNull()
		} else {
			numbers.Append(r.n)
		}
		places.Append(int64(r.at))
	}
	return []arrow.Array{texts.NewArray(), numbers.NewArray(), places.NewArray()}
}

// compare is the order of two values of which either may be NULL.
func compare[T cmp.Ordered](aNull, bNull bool, a, b T, k expr.SortKey) int {
	switch {
	case aNull && bNull:
		return 0
	case aNull != bNull:
		if aNull == k.NullsFirst {
			return -1
		}
		return 1
	case k.Desc:
		return cmp.Compare(b, a)
	}
	return cmp.Compare(a, b)
}

// Rows come in the order of their keys, alike ones as they came. All are in memory, or runs are merged at once, or several times. With
// a LIMIT the first ones come, and of unique keys the first row of each.
func TestSortsBeyondItsBudget(t *testing.T) {
	random := rand.New(rand.NewSource(7))
	some := "x"
	rows := make([]row, 20_000)
	for i := range rows {
		rows[i].at = i
		if random.Intn(10) > 0 {
			text := fmt.Sprint(random.Intn(50)) + string([]byte{byte(random.Intn(2))})
			rows[i].text = &text
		}
		if random.Intn(10) > 0 {
			rows[i].number, rows[i].n = &some, int64(random.Intn(400)-200)
		}
	}
	for at, c := range []struct {
		budget        int64
		unique        int
		first         int64
		desc, nullsUp bool
		files         bool // some runs are written
	}{
		{1 << 30, 0, -1, false, false, false},
		{1 << 20, 0, -1, true, true, true},
		{1 << 15, 0, -1, false, true, true}, // more runs than are merged at once
		{1 << 15, 0, 1234, true, false, true},
		{1 << 16, 2, -1, false, true, true},
		{1 << 30, 1, 7, true, false, false},
	} {
		keys := []sortkey.Key{
			{SortKey: expr.SortKey{E: &expr.Column{T: table.Type{Kind: table.Varchar}}, Desc: c.desc, NullsFirst: c.nullsUp}, Column: 0},
			{SortKey: expr.SortKey{E: &expr.Column{T: table.Type{Kind: table.BigInt}}, Desc: !c.desc, NullsFirst: !c.nullsUp}, Column: 1},
		}
		by := func(a, b row, keysOf int) int {
			text := func(r row) string {
				if r.text == nil {
					return ""
				}
				return *r.text
			}
			order := compare(a.text == nil, b.text == nil, text(a), text(b), keys[0].SortKey)
			if keysOf == 1 || order != 0 {
				return order
			}
			return compare(a.number == nil, b.number == nil, a.n, b.n, keys[1].SortKey)
		}
		want := slices.Clone(rows)
		slices.SortStableFunc(want, func(a, b row) int { return by(a, b, 2) })
		if c.unique > 0 {
			want = slices.CompactFunc(want, func(a, b row) bool { return by(a, b, c.unique) == 0 })
		}
		if c.first >= 0 {
			want = want[:min(len(want), int(c.first))]
		}

		file := spill.NewFile(spill.CreateTemporary)
		m := NewMerge(context.Background(), file, keys, c.budget, 1, 40)
		m.Unique, m.First = c.unique, c.first
		sorting := NewRuns(m, c.budget)
		for some := range slices.Chunk(rows, 64) {
			if err := sorting.Add(batch(some)); err != nil {
				t.Fatal(err)
			}
		}
		out, err := sorting.Sorted()
		if err != nil {
			t.Fatal(err)
		}
		var got []int64
		for b, err := range out {
			if err != nil {
				t.Fatal(err)
			}
			got = append(got, b[2].(*array.Int64).Int64Values()...)
			release(b)
		}
		if written := file.Size() > 0; written != c.files {
			t.Errorf("case %d: %d bytes are in the temporary file", at, file.Size())
		}
		if len(got) != len(want) {
			t.Fatalf("case %d: %d rows, want %d", at, len(got), len(want))
		}
		for i, r := range want {
			if got[i] != int64(r.at) {
				t.Fatalf("case %d: row %d of the input is number %d, want row %d", at, got[i], i, r.at)
			}
		}
		file.Close()
	}
}
