package cost

import (
	"math/bits"

	"github.com/stencildb/stencildb/expr"
	"github.com/stencildb/stencildb/plan/lower"
	"github.com/stencildb/stencildb/plan/physical"
	"github.com/stencildb/stencildb/plan/predicate"
	"github.com/stencildb/stencildb/table"
)

// Class is a kind of algorithm that is calibrated by itself.
type Class string

// The classes. Those of aggregates come twice: over all rows, and over a selection.
const (
	Compare    Class = "compare"    // column op constant, IS NULL
	Range      Class = "range"      // column BETWEEN two constants
	Conjunct   Class = "conjunct"   // one more comparison in the same WHERE
	Members    Class = "members"    // column IN a list, LIKE
	Semilinear Class = "semilinear" // a sum of column * constant against a constant
	Program    Class = "program"    // other arithmetic
	Sum        Class = "sum"        // of integers and fixed point
	SumOf      Class = "sum of a selection"
	FloatSum   Class = "float sum"
	FloatSumOf Class = "float sum of a selection"
	Kth        Class = "k-th" // medians, quantiles
	KthOf      Class = "k-th of a selection"
	Extreme    Class = "extreme" // MIN or MAX
	ExtremeOf  Class = "extreme of a selection"
	Extremes   Class = "both extremes" // MIN and MAX of one column
	ExtremesOf Class = "both extremes of a selection"
	Products   Class = "sum of products" // of two columns, or another aggregate of an expression
	ProductsOf Class = "sum of products of a selection"
	Groups     Class = "groups"      // what GROUP BY takes that compute does, by codes; on other backends by cpu, from the rows
	ManyGroups Class = "many groups" // of more combinations of codes than compute has slots: it sorts, cpu deals the rows
	Sort       Class = "sort"        // ORDER BY of columns, which compute and classic do, or cpu above the others
	TopRows    Class = "top rows"    // the same where few of the rows are wanted
	Join       Class = "join"        // finding how many pairs two tables have by a sparse key, over the rows of both
	Pairs      Class = "pairs"       // listing these in host memory, and gathering a column of each side
)

// of is the class of an aggregate over a selection.
var of = map[Class]Class{Sum: SumOf, FloatSum: FloatSumOf, Kth: KthOf, Extreme: ExtremeOf, Extremes: ExtremesOf, Products: ProductsOf}

// like is for classes whose cost was measured at one width only. It names the class that tells how the cost
// changes with the width of the codes.
var like = map[Class]Class{SumOf: Sum, FloatSumOf: FloatSum, KthOf: Kth, ExtremeOf: Extreme, Extremes: Extreme, ExtremesOf: Extreme, Products: Sum, ProductsOf: Sum}

// Item is one algorithm over the rows of a chunk.
type Item struct {
	Class Class
	Bits  int     // width of the codes it reads
	Bytes int     // width of a code in host memory
	Scale float64 // times what the calibrated one does; 1 is as much
}

// ChunkWork is what a query asks of one chunk.
type ChunkWork struct {
	Chunk  *table.Chunk // nil of a join
	Rows   int
	Leaves []Item // of the WHERE
	Checks []Item // predicates that look for errors
	Aggs   []Item
}

// Column is a column of a chunk that a query reads.
type Column struct {
	Chunk  *table.Chunk
	Col    int
	Table  string
	Name   string
	Values bool // the values are computed with, not only compared
	Sole   bool // it is read for groups or for the order alone: fused and classic leave that to cpu, classic but for some orders
	Texts  bool // the bytes of its dictionary, which compute looks through
	Bytes  int64
}

// Work is what a query asks for.
type Work struct {
	Rows    int // of the table
	Chunks  []ChunkWork
	Columns []Column // each once
}

// Over is the work over some chunks alone: the work of a device that has these.
func (w *Work) Over(chunks []int) *Work {
	part, has := &Work{}, map[*table.Chunk]bool{}
	for _, i := range chunks {
		part.Chunks = append(part.Chunks, w.Chunks[i])
		part.Rows += w.Chunks[i].Rows
		has[w.Chunks[i].Chunk] = true
	}
	for _, c := range w.Columns {
		if has[c.Chunk] {
			part.Columns = append(part.Columns, c)
		}
	}
	return part
}

// The number of nodes of the programs that the classes Semilinear and Program are calibrated with. These are
// a + 2 * b - 3 * c + 4 * d, and a * b + c % 7.
const (
	semilinearNodes = 13
	programNodes    = 7
	productNodes    = 3 // of the expression a * b of the class Products
	groupColumns    = 2 // that the class Groups is calibrated with: a key and a sum
)

