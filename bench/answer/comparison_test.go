package answer

import (
	"maps"
	"math"
	"math/big"
	"reflect"
	"slices"
	"testing"

	"github.com/stencildb/stencildb/sql"
	"github.com/stencildb/stencildb/table"
)

// ints are rows of integers.
func ints(rows ...[]int64) (a Answer) {
	for _, r := range rows {
		var row []table.Value
		for _, i := range r {
			row = append(row, table.Int(i))
		}
		a = append(a, row)
	}
	return a
}

// cells is an answer of one column.
func cells(values ...table.Value) (a Answer) {
	for _, v := range values {
		a = append(a, []table.Value{v})
	}
	return a
}

func TestCompare(t *testing.T) {
	null := table.Null(table.Type{})
	decimal := func(unscaled int64, scale int) table.Value {
		return table.Dec(table.Type{Kind: table.Decimal, Precision: 18, Scale: scale}, big.NewInt(unscaled))
	}
	date := table.Value{Type: table.Type{Kind: table.Date}, I: 3}
	midnight := table.Value{Type: table.Type{Kind: table.Timestamp}, I: 3 * table.MicrosPerDay}
	first := Shape{Keys: []int{0}}
	top := func(n int64) Shape { return Shape{Keys: []int{0}, Most: n} }
	for name, c := range map[string]struct {
		shape     Shape
		want, got Answer
		exact     bool
		first     string // what differs: what there is instead of what; "" for nothing
	}{
		"no rows":                       {},
		"fewer rows":                    {want: ints([]int64{1}, []int64{2}), got: ints([]int64{1}), first: "1 row / 2 rows"},
		"none":                          {want: ints([]int64{1}), first: "0 rows / 1 row"},
		"other columns":                 {want: ints([]int64{1}), got: ints([]int64{1, 2}), first: "1, 2 / 1"},
		"in any order":                  {want: ints([]int64{1, 2}, []int64{3, 4}), got: ints([]int64{3, 4}, []int64{1, 2}), exact: true},
		"as often":                      {want: ints([]int64{1}, []int64{1}, []int64{2}), got: ints([]int64{1}, []int64{2}, []int64{2}), first: "2 / 1"},
		"in order":                      {shape: first, want: ints([]int64{1, 2}, []int64{3, 4}), got: ints([]int64{3, 4}, []int64{1, 2}), first: "3, 4 / 1, 2"},
		"alike in the keys":             {shape: first, want: ints([]int64{1, 2}, []int64{1, 4}, []int64{2, 0}), got: ints([]int64{1, 4}, []int64{1, 2}, []int64{2, 0})},
		"wrong beside the keys":         {shape: first, want: ints([]int64{1, 2}, []int64{1, 4}), got: ints([]int64{1, 2}, []int64{1, 5}), first: "1, 5 / 1, 4"},
		"cut by LIMIT":                  {shape: top(2), want: ints([]int64{1, 2}, []int64{2, 3}), got: ints([]int64{1, 2}, []int64{2, 4})},
		"before the cut":                {shape: top(2), want: ints([]int64{1, 2}, []int64{2, 3}), got: ints([]int64{1, 5}, []int64{2, 3}), first: "1, 5 / 1, 2"},
		"fewer than LIMIT":              {shape: top(3), want: ints([]int64{1, 2}, []int64{2, 3}), got: ints([]int64{1, 2}, []int64{2, 4}), first: "2, 4 / 2, 3"},
		"LIMIT alone":                   {shape: Shape{Most: 1}, want: ints([]int64{1}), got: ints([]int64{7})},
		"cut by OFFSET":                 {shape: Shape{Keys: []int{0}, Skips: true}, want: ints([]int64{1, 2}, []int64{2, 3}), got: ints([]int64{1, 9}, []int64{2, 3})},
		"behind the OFFSET":             {shape: Shape{Keys: []int{0}, Skips: true}, want: ints([]int64{1, 2}, []int64{2, 3}), got: ints([]int64{1, 2}, []int64{2, 4}), first: "2, 4 / 2, 3"},
		"DISTINCT ON":                   {shape: Shape{Keys: []int{0}, Picks: true}, want: ints([]int64{1, 2}, []int64{2, 3}), got: ints([]int64{1, 9}, []int64{2, 9})},
		"NULL":                          {want: cells(null, table.Int(1)), got: cells(table.Int(1), null)},
		"NULL and a value":              {want: cells(null), got: cells(table.Int(0)), first: "0 / NULL"},
		"NULL and its word":             {want: cells(table.Str("NULL")), got: cells(null), first: "NULL / NULL"},
		"text":                          {want: cells(table.Str("a"), table.Str("b")), got: cells(table.Str("b"), table.Str("a"))},
		"numbers as text":               {want: cells(table.Int(12)), got: OfText("12")},
		"decimals":                      {want: cells(decimal(150, 2)), got: cells(decimal(15, 1)), exact: true},
		"a decimal as a DOUBLE":         {want: cells(decimal(150, 2)), got: cells(table.Float(1.5))},
		"BOOLEAN as a number":           {want: cells(table.Bool(true)), got: cells(table.Int(1))},
		"a date as text":                {want: cells(date), got: OfText(date.String())},
		"the last digits of a REAL":     {want: cells(table.Float(0.1)), got: cells(table.Value{Type: table.Type{Kind: table.Real}, F: float64(float32(0.1))})},
		"the last digits of a DOUBLE":   {want: cells(table.Float(0.1)), got: cells(table.Float(float64(float32(0.1)))), first: "0.10000000149011612 / 0.1"},
		"a date as its midnight":        {want: cells(date), got: cells(midnight)},
		"the last digits":               {want: cells(table.Float(0.30000000000000004)), got: cells(table.Float(0.3))},
		"the last digits, exactly":      {want: cells(table.Float(0.30000000000000004)), got: cells(table.Float(0.3)), exact: true, first: "0.3 / 0.30000000000000004"},
		"more than the last digits":     {want: cells(table.Float(3)), got: cells(table.Float(3.0001)), first: "3.0001 / 3"},
		"NaN and infinity":              {want: cells(table.Float(math.NaN()), table.Float(math.Inf(1))), got: cells(table.Float(math.Inf(1)), table.Float(math.NaN()))},
		"infinity and a number":         {want: cells(table.Float(math.Inf(1))), got: cells(table.Float(math.MaxFloat64)), first: "1.7976931348623157e+308 / Infinity"},
		"numbers near before the exact": {want: Answer{{table.Float(1), table.Int(1)}, {table.Float(1 + 1e-12), table.Int(2)}}, got: Answer{{table.Float(1), table.Int(2)}, {table.Float(1 + 1e-12), table.Int(1)}}},
	} {
		got := ""
		if d := c.shape.Compare(c.want, c.got, c.exact); d != nil {
			got = d.Got + " / " + d.Want
		}
		if got != c.first {
			t.Errorf("%s: %q, want %q", name, got, c.first)
		}
	}
}

