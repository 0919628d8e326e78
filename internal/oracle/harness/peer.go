package harness

import (
	"database/sql"
	"fmt"
	"math"
	"math/big"
	"strings"

	"github.com/stencildb/stencildb/expr"
	"github.com/stencildb/stencildb/internal/oracle/draw"
	"github.com/stencildb/stencildb/plan"
	"github.com/stencildb/stencildb/table"
)

// Peer is another database that holds copies of tables.
type Peer struct {
	DB *sql.DB
	Dialect
	// Eager says that AND and OR evaluate all their operands, errors included.
	Eager bool
}

// inexpressibleError says that the peer has no way to say a condition.
type inexpressibleError struct{ what string }

func (e *inexpressibleError) Error() string { return "the peer cannot say " + e.what }

// Exec runs a statement.
func (p *Peer) Exec(text string, args ...any) error {
	if _, err := p.DB.Exec(text, args...); err != nil {
		return fmt.Errorf("%s: %w", text[:min(len(text), 200)], err)
	}
	return nil
}

// Load copies a table, a few hundred rows a statement.
func (p *Peer) Load(tab *table.Table) error {
	var cols []string
	for _, f := range tab.Fields {
		cols = append(cols, f.Name+" "+p.ColumnType(f.Type))
	}
	if err := p.Exec("CREATE TABLE " + tab.Name + "(" + strings.Join(cols, ", ") + ")"); err != nil {
		return err
	}
	batch := max(1, 4000/len(tab.Fields))
	for _, c := range tab.Compacted().Chunks {
		for from := 0; from < c.Rows; from += batch {
			w := &Writer{Dialect: p.Dialect}
			w.Put("INSERT INTO ", tab.Name, " VALUES ")
			for row := from; row < min(from+batch, c.Rows); row++ {
				w.Put([]any{", (", "("}[draw.Int(row == from)])
				for i, s := range c.Segments {
					if i > 0 {
						w.Put(", ")
					}
					w.Put(s.Value(row))
				}
				w.Put(")")
			}
			if err := p.Exec(w.Text.String(), w.Args...); err != nil {
				return err
			}
		}
	}
	return nil
}

// Drop deletes a copy.
func (p *Peer) Drop(name string) error { return p.Exec("DROP TABLE " + name) }

// selection is the FROM and WHERE of a statement.
type selection struct {
	p    *Peer
	from string
	args []any
}

// Answer computes the aggregates of q over a table of the given number of rows.
func (p *Peer) Answer(q *plan.Fragment, rows int) ([]table.Value, error) {
	w := &Writer{Dialect: p.Dialect}
	w.Put(" FROM ", q.Table, " WHERE ")
	if q.Where == nil {
		w.Put("1 = 1")
	} else {
		w.Put(q.Where)
	}
	if w.Refused != "" {
		return nil, &inexpressibleError{w.Refused}
	}
	s := &selection{p, w.Text.String(), w.Args}
	var out []table.Value
	for _, a := range q.Aggs {
		v, err := s.aggregate(a, rows)
		if err != nil {
			return nil, err
		}
		out = append(out, v)
	}
	return out, nil
}

// query runs SELECT what, with more after the WHERE, and returns the first column
// of every row.
func (s *selection) query(what, more string) (out []any, err error) {
	rows, err := s.p.Values("SELECT "+what+s.from+more, s.args...)
	for _, row := range rows {
		out = append(out, row[0])
	}
	return out, err
}

// Values runs a statement and returns its rows.
func (p *Peer) Values(text string, args ...any) (out [][]any, err error) {
	rows, err := p.DB.Query(text, args...)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", text, err)
	}
	defer rows.Close()
	columns, err := rows.Columns()
	if err != nil {
		return nil, err
	}
	for rows.Next() {
		row, at := make([]any, len(columns)), make([]any, len(columns))
		for i := range row {
			at[i] = &row[i]
		}
		if err := rows.Scan(at...); err != nil {
			return nil, err
		}
		out = append(out, row)
	}
	if err := rows.Err(); err != nil {
		return nil, fmt.Errorf("%s: %w", text, err)
	}
	return out, nil
}

// one runs a query of one value.
func (s *selection) one(what, more string, t table.Type) (table.Value, error) {
	list, err := s.query(what, more)
	if err != nil {
		return table.Value{}, err
	}
	if len(list) != 1 {
		return table.Value{}, fmt.Errorf("%s%s%s: %d rows", what, s.from, more, len(list))
	}
	return FromPeer(list[0], t)
}

// BigInt is the type of counts.
var BigInt = table.Type{Kind: table.BigInt}

