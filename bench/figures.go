package bench

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
)

// The systems of the figures beside the backends and the peers.
const (
	classic        = "classic"
	classicCompute = "classic-compute-only" // less the CopyToDepth passes
	classicAlone   = "classic-no-count"     // the selection without its count
	cpuScalar      = "cpu-scalar"           // without vector instructions
	quickSelect    = "quickselect"
	mipmapSum      = "mipmap"
)

// special are the systems that run only the operations that name them.
var special = []string{classicCompute, classicAlone, quickSelect, mipmapSum}

// systems are those that backends stand for in the figures.
func (s Suite) systems(backends []string) []string {
	if s.Figures == nil {
		return slices.Clone(backends)
	}
	var list []string
	for _, b := range backends {
		list = append(list, b)
		switch b {
		case classic:
			list = append(list, classicCompute, classicAlone, mipmapSum)
		case "cpu":
			list = append(list, cpuScalar, quickSelect)
		}
	}
	return list
}

// takes reports whether a system runs the operation.
func (o Operation) takes(system string) bool {
	switch {
	case o.only != nil:
		return slices.Contains(o.only, system)
	case slices.Contains(special, system):
		return slices.Contains(o.extra, system)
	}
	return true
}

// Figure is one of the paper's.
type Figure struct {
	Number int
	Title  string
	// Panels are its plots.
	Panels []Panel

	everywhere []Operation // over tables of every size
	largest    []Operation // over the largest table
	ranked     []Operation // over a table of as many records as the paper's figure 7
}

// Panel is one plot of a figure: milliseconds over the axis, a line a system.
type Panel struct {
	Title      string
	XLabel     string
	LogX       bool
	Operations []string // whose points it shows
	Names      []string // of the places on the axis, where it is none of numbers
}

// recordsOfFigure7 is the size of the paper's table in figure 7.
const recordsOfFigure7 = 250_000

// fixedRows is the size of a table that the figure needs beside the others; 0: none.
func (f Figure) fixedRows(sizes []int) int {
	if f.ranked == nil {
		return 0
	}
	return min(recordsOfFigure7, slices.Max(sizes))
}

// operations are the figure's cases over a table; sizes are those of the axis.
func (f Figure) operations(sizes []int, rows int) []Operation {
	var list []Operation
	if slices.Contains(sizes, rows) {
		list = append(list, f.everywhere...)
	}
	if rows == slices.Max(sizes) {
		list = append(list, f.largest...)
	}
	if rows == f.fixedRows(sizes) {
		list = append(list, f.ranked...)
	}
	for i := range list {
		list[i].figure = f.Number
	}
	return list
}

// ladder are the sizes of tables up to one of that many rows.
func ladder(rows int) []int {
	step := 2
	if rows > 1<<24 {
		step = 4
	}
	var list []int
	for n := rows; n > 0 && len(list) < 5; n /= step {
		list = append(list, n)
	}
	slices.Reverse(list)
	return list
}

// Figures lists the paper's figures 2 to 10, and as 11 its section 5.11 on
// selectivities.
func Figures() []Figure {
	return []Figure{
		copyFigure(), predicateFigure(), rangeFigure(), conjunctionFigure(), semilinearFigure(),
		rankFigure(), medianFigure(), medianWhereFigure(), sumFigure(), selectivityFigure(),
	}
}

// FindFigure returns the figure of that number.
func FindFigure(number int) (Figure, error) {
	for _, f := range Figures() {
		if f.Number == number {
			return f, nil
		}
	}
	return Figure{}, fmt.Errorf("no figure %d: there are 2 to 11", number)
}

// overRecords is the panel of operations over tables of several sizes.
func overRecords(title string, operations ...string) Panel {
	return Panel{Title: title, XLabel: "records", LogX: true, Operations: operations}
}

