package workload

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"strconv"
	"strings"

	"github.com/stencildb/stencildb/bench/meter"
	"github.com/stencildb/stencildb/bench/report"
	"github.com/stencildb/stencildb/engine"
	"github.com/stencildb/stencildb/table"
)

// TableProfile is what the statements over a table are made of.
type TableProfile struct {
	Rows     int
	Table    string
	columns  []columnProfile // those of integers first
	Integers int             // how many columns are of integers
}

// columnProfile is what statements need to know of a column.
type columnProfile struct {
	name      string // quoted
	typ       table.Type
	quantiles map[int]string // the constant by its percentage
	values    int            // rows in which it is not NULL
	lo, hi    int64          // of a column of integers
}

// percentages are those of the quantiles that operations use.
var percentages = []int{20, 40, 60, 80}

// NewTableProfile finds the profile of a table.
func NewTableProfile(ctx context.Context, t *table.Table) (f *TableProfile, err error) {
	db, err := engine.Open(engine.Options{Backend: "cpu"})
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	if err := db.Add(t); err != nil {
		return nil, err
	}
	f = &TableProfile{Rows: t.Rows(), Table: Quoted(t.Name)}
	for _, field := range t.Fields {
		c := columnProfile{name: Quoted(field.Name), typ: field.Type, quantiles: map[int]string{}}
		items := fmt.Sprintf("COUNT(%[1]s), MIN(%[1]s), MAX(%[1]s)", c.name)
		for _, p := range percentages {
			items += fmt.Sprintf(", percentile_disc(0.%d) WITHIN GROUP (ORDER BY %s)", p, c.name)
		}
		r, err := engine.Collect(db.Query(ctx, "SELECT "+items+" FROM "+f.Table))
		if err != nil {
			return nil, err
		}
		v := r.Rows[0]
		c.values, c.lo, c.hi = int(v[0].I), v[1].I, v[2].I
		for i, p := range percentages {
			c.quantiles[p] = literal(v[3+i])
		}
		if f.columns = append(f.columns, c); field.Type.IsInteger() {
			f.Integers++
		}
	}
	return f, nil
}

// literal writes a value as SQL that has exactly this value.
func literal(v table.Value) string {
	switch {
	case v.Null:
	case math.IsNaN(v.F) || math.IsInf(v.F, 0):
		return "CAST('" + v.String() + "' AS double precision)"
	case v.Type.IsFloat(): // without an exponent DuckDB takes it for a decimal
		return strconv.FormatFloat(v.F, 'e', -1, 64)
	case v.Type.Kind == table.Date:
		return "DATE '" + v.String() + "'"
	case v.Type.Kind == table.Timestamp:
		return "TIMESTAMP '" + v.String() + "'"
	}
	return v.String()
}

// Quoted writes a name so that SQL takes it as it is.
func Quoted(name string) string { return `"` + strings.ReplaceAll(name, `"`, `""`) + `"` }

// Lacks says why an operation cannot run over the table, or "".
func (f *TableProfile) Lacks(op Operation) string {
	have, what := len(f.columns), "attributes"
	if op.Integers {
		have, what = f.Integers, "attributes of integers"
	}
	if op.Attributes <= uses*have {
		return ""
	}
	return fmt.Sprintf("this takes %d %s, each twice at most; the table has %d", op.Attributes, what, have)
}

// name is the i-th attribute that an operation takes. Beyond those of the table they
// are used again.
func (f *TableProfile) name(i int) string { return f.columns[i%len(f.columns)].name }

// Integer is the i-th one of integers, likewise.
func (f *TableProfile) Integer(i int) string { return f.columns[i%f.Integers].name }

// at is the constant below which that percentage of attribute i lies.
func (f *TableProfile) at(i, percent int) string {
	return f.columns[i%len(f.columns)].quantiles[percent]
}

