package sharedscan

import (
	"errors"
	"fmt"
	"math/big"
	"slices"

	"github.com/stencildb/stencildb/expr"
	"github.com/stencildb/stencildb/plan/partial"
	"github.com/stencildb/stencildb/plan/physical"
	"github.com/stencildb/stencildb/table"
	"github.com/stencildb/stencildb/textures"
)

// Query is a query in the form in which several share a sweep (see [Scan]). It counts records, and adds up or finds
// the extremes of columns, where conditions over one column each hold. Its rows raise no errors.
type Query struct {
	q       *physical.Query
	cols    []int // that it reads, ascending
	lines   []line
	clauses [][]clause // by line, of each chunk
}

// line is what a batch counts or gathers of a query. Its records are those that the query selects, or those of
// them in which a column is not NULL.
type line struct {
	has   int // the column that is not NULL; -1 for none
	value value
}

// value is what is added up, or of what the largest is searched for. A thread adds up 32 bits: wide codes are cut.
type value struct {
	col  int // -1 for nothing, which counts only
	take valuePart
}

// valuePart is what is taken of a code.
type valuePart uint8

const (
	wholeCode valuePart = iota
	lowHalf
	highHalf
	largestCode
	smallestCode
)

// queryWidth is the most bits of a code that a batch reads, wholeWidth of one that threads add up as a whole (see mostLineUnits).
const (
	queryWidth = 32
	wholeWidth = 19
)

// QueryOf returns the form of a query, or nil where it has none.
func QueryOf(q *physical.Query) *Query {
	f := &Query{q: q}
	if q.Groups != nil || q.IsPart() || len(q.Star) > 0 || q.RequireNoScalar() != nil || len(q.Aggs) == 0 {
		return nil
	}
	for _, c := range q.Chunks {
		if len(c.Checks) > 0 {
			return nil
		}
	}
	for _, a := range q.Aggs {
		if !f.ask(a) {
			return nil
		}
	}
	if !f.conditions() {
		return nil
	}
	for i, c := range q.Table.Chunks {
		for _, col := range f.columnsOf(i) {
			seg := c.Segments[col]
			if seg == nil || c.Rows > 0 && (textures.Parts(seg) > 1 || seg.Bits > queryWidth) {
				return nil
			}
			if !slices.Contains(f.cols, col) {
				f.cols = append(f.cols, col)
			}
		}
	}
	slices.Sort(f.cols)
	return f
}

// ask adds the lines of an aggregate, if it may have some.
func (f *Query) ask(a expr.Aggregate) bool {
	if a.X != nil || a.Filter != nil || a.Distinct {
		return false
	}
	if a.Kind == expr.CountAll || a.Kind == expr.Selectivity {
		f.add(line{-1, value{col: -1}})
		return true
	}
	of := func(take ...valuePart) bool {
		for _, p := range take {
			f.add(line{f.nullable(a.Col), value{a.Col, p}})
		}
		return true
	}
	switch a.Kind {
	case expr.Count:
		f.add(line{f.nullable(a.Col), value{col: -1}})
		return true
	case expr.Sum, expr.Avg:
		switch {
		case a.Arg.IsFloat():
			return false
		case f.width(a.Col) > wholeWidth:
			return of(lowHalf, highHalf)
		}
		return of(wholeCode)
	case expr.Min:
		return of(smallestCode)
	case expr.Max:
		return of(largestCode)
	}
	return false
}

// add adds a line, unless it is there or another one counts the same records.
func (f *Query) add(l line) {
	for i, o := range f.lines {
		switch {
		case o.has != l.has:
		case l.value.col < 0 || o.value == l.value:
			return
		case o.value.col < 0:
			f.lines[i] = l
			return
		}
	}
	f.lines = append(f.lines, l)
}

// nullable is a column that has NULLs in some chunk; else -1.
func (f *Query) nullable(col int) int {
	for _, c := range f.q.Table.Chunks {
		if seg := c.Segments[col]; seg != nil && seg.Nulls > 0 {
			return col
		}
	}
	return -1
}