func copyFigure() Figure {
	return Figure{
		Number: 2, Title: "Copy of an attribute to the depth buffer", Panels: []Panel{overRecords("", "copy_to_depth")},
		everywhere: []Operation{{Name: "copy_to_depth", Attributes: 1, only: []string{classic}, query: func(f *facts) Query {
			q := f.countWhere(f.below(0, 60))
			q.Work = Copies
			return q
		}}},
	}
}

func predicateFigure() Figure {
	return Figure{
		Number: 3, Title: "Predicate, 60 % selectivity", Panels: []Panel{overRecords("", "predicate")},
		everywhere: []Operation{{Name: "predicate", Attributes: 1, extra: []string{classicCompute},
			query: func(f *facts) Query { return f.countWhere(f.below(0, 60)) }}},
	}
}

func rangeFigure() Figure {
	return Figure{
		Number: 4, Title: "Range from the 20th to the 80th percentile", Panels: []Panel{overRecords("", "range")},
		everywhere: []Operation{{Name: "range", Attributes: 1, extra: []string{classicCompute},
			query: func(f *facts) Query { return f.countWhere(f.between(0)) }}},
	}
}

func conjunctionFigure() Figure {
	f := Figure{Number: 5, Title: "AND of several attributes, 60 % selectivity each"}
	for n := 1; n <= attributes; n++ {
		name := fmt.Sprintf("and%d", n)
		f.everywhere = append(f.everywhere, Operation{Name: name, Attributes: n, extra: []string{classicCompute},
			query: func(f *facts) Query { return f.countWhere(f.conjunction(n)) }})
		title := fmt.Sprintf("%d attributes", n)
		if n == 1 {
			title = "1 attribute"
		}
		f.Panels = append(f.Panels, overRecords(title, name))
	}
	return f
}

func semilinearFigure() Figure {
	f := Figure{
		Number: 6, Title: "Semi-linear query, four random coefficients; polynomials",
		everywhere: []Operation{{Name: "semilinear", Attributes: 4, Integers: true, query: func(f *facts) Query { return f.linear(f.semilinear) }}},
		Panels:     []Panel{overRecords("semi-linear", "semilinear")},
	}
	p := Panel{Title: "polynomials of one attribute, largest table", XLabel: "degree"}
	for degree := 1; degree <= 4; degree++ {
		name := fmt.Sprintf("polynomial%d", degree)
		f.largest = append(f.largest, Operation{Name: name, Attributes: 1, Integers: true,
			x: func(*facts) float64 { return float64(degree) }, query: func(f *facts) Query { return f.polynomial(degree) }})
		p.Operations = append(p.Operations, name)
	}
	f.Panels = append(f.Panels, p)
	return f
}

// coefficientSeed is of the random coefficients, which are the same in every run.
const coefficientSeed = 2004

// semilinear is a linear combination of four attributes of integers with random
// coefficients of both signs, below its value where every attribute is at its 60th
// percentile.
func (f *facts) semilinear(attribute func(int) string) string {
	random := rand.New(rand.NewPCG(coefficientSeed, 4))
	var terms []string
	var limit int64
	for i := range attributes {
		c, sign := 1+random.Int64N(9), " + "
		if i%2 == 1 {
			sign = " - "
		}
		terms = append(terms, sign, fmt.Sprintf("%d * %s", c, attribute(i)))
		at := f.number(i%f.integers, 60)
		if i%2 == 1 {
			at = -at
		}
		limit += c * at
	}
	return strings.Join(terms[1:], "") + " < " + strconv.FormatInt(limit, 10)
}

// number is a quantile of a column of integers; 0 where all are NULL.
func (f *facts) number(i, percent int) int64 {
	n, _ := strconv.ParseInt(f.at(i, percent), 10, 64) // "NULL" is 0
	return n
}