// number is a quantile of a column of integers; 0 where all are NULL.
func (f *TableProfile) number(i, percent int) int64 {
	n, _ := strconv.ParseInt(f.at(i, percent), 10, 64) // "NULL" is 0
	return n
}

// below selects that percentage of the rows by attribute i.
func (f *TableProfile) below(i, percent int) string { return f.name(i) + " < " + f.at(i, percent) }

func (f *TableProfile) CountWhere(condition string) meter.Query {
	return meter.Query{SQL: "SELECT COUNT(*) FROM " + f.Table + " WHERE " + condition}
}

// value is a statement whose answer is made of the first attribute.
func (f *TableProfile) value(item string) meter.Query {
	return meter.Query{SQL: "SELECT " + item + " FROM " + f.Table}
}

// linear counts by a condition on a linear combination of attributes of integers. DuckDB,
// which computes with their own width, gets SMALLINT as INTEGER.
func (f *TableProfile) linear(condition func(attribute func(int) string) string) meter.Query {
	q := f.CountWhere(condition(f.Integer))
	q.Peers = map[string]string{"duckdb": f.CountWhere(condition(func(i int) string {
		if f.columns[i%f.Integers].typ.Kind == table.SmallInt {
			return "CAST(" + f.Integer(i) + " AS INTEGER)"
		}
		return f.Integer(i)
	})).SQL}
	return q
}

// coefficientSeed is of the random coefficients, which are the same in every run.
const coefficientSeed = 2004

// semilinear is a linear combination of four attributes of integers with random coefficients of both signs.
// It is compared with its value where every attribute is at its 60th percentile.
func (f *TableProfile) semilinear(attribute func(int) string) string {
	random := rand.New(rand.NewPCG(coefficientSeed, 4))
	text, limit := "", int64(0)
	for i := range report.MaxAttributes {
		c, sign := 1+random.Int64N(9), int64(1)
		switch {
		case i%2 == 1:
			sign = -1
			text += " - "
		case i > 0:
			text += " + "
		}
		text += fmt.Sprintf("%d * %s", c, attribute(i))
		limit += sign * c * f.number(i%f.Integers, 60)
	}
	return fmt.Sprintf("%s < %d", text, limit)
}

// SemilinearFloat is the paper's: four random floating-point coefficients, of both signs, below
// the value where every attribute is at its 60th percentile. The statement computes in doubles,
// term by term.
func (f *TableProfile) semilinearFloat() meter.Query {
	random := rand.New(rand.NewPCG(coefficientSeed, 5))
	l := &meter.Linear{}
	text := ""
	for i := range report.MaxAttributes {
		c := math.Round(1e6*(0.5+9*random.Float64())) / 1e6
		if i > 0 {
			text += " + "
		}
		if i%2 == 1 {
			c = -c
		}
		text += literal(table.Float(c)) + " * " + f.Integer(i)
		l.Columns, l.Coefficients = append(l.Columns, i%f.Integers), append(l.Coefficients, c)
		l.Limit += c * float64(f.number(i%f.Integers, 60))
	}
	// The sums are multiples of 1e-6, of which none is the limit, to whichever side a database rounds.
	l.Limit = math.Round(1e6*l.Limit)/1e6 + 5e-7
	q := f.CountWhere(text + " < " + literal(table.Float(l.Limit)))
	q.Linear = l
	return q
}