// Of reads the work off a plan. It looks at no row.
func Of(q *physical.Query) *Work {
	w := &Work{Rows: q.Table.Rows()}
	seen := map[Column]bool{}
	for i, c := range q.Table.Chunks {
		r := reader{table: q.Table, chunk: c, work: w, seen: seen}
		p := q.Chunks[i]
		cw := ChunkWork{Chunk: c, Rows: c.Rows, Leaves: r.leaves(nil, p.Pred)}
		for _, check := range p.Checks {
			cw.Checks = r.leaves(cw.Checks, check.Pred)
		}
		if p.Pred.Op != predicate.False {
			if cw.Aggs = r.aggregates(q.Aggs, p.Pred.Op != predicate.True); q.Groupable(i) {
				cw.Aggs = append(cw.Aggs, r.groups(Groups, q.GroupInputColumns()))
			} else if q.SortGroupable(i) {
				cw.Aggs = append(cw.Aggs, r.groups(ManyGroups, q.GroupInputColumns()))
			}
			if q.Order != nil {
				cw.Aggs = append(cw.Aggs, r.order(q)...)
			}
		}
		w.Chunks = append(w.Chunks, cw)
	}
	return w
}

// Gather adds the gathering of a column by n numbers of rows of its table.
func (w *Work) Gather(t *table.Table, col, n int) {
	item := Item{Class: Pairs, Scale: 0.5}
	for _, c := range t.Chunks {
		seg := (&reader{table: t, chunk: c, work: w, seen: map[Column]bool{}}).column(col, false)
		item.Bits, item.Bytes = max(item.Bits, seg.Bits, 1), max(item.Bytes, seg.Codes.Width())
	}
	w.Rows += n
	w.Chunks = append(w.Chunks, ChunkWork{Rows: n, Aggs: []Item{item}})
}

type reader struct {
	table *table.Table
	chunk *table.Chunk
	work  *Work
	seen  map[Column]bool
}

// column notes that a column is read.
func (r *reader) column(col int, values bool) *table.Segment {
	r.note(r.columnOf(col, values))
	return r.chunk.Segments[col]
}

func (r *reader) note(c Column) {
	if !r.seen[c] {
		r.seen[c] = true
		r.work.Columns = append(r.work.Columns, c)
	}
}

func (r *reader) columnOf(col int, values bool) Column {
	seg := r.chunk.Segments[col]
	return Column{Chunk: r.chunk, Col: col, Table: r.table.Name, Name: r.table.Field(col).Name, Values: values, Bytes: int64(seg.Codes.Bytes() + 8*len(seg.Valid))}
}

func (r *reader) item(class Class, col int, values bool) Item {
	seg := r.column(col, values)
	return Item{Class: class, Bits: max(1, seg.Bits), Bytes: seg.Codes.Width(), Scale: 1}
}

func (r *reader) leaves(list []Item, p *predicate.Pred) []Item {
	for _, k := range p.Kids {
		list = r.leaves(list, k)
	}
	if p.Op != predicate.Simple {
		return list
	}
	switch l := p.Leaf.(type) {
	case *predicate.Range:
		return append(list, r.item(Range, l.Col, false))
	case *predicate.Members:
		return append(list, r.item(Members, l.Col, true))
	case *predicate.Match:
		return append(list, r.match(l.Col))
	case *predicate.Computed:
		return append(list, r.computed(l))
	case *predicate.Scalar:
		return append(list, r.scalar(l))
	}
	return append(list, r.item(Compare, p.Leaf.Columns()[0], false))
}

// match is looking codes up and, before that, looking through the texts: so many bytes take as long as a record's code.
func (r *reader) match(col int) Item {
	const perCode, sample = 16, 64
	x, dict := r.item(Members, col, true), r.chunk.Segments[col].Dict
	step, size := max(1, len(dict)/sample), 0
	for i := 0; i < len(dict); i += step {
		size += len(dict[i]) * step
	}
	texts := r.columnOf(col, true)
	texts.Texts, texts.Bytes = true, int64(size+4*len(dict))
	r.note(texts)
	x.Scale += float64(size) / float64(perCode*max(1, r.chunk.Rows))
	return x
}

// computed is an item whose scale is its number of nodes.
func (r *reader) computed(p *predicate.Computed) Item {
	nodes := count(p.L) + count(p.R) + count(p.Fails)
	x := Item{Class: Program, Scale: float64(nodes) / programNodes}
	if p.Shape == predicate.Semilinear && p.Fails == nil {
		x.Class, x.Scale = Semilinear, float64(nodes)/semilinearNodes
	}
	for _, col := range p.Columns() {
		seg := r.column(col, true)
		x.Bits, x.Bytes = max(x.Bits, seg.Bits), max(x.Bytes, seg.Codes.Width())
	}
	return x
}