// polynomial is a polynomial, with random coefficients, of the attribute of integers
// with the narrowest range, less the middle of its range, below its value at the 60th
// percentile.
func (f *facts) polynomial(degree int) Query {
	col := 0
	for i := range f.integers {
		if uint64(f.hi[i]-f.lo[i]) < uint64(f.hi[col]-f.lo[col]) {
			col = i
		}
	}
	middle := f.lo[col] + (f.hi[col]-f.lo[col])/2
	random := rand.New(rand.NewPCG(coefficientSeed, 6))
	coefficients := make([]int64, degree)
	for i := range coefficients {
		coefficients[i] = 1 + random.Int64N(5)
	}
	coefficients[degree-1] = 1
	if !fits64(coefficients, max(f.hi[col]-middle, middle-f.lo[col])) {
		return Query{Cannot: fmt.Sprintf("the powers of %s up to %d do not fit 64 bits", f.names[col], degree)}
	}
	limit := valueAt(coefficients, f.number(col, 60)-middle)
	write := func(column string) string {
		operand := fmt.Sprintf("(%s - %d)", column, middle)
		var terms []string
		for i, c := range coefficients {
			terms = append(terms, fmt.Sprintf("%d", c)+strings.Repeat(" * "+operand, i+1))
		}
		return "SELECT COUNT(*) FROM " + f.table + " WHERE " + strings.Join(terms, " + ") + " < " + strconv.FormatInt(limit, 10)
	}
	// DuckDB computes with the column's own width.
	return Query{SQL: write(f.names[col]), Peers: map[string]string{"duckdb": write("CAST(" + f.names[col] + " AS BIGINT)")}}
}

// valueAt is the value of a polynomial without a constant term.
func valueAt(coefficients []int64, x int64) (sum int64) {
	power := int64(1)
	for _, c := range coefficients {
		power *= x
		sum += c * power
	}
	return sum
}

// fits64 reports whether the value of a polynomial of positive coefficients, and all
// on the way to it, fit 64 bits where |x| <= most.
func fits64(coefficients []int64, most int64) bool {
	sum, power := 0.0, 1.0
	for _, c := range coefficients {
		power *= float64(most)
		sum += float64(c) * power
	}
	return sum < 1<<62
}

func rankFigure() Figure {
	f := Figure{Number: 7, Title: "k-th largest against k, of up to 250,000 records"}
	p := Panel{XLabel: "k"}
	for _, percent := range []int{0, 20, 40, 60, 80, 100} {
		name := fmt.Sprintf("kth_largest_%dpct", percent)
		k := func(f *facts) int { return max(1, f.values[0]*percent/100) }
		f.ranked = append(f.ranked, Operation{Name: name, Attributes: 1, extra: []string{classicCompute, quickSelect},
			x: func(f *facts) float64 { return float64(k(f)) }, query: func(f *facts) Query { return f.kthLargest(k(f)) }})
		p.Operations = append(p.Operations, name)
	}
	f.Panels = []Panel{p}
	return f
}

// kthLargest is the k-th largest value of the first attribute. SQLite sorts; DuckDB
// keeps the largest where they are few, else selects, as it does for a quantile: of n
// values the (n-k+1)-th smallest is percentile_disc of any fraction above n-k and up to
// n-k+1 n-ths.
func (f *facts) kthLargest(k int) Query {
	x := f.names[0]
	if f.values[0] == 0 {
		return Query{Cannot: x + " has no values"}
	}
	q := f.value(fmt.Sprintf("kth_largest(%s, %d)", x, k))
	sorted := fmt.Sprintf("SELECT %s FROM %s WHERE %s IS NOT NULL ORDER BY 1 DESC LIMIT 1 OFFSET %d", x, f.table, x, k-1)
	q.Peers = map[string]string{"sqlite": sorted, "duckdb": sorted}
	if k > f.values[0]/100 {
		fraction := (float64(f.values[0]-k) + 0.5) / float64(f.values[0])
		q.Peers["duckdb"] = fmt.Sprintf("SELECT percentile_disc(%.12f) WITHIN GROUP (ORDER BY %s) FROM %s", fraction, x, f.table)
	}
	return q
}