// polynomial is a polynomial, with random coefficients, of the attribute of integers with the narrowest
// range, less the middle of its range. It has another attribute to the first degree, and is compared with its
// value at their 60th percentiles. Of one attribute alone the planner would make a comparison of a polynomial
// that rises.
func (f *TableProfile) polynomial(degree int) meter.Query {
	if f.Integers < 2 {
		return meter.Query{Cannot: "a polynomial takes two attributes of integers; the table has one"}
	}
	c, col := f.columns[0], 0
	for i, other := range f.columns[:f.Integers] {
		if uint64(other.hi-other.lo) < uint64(c.hi-c.lo) {
			c, col = other, i
		}
	}
	middle := c.lo + (c.hi-c.lo)/2
	random := rand.New(rand.NewPCG(coefficientSeed, 6))
	coefficients := make([]int64, degree)
	for i := range coefficients {
		coefficients[i] = 1 + random.Int64N(5)
	}
	coefficients[degree-1] = 1
	y := (col + 1) % f.Integers
	other := f.columns[y]
	// All on the way to its value has to fit 64 bits too; the coefficients are positive.
	if valueAt(coefficients, float64(max(c.hi-middle, middle-c.lo)))+math.Abs(float64(other.lo))+math.Abs(float64(other.hi)) >= 1<<62 {
		return meter.Query{Cannot: fmt.Sprintf("the powers of %s up to %d do not fit 64 bits", c.name, degree)}
	}
	limit := valueAt(coefficients, f.number(col, 60)-middle) + f.number(y, 60)
	write := func(one, column, other string) string {
		operand := fmt.Sprintf("(%s - %d)", column, middle)
		var terms []string
		for i, k := range coefficients {
			terms = append(terms, fmt.Sprintf(one, k)+strings.Repeat(" * "+operand, i+1))
		}
		return f.CountWhere(fmt.Sprintf("%s + %s < %d", strings.Join(terms, " + "), other, limit)).SQL
	}
	// The powers are BIGINT since their coefficients are; SQLite has one type of integers, and DuckDB computes with the column's own width.
	return meter.Query{SQL: write("%d::bigint", c.name, other.name), Peers: map[string]string{"sqlite": write("%d", c.name, other.name),
		"duckdb": write("%d", "CAST("+c.name+" AS BIGINT)", "CAST("+other.name+" AS BIGINT)")}}
}

// valueAt is the value of a polynomial without a constant term.
func valueAt[T int64 | float64](coefficients []int64, x T) (sum T) {
	power := T(1)
	for _, c := range coefficients {
		power *= x
		sum += T(c) * power
	}
	return sum
}

// kthLargest is the k-th largest value of the first attribute. SQLite sorts. DuckDB keeps the largest where
// they are few, else it selects, as for a quantile. Of n values the (n-k+1)-th smallest is percentile_disc of
// any fraction above n-k and up to n-k+1 n-ths.
func (f *TableProfile) kthLargest(k int) meter.Query {
	x := f.columns[0].name
	if f.columns[0].values == 0 {
		return meter.Query{Cannot: x + " has no values"}
	}
	q := f.value(fmt.Sprintf("kth_largest(%s, %d)", x, k))
	sorted := fmt.Sprintf("SELECT %s FROM %s WHERE %s IS NOT NULL ORDER BY 1 DESC LIMIT 1 OFFSET %d", x, f.Table, x, k-1)
	q.Peers = map[string]string{"sqlite": sorted, "duckdb": sorted}
	if k > f.columns[0].values/100 {
		fraction := (float64(f.columns[0].values-k) + 0.5) / float64(f.columns[0].values)
		q.Peers["duckdb"] = fmt.Sprintf("SELECT percentile_disc(%.12f) WITHIN GROUP (ORDER BY %s) FROM %s", fraction, x, f.Table)
	}
	return q
}

// median is the element in the middle, as percentile_disc(0.5) defines it. SQLite
// sorts.
func (f *TableProfile) median(condition string) meter.Query {
	where, and := "", ""
	if condition != "" {
		where, and = " WHERE "+condition, " AND "+condition
	}
	x := f.columns[0].name
	q := f.value("percentile_disc(0.5) WITHIN GROUP (ORDER BY " + x + ")")
	q.SQL += where
	q.Peers = map[string]string{"sqlite": fmt.Sprintf(
		"SELECT (SELECT %s FROM %s WHERE %s IS NOT NULL%s ORDER BY 1 LIMIT 1 OFFSET (SELECT (COUNT(%s) - 1) / 2 FROM %s%s))",
		x, f.Table, x, and, x, f.Table, where)}
	return q
}