func (s *selection) aggregate(a expr.Aggregate, rows int) (table.Value, error) {
	switch a.Kind {
	case expr.CountAll:
		return s.one("COUNT(*)", "", BigInt)
	case expr.Selectivity:
		n, err := s.one("COUNT(*)", "", BigInt)
		if rows == 0 {
			return table.Null(a.Type()), err
		}
		return table.Float(float64(n.I) / float64(rows)), err
	}
	count, err := s.one("COUNT("+a.Name+")", "", BigInt)
	n := count.I
	null := table.Null(a.Type())
	if err != nil || a.Kind == expr.Count {
		return count, err
	}
	if (n == 0 || a.Null) && a.Kind != expr.KthLargest && a.Kind != expr.KthSmallest {
		return null, nil
	}
	col := s.p.Output(a.Name, a.Arg)
	switch a.Kind {
	case expr.Min:
		return s.one(s.p.Output("MIN("+a.Name+")", a.Arg), "", a.Arg)
	case expr.Max:
		return s.one(s.p.Output("MAX("+a.Name+")", a.Arg), "", a.Arg)
	case expr.Percentile:
		return s.element(col, a, a.Desc, max(1, int64(math.Ceil(a.F*float64(n)))))
	case expr.KthLargest, expr.KthSmallest:
		if a.K < 1 || a.K > n {
			return null, fmt.Errorf("there is no element %d of %d", a.K, n)
		}
		return s.element(col, a, a.Kind == expr.KthLargest, a.K)
	}
	if a.Arg.IsFloat() {
		return s.floats(col, a)
	}
	return s.exact(a, n)
}

// element is the k-th value in the order of the column.
func (s *selection) element(col string, a expr.Aggregate, desc bool, k int64) (table.Value, error) {
	order := ""
	if desc {
		order = " DESC"
	}
	return s.one(col, fmt.Sprintf(" AND %s IS NOT NULL ORDER BY %s%s LIMIT 1 OFFSET %d", a.Name, a.Name, order, k-1), a.Arg)
}

// exact is SUM and AVG of a column of integers or DECIMALs, n of them.
func (s *selection) exact(a expr.Aggregate, n int64) (table.Value, error) {
	sum := new(big.Int)
	for _, part := range s.p.Sum(a.Name) {
		v, err := s.one(part.Text, "", table.Type{Kind: table.Decimal, Precision: 38, Scale: a.Arg.Scale})
		if err != nil {
			return v, err
		}
		sum.Add(sum, new(big.Int).Mul(v.Unscaled(), big.NewInt(part.Weight)))
	}
	if a.Kind == expr.Sum {
		return table.Dec(a.Type(), sum), nil
	}
	f, _ := new(big.Rat).SetFrac(sum, new(big.Int).Mul(table.Pow10(a.Arg.Scale), big.NewInt(n))).Float64()
	return table.Float(f), nil
}

// floats is SUM and AVG of a REAL or DOUBLE column: the peer selects, the exact sum
// is added up here.
func (s *selection) floats(col string, a expr.Aggregate) (table.Value, error) {
	list, err := s.query(col, " AND "+a.Name+" IS NOT NULL")
	if err != nil {
		return table.Value{}, err
	}
	out, sum, special := table.Value{Type: a.Type()}, new(big.Rat), 0.0
	for _, v := range list {
		f := v.(float64)
		if r := new(big.Rat).SetFloat64(f); r != nil {
			sum.Add(sum, r)
		} else {
			special += f
		}
	}
	if a.Kind == expr.Avg {
		sum.Quo(sum, big.NewRat(int64(len(list)), 1))
	}
	if out.F, _ = sum.Float64(); a.Type().Kind == table.Real {
		f, _ := sum.Float32()
		out.F = float64(f)
	}
	if special != 0 {
		out.F = special
	}
	return out, nil
}

// FromPeer makes a value of a type of what database/sql scanned: integers for all
// that [table.Value] holds in I, save DECIMALs, which are text.
func FromPeer(v any, t table.Type) (table.Value, error) {
	out := table.Value{Type: t}
	if b, ok := v.([]byte); ok {
		v = string(b)
	}
	switch v := v.(type) {
	case nil:
		out.Null = true
	case string:
		if t.Kind == table.Varchar {
			out.S = v
			return out, nil
		}
		whole, frac, _ := strings.Cut(v, ".")
		u, ok := new(big.Int).SetString(whole+frac, 10)
		if !ok || len(frac) != t.Scale {
			return out, fmt.Errorf("%q for %v", v, t)
		}
		return table.Dec(t, u), nil
	case int64:
		out.I, out.F = v, float64(v)
	case int32:
		out.I = int64(v)
	case float64:
		if out.F = v; !t.IsFloat() {
			return out, fmt.Errorf("a double, %v, for %v", v, t)
		}
	default:
		return out, fmt.Errorf("%T for %v", v, t)
	}
	return out, nil
}