func (f *Query) width(col int) (bits int) {
	for _, c := range f.q.Table.Chunks {
		if seg := c.Segments[col]; seg != nil {
			bits = max(bits, seg.Bits)
		}
	}
	return bits
}

// conditions makes the clauses of the lines.
func (f *Query) conditions() bool {
	f.clauses = make([][]clause, len(f.lines))
	for i := range f.q.Table.Chunks {
		c, ok := clauseOf(f.q.Chunks[i].Pred)
		if !ok {
			return false
		}
		for k, l := range f.lines {
			own := c
			if l.has >= 0 && !c.never {
				own.all = met(c.all, map[int]codeSet{l.has: everyCode})
			}
			f.clauses[k] = append(f.clauses[k], own)
		}
	}
	return true
}

// columnsOf lists the columns that the form reads in a chunk; some may be there twice.
func (f *Query) columnsOf(chunk int) (cols []int) {
	for k, l := range f.lines {
		if l.value.col >= 0 {
			cols = append(cols, l.value.col)
		}
		for col := range f.clauses[k][chunk].all {
			cols = append(cols, col)
		}
		for col := range f.clauses[k][chunk].any {
			cols = append(cols, col)
		}
	}
	return cols
}

// answers is the selection of a query that a batch has answered: of each chunk, what its lines found.
type answers struct {
	*Query
	found [][]found // by line, of each chunk
}

// found is what a line found in a chunk: how many records, and the sum or the largest of its values.
type found struct{ count, value uint64 }

// Check implements partial.Selection: there are no checks.
func (a *answers) Check() error { return nil }

// counted adds up the records of a line.
func (a *answers) counted(has int) (n uint64, err error) {
	for k, l := range a.lines {
		if l.has == has {
			for _, f := range a.found[k] {
				n += f.count
			}
			return n, nil
		}
	}
	return 0, errors.New("compute: no line of the batch counts the records that are asked for")
}

// Count implements partial.Selection.
func (a *answers) Count() (uint64, error) { return a.counted(-1) }

// CountNotNull implements partial.Selection.
func (a *answers) CountNotNull(col int) (uint64, error) { return a.counted(a.nullable(col)) }

// Sum implements partial.Selection.
func (a *answers) Sum(col int) (sum partial.Sum, err error) {
	for i, c := range a.q.Table.Chunks {
		codes, n := new(big.Int), uint64(0)
		for k, l := range a.lines {
			if l.value.col != col || l.value.take > highHalf {
				continue
			}
			f := a.found[k][i]
			n = f.count
			term := new(big.Int).SetUint64(f.value)
			if l.value.take == highHalf {
				term.Lsh(term, 16)
			}
			codes.Add(codes, term)
		}
		if c.Rows > 0 {
			sum.AddCodes(c.Segments[col], codes, n)
		}
	}
	return sum, nil
}

// Kth implements partial.Selection: of MIN and MAX.
func (a *answers) Kth(col int, k uint64, largest bool) (v table.Value, err error) {
	take := smallestCode
	if largest {
		take = largestCode
	}
	at := slices.IndexFunc(a.lines, func(l line) bool { return l.value == value{col, take} })
	if at < 0 || k != 1 {
		return v, fmt.Errorf("compute: no line of the batch is value %d of %s", k, a.q.Table.Fields[col].Name)
	}
	space, best, some := physical.NewCodeSpace(a.q.Table, col), uint64(0), false
	for i, f := range a.found[at] {
		if f.count == 0 {
			continue
		}
		code := f.value
		if !largest {
			code = uint64(^uint32(f.value))
		}
		code = space.Code(a.q.Table.Chunks[i].Segments[col], code)
		if !some || largest == (code > best) {
			best, some = code, true
		}
	}
	return space.Value(best), nil
}

// CountAtLeast implements partial.Selection.
func (a *answers) CountAtLeast(int, *physical.CodeSpace, partial.Digit) ([]uint64, error) {
	return nil, errors.New("compute: a batch searches for no order statistics")
}

// DigitBits implements partial.Selection.
func (a *answers) DigitBits(uint64) int { return 1 }

// VisitBits implements partial.Selection.
func (a *answers) VisitBits() int { return 1 }