func TestShapes(t *testing.T) {
	integer := table.Type{Kind: table.BigInt}
	tab := &table.Table{Name: "t", Fields: []table.Field{{Name: "a", Type: integer}, {Name: "b", Type: integer}, {Name: "c", Type: integer}}}
	for text, want := range map[string]struct {
		reads []int
		shape Shape
	}{
		"SELECT COUNT(*) FROM t":                                {nil, Shape{}},
		"SELECT b, a FROM t ORDER BY a, b DESC":                 {[]int{0, 1}, Shape{Keys: []int{1, 0}}},
		"SELECT a + b FROM t ORDER BY b + a, 1 LIMIT 5":         {[]int{0, 1}, Shape{Most: 5}},
		"SELECT a FROM t ORDER BY a, c OFFSET 2":                {[]int{0, 2}, Shape{Keys: []int{0}, Skips: true}},
		"SELECT DISTINCT b, a FROM t ORDER BY a":                {[]int{0, 1}, Shape{Keys: []int{1}}},
		"SELECT DISTINCT ON (a) a, b FROM t ORDER BY a LIMIT 3": {[]int{0, 1}, Shape{Keys: []int{0}, Most: 3, Picks: true}},
		"SELECT c, SUM(a) FROM t GROUP BY c ORDER BY SUM(a)":    {[]int{0, 2}, Shape{Keys: []int{1}}},
		"SELECT a FROM t WHERE c > 1 LIMIT 1":                   {[]int{0, 2}, Shape{Most: 1}},
	} {
		reads, shape, err := Describe(text, []*table.Table{tab})
		if err != nil || !maps.EqualFunc(reads, map[string][]int{"t": want.reads}, slices.Equal) || !reflect.DeepEqual(shape, want.shape) {
			t.Errorf("%s: reads %v, %+v, %v, want %v, %+v", text, reads, shape, err, want.reads, want.shape)
		}
	}
	if _, _, err := Describe("SELECT x FROM t", []*table.Table{tab}); err == nil || sql.Describe("SELECT x FROM t", err) == err.Error() {
		t.Errorf("%v, want an error with its place", err)
	}
}
