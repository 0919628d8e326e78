package plantest

import (
	"strings"
	"testing"

	"github.com/stencildb/stencildb/expr"
	"github.com/stencildb/stencildb/plan"
	"github.com/stencildb/stencildb/plan/predicate"
	"github.com/stencildb/stencildb/table"
)

// BigInt is the type of whole numbers.
var BigInt = table.Type{Kind: table.BigInt}

// Flights is a small table: delay 0..99, distance 100..1090, a and b NULL once,
// price DECIMAL(18,2), city VARCHAR.
func Flights(t testing.TB) *table.Table {
	b := table.NewBuilder("flights", []table.Field{
		{Name: "delay", Type: table.Type{Kind: table.SmallInt}},
		{Name: "distance", Type: table.Type{Kind: table.BigInt}},
		{Name: "a", Type: table.Type{Kind: table.BigInt}},
		{Name: "price", Type: table.Type{Kind: table.Decimal, Precision: 18, Scale: 2}},
		{Name: "city", Type: table.Type{Kind: table.Varchar}},
		{Name: "x", Type: table.Type{Kind: table.Double}},
	}, 0)
	for i := range 100 {
		b.Column(0).Int(int64(i))
		b.Column(1).Int(int64(100 + 10*i))
		if i == 50 {
			b.Column(2).Null()
		} else {
			b.Column(2).Int(int64(i%7 - 3))
		}
		b.Column(3).Int(int64(i * 25))
		b.Column(4).String(string(rune('a'+i%26)) + "x")
		b.Column(5).Float(float64(i) / 8)
		if err := b.EndRow(); err != nil {
			t.Fatal(err)
		}
	}
	return b.Table()
}

// Numbered is a table of rows whose columns are functions of the row's number, and a scan of it.
func Numbered(t *testing.T, name string, rows int, columns ...func(i int) int) (*table.Table, *plan.Scan) {
	var fields []table.Field
	for i := range columns {
		fields = append(fields, table.Field{Name: name + string(rune('0'+i)), Type: BigInt})
	}
	b := table.NewBuilder(name, fields, 0)
	for i := range rows {
		for k, of := range columns {
			b.Column(k).Int(int64(of(i)))
		}
		if err := b.EndRow(); err != nil {
			t.Fatal(err)
		}
	}
	return b.Table(), &plan.Scan{Table: name, Columns: fields}
}

// Col is the column of a table with that name.
func Col(t *table.Table, name string) *expr.Column {
	for i, f := range t.Fields {
		if f.Name == name {
			return &expr.Column{Index: i, Name: name, T: f.Type, P: i}
		}
	}
	return nil
}

// Num is a constant of the smallest integer type that has it.
func Num(i int64) *expr.Const { return &expr.Const{V: table.Literal(i)} }

// Compare is l op r.
func Compare(l expr.Expr, op expr.CmpOp, r expr.Expr) expr.Expr {
	return &expr.Compare{Op: op, L: l, R: r}
}

// Arith is l o r as a BIGINT.
func Arith(l expr.Expr, o expr.ArithOp, r expr.Expr) expr.Expr {
	return &expr.Arith{Op: o, L: l, R: r, T: table.Type{Kind: table.BigInt}, P: 9}
}

// And is the conjunction of k.
func And(k ...expr.Expr) expr.Expr { return &expr.And{Kids: k} }

// Or is the disjunction of k.
func Or(k ...expr.Expr) expr.Expr { return &expr.Or{Kids: k} }

// Show writes a predicate with its leaves in brackets.
func Show(p *predicate.Pred) string {
	switch p.Op {
	case predicate.True:
		return "TRUE"
	case predicate.False:
		return "FALSE"
	case predicate.Simple:
		return "[" + p.Leaf.String() + "]"
	}
	var parts []string
	for _, k := range p.Kids {
		parts = append(parts, Show(k))
	}
	sep := " AND "
	if p.Op == predicate.Or {
		sep = " OR "
	}
	return "(" + strings.Join(parts, sep) + ")"
}

// Rows are the values of a table's live rows, chunk by chunk.
func Rows(t *table.Table) (rows [][]table.Value) {
	for _, c := range t.Chunks {
		for i := range c.Rows {
			if !c.IsLive(i) {
				continue
			}
			var row []table.Value
			for col := range t.Fields { // behind them is the mark of rows that are not deleted
				row = append(row, c.Segments[col].Value(i))
			}
			rows = append(rows, row)
		}
	}
	return rows
}