// scalar is a program of as many nodes as evaluating an expression record by record takes the
// time of, roughly.
func (r *reader) scalar(l *predicate.Scalar) Item {
	const perNode = 20
	x := Item{Class: Program, Scale: float64(perNode*nodes(l.E)) / programNodes}
	for _, col := range l.Columns() {
		seg := r.column(col, true)
		x.Bits, x.Bytes = max(x.Bits, seg.Bits), max(x.Bytes, seg.Codes.Width())
	}
	return x
}

// products is the item of an aggregate of an expression, of codes as wide as its columns' are on average.
func (r *reader) products(a expr.Aggregate) Item {
	x, cols := Item{Class: Products, Scale: float64(nodes(a.X)) / productNodes}, a.Reads()
	for _, col := range cols {
		seg := r.column(col, false)
		x.Bits, x.Bytes = x.Bits+seg.Bits, max(x.Bytes, seg.Codes.Width())
	}
	x.Bits = max(1, (x.Bits+len(cols)-1)/len(cols))
	return x
}

// groups is the item of an aggregation by keys that reads columns.
func (r *reader) groups(of Class, cols []int) Item {
	x := Item{Class: of}
	for _, col := range cols {
		seg := r.chunk.Segments[col]
		r.sole(col, true)
		x.Bits, x.Bytes = max(x.Bits, seg.Bits, 1), max(x.Bytes, seg.Codes.Width())
	}
	x.Scale = float64(max(1, len(cols))) / groupColumns
	return x
}

// order is the item of a sort whose keys are as wide as all of them together; cpu's alone is no item.
func (r *reader) order(q *physical.Query) []Item {
	x := Item{Class: Sort, Scale: 1}
	if f := q.Order.Limit; f >= 0 && f < int64(q.Table.Rows()/8) {
		x.Class = TopRows
	}
	for _, k := range q.Order.Keys {
		bits := 0
		if col, ok := k.E.(*expr.Column); ok {
			bits = r.chunk.Segments[col.Index].Bits
		} else if m, err := lower.ComputeCodes(k.E, r.table, r.chunk); err == nil {
			bits = m.Bits()
		} else {
			return nil
		}
		for _, col := range expr.Columns(k.E) {
			r.sole(col, false)
			x.Bytes = max(x.Bytes, r.chunk.Segments[col].Codes.Width())
		}
		x.Bits = min(64, x.Bits+max(1, bits))
	}
	return []Item{x}
}

// sole notes a column that is read for groups or for the order.
func (r *reader) sole(col int, values bool) {
	c := r.columnOf(col, values)
	c.Sole = true
	r.note(c)
}

func nodes(e expr.Expr) (n int) {
	expr.Walk(e, func(expr.Expr) { n++ })
	return n
}

func count(v *predicate.Val) int {
	if v == nil {
		return 0
	}
	n := 1
	for _, k := range v.Kids {
		n += count(k)
	}
	return n
}

// aggregates lists what they need of a column: SUM(x) and AVG(x) one sum, MIN(x) and
// MAX(x) both extremes, but each k-th value a search.
func (r *reader) aggregates(aggs []expr.Aggregate, selected bool) []Item {
	type key struct {
		class Class
		col   int
	}
	at := map[key]int{} // places in list
	kinds := map[int]expr.AggKind{}
	var list []Item
	for _, a := range aggs {
		if a.X != nil {
			list = append(list, r.products(a))
			continue
		}
		class, values, ok := classOf(a, r.chunk)
		if !ok {
			continue
		}
		k := key{class, a.Col}
		i, seen := at[k]
		switch {
		case !seen || class == Kth:
			at[k] = len(list)
			list = append(list, r.item(class, a.Col, values))
			kinds[a.Col] = a.Kind
		case class == Extreme && kinds[a.Col] != a.Kind:
			list[i].Class = Extremes
		}
	}
	for i := range list {
		if c := of[list[i].Class]; selected && c != "" {
			list[i].Class = c
		}
	}
	return list
}

// classOf is the class of an aggregate over a chunk; ok is false where the count of
// selected rows is all it needs.
func classOf(a expr.Aggregate, c *table.Chunk) (class Class, values, ok bool) {
	switch a.Kind {
	case expr.CountAll, expr.Selectivity:
		return "", false, false
	case expr.Count:
		return Compare, false, c.Segments[a.Col].Nulls > 0
	}
	class = kindOf(a)
	return class, class == FloatSum, true
}

// kindOf is the class of an aggregate of a column.
func kindOf(a expr.Aggregate) Class {
	switch a.Kind {
	case expr.Count:
		return Compare
	case expr.Sum, expr.Avg:
		if a.Arg.IsFloat() {
			return FloatSum
		}
		return Sum
	case expr.Min, expr.Max:
		return Extreme
	}
	return Kth
}

// widthOf is the narrowest host width of codes of that many bits, in bytes.
func widthOf(b int) int { return max(1, 1<<bits.Len(uint((b-1)/8))) }