func medianFigure() Figure {
	return Figure{
		Number: 8, Title: "Median", Panels: []Panel{overRecords("", "median")},
		everywhere: []Operation{{Name: "median", Attributes: 1, extra: []string{classicCompute, quickSelect},
			query: func(f *facts) Query { return f.median("") }}},
	}
}

func medianWhereFigure() Figure {
	return Figure{
		Number: 9, Title: "Median of 80 % of the records", Panels: []Panel{overRecords("", "median_where")},
		everywhere: []Operation{{Name: "median_where", Attributes: 2, extra: []string{classicCompute, quickSelect},
			query: func(f *facts) Query { return f.median(f.below(1, 80)) }}},
	}
}

// mipmapFigure is the figure that has the mipmap sum too.
const mipmapFigure = 10

func sumFigure() Figure {
	return Figure{
		Number: mipmapFigure, Title: "Sum", Panels: []Panel{overRecords("", "sum")},
		everywhere: []Operation{{Name: "sum", Attributes: 1, extra: []string{mipmapSum},
			query: func(f *facts) Query { return f.aggregate("SUM") }}},
	}
}

// selectivityFigure has the queries of the figures 3 to 6 with the counts of COUNT and
// without.
func selectivityFigure() Figure {
	queries := []struct {
		name, words string
		attributes  int
		integers    bool
		where       func(f *facts) string
	}{
		{"predicate", "predicate", 1, false, func(f *facts) string { return f.below(0, 60) }},
		{"range", "range", 1, false, func(f *facts) string { return f.between(0) }},
		{"and2", "AND 2", 2, false, func(f *facts) string { return f.conjunction(2) }},
		{"and3", "AND 3", 3, false, func(f *facts) string { return f.conjunction(3) }},
		{"and4", "AND 4", 4, false, func(f *facts) string { return f.conjunction(4) }},
		{"semilinear", "semi-linear", 4, true, func(f *facts) string { return f.semilinear(f.integer) }},
	}
	f := Figure{Number: 11, Title: "Selectivity: queries with their COUNT and without"}
	p := Panel{}
	for i, q := range queries {
		name := "select_" + q.name
		f.largest = append(f.largest, Operation{Name: name, Attributes: q.attributes, Integers: q.integers, only: []string{classic, classicAlone},
			x: func(*facts) float64 { return float64(i + 1) },
			query: func(f *facts) Query {
				c := f.countWhere(q.where(f))
				c.Work = Selects
				return c
			}})
		p.Operations, p.Names = append(p.Operations, name), append(p.Names, q.words)
	}
	f.Panels = []Panel{p}
	return f
}

// paperSuite is all figures.
func paperSuite() Suite {
	return Suite{
		Name: "paper",
		Doc:  "the evaluation of the 2004 paper: its figures 2 to 10, and 11 for selectivities",
		Rows: func(m Machine) []int {
			if m.Software {
				return ladder(1_000_000)
			}
			return ladder(1 << 28)
		},
		Backends: func() []string { return []string{classic, "fused", "compute", "cpu"} },
		Peers:    Peers,
		Figures:  Figures(),
		Summary:  writeEvaluation,
	}
}

// OneFigure is the suite with one of its figures only.
func (s Suite) OneFigure(f Figure) Suite {
	s.Figures = []Figure{f}
	return s
}

// LargestRows is the number of records up to which all the systems of the figures
// hold the columns of a case on a device with that budget in bytes.
func LargestRows(budget int64) int {
	// classic: four textures of floats and a depth-stencil buffer of 64 bits; fused:
	// four textures of integers or depths; compute: four columns of bit planes, and of
	// codes.
	const row = 4*attributes + 8 + 4*attributes + 3*attributes + 4*attributes
	return int(min(budget/row, math.MaxInt64))
}
