package join

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"math/bits"
	"slices"
	"sync/atomic"
	"time"

	"github.com/stencildb/stencildb/cpu"
	"github.com/stencildb/stencildb/expr"
	"github.com/stencildb/stencildb/internal/xslices"
	"github.com/stencildb/stencildb/plan"
	"github.com/stencildb/stencildb/plan/physical"
	"github.com/stencildb/stencildb/table"
)

// Algorithms are the algorithms of a join. Auto takes index where that pays, else perfect where the keys are dense, else hash.
var Algorithms = []string{"auto", "perfect", "hash", "merge", "loops", "index"}

// Spec says what is joined on the host, and how.
type Spec struct {
	Tables    []*table.Table // of the scans, from left to right
	Columns   []int          // of the join's fields, wanted of the result
	Way       string         // of [Algorithms]; perfect is hash where the keys are not dense, index on cpu is auto where there is none
	ChunkRows int            // of the result
	Memory    func() int64   // bytes that the result may take, which are asked for where they count; nil for none
	AtMost    int            // rows that are wanted of the result, any of them; 0 for all
}

// Room is how many bytes the result may take.
func (s *Spec) Room() int64 {
	if s.Memory == nil {
		return 0
	}
	return s.Memory()
}

// Step is what one join did.
type Step struct {
	Table   string // what was joined, with its filter
	On      string // the keys, and what else has to hold
	Way     string // how the partners were found; "" for the first table, which the others are joined to
	In, Out int    // the rows of the table after its filter, and those of the result so far
	// Expected is the estimate of Out by which the order of inner joins was chosen; 0 where there was none.
	Expected int
	Elapsed  time.Duration
}

// Host joins relations of the scans of a join on the host. Columns have the numbers that they have among those of all scans, side by side: see
// [plan.Join.OverScans].
type Host struct {
	*cpu.Backend
	Spec
	Ctx    context.Context
	Fields []table.Field // of all scans
	Result []table.Field
	Places []int // of the result's fields
	Scans  []*ScannedTable
	Needed map[int]bool // the scans of which the result has columns
	Read   map[int]bool // those that the joins' conditions read
	Depth  int          // of the joins above the one that runs
	Steps  []Step
	Enough bool // the root has ended where there were as many rows as are wanted
}

// NewHost makes what joins the scans of a join, and the join over all their columns.
func NewHost(ctx context.Context, b *cpu.Backend, n *plan.Join, of Spec) (h Host, root *plan.Join) {
	h = Host{Backend: b, Ctx: ctx, Spec: of, Result: n.Fields(), Needed: map[int]bool{}, Read: map[int]bool{}}
	root, h.Places = n.OverScans()
	scans := plan.Scans(n)
	width := xslices.Sum(scans, func(s *plan.Scan) int { return len(s.Columns) })
	h.Scans, h.Fields = make([]*ScannedTable, 0, len(scans)), make([]table.Field, 0, width)
	for i, s := range scans {
		h.Scans = append(h.Scans, newScanned(of.Tables[i], s, len(h.Fields)))
		h.Fields = append(h.Fields, s.Columns...)
	}
	return h, root
}

// ScannedTable is a table in a join.
type ScannedTable struct {
	*table.Table
	As       string
	First, n int
	starts   []int // of the chunks, and the end
	columns  map[int]*Column
}

func newScanned(t *table.Table, s *plan.Scan, first int) *ScannedTable {
	out := &ScannedTable{Table: t, As: cmp.Or(s.As, s.Table), First: first, n: len(s.Columns), starts: []int{0}, columns: map[int]*Column{}}
	for _, c := range t.Chunks {
		out.starts = append(out.starts, out.starts[len(out.starts)-1]+c.Rows)
	}
	return out
}

// AllRows is how many the table has, deleted ones included.
func (s *ScannedTable) AllRows() int { return s.starts[len(s.starts)-1] }

// ScanOf is the scan that has a column.
func (j *Host) ScanOf(column int) int {
	return slices.IndexFunc(j.Scans, func(s *ScannedTable) bool { return column < s.First+s.n })
}

// NoRow is in the place of a row's number where the row stands alone in an outer join.
const NoRow = math.MaxUint32

// Relation is rows of some of the scans side by side. Of a scan that it has, rows are the numbers of
// its rows; nil for all of them in their order.
type Relation struct {
	Rows     int
	Scans    []int
	IDs      [][]uint32
	Nullable map[int]bool // the scans of which a row may be missing
	Name     string

	// Where what the rows are is not in host memory yet, ids is empty.
	Where expr.Expr        // those of the one scan for which it is TRUE; else nil
	Held  []*physical.Held // on a device, a scan each, nil for one that nobody needs; else nil
}

func (r *Relation) has(scan int) bool { return slices.Contains(r.Scans, scan) }

// Row is the number of a row of a relation of one scan.
func (r *Relation) Row(i int) uint32 {
	if r.IDs[0] == nil {
		return uint32(i)
	}
	return r.IDs[0][i]
}

// Parts are how many rows of a relation each device has, where they are on devices.
func (r *Relation) Parts() []int {
	for _, h := range r.Held {
		if h != nil && h.Parts != nil {
			return h.Parts
		}
	}
	return []int{r.Rows}
}

// IDsOf are the rows of a table in those of a relation; nil for all of them in their order.
func (r *Relation) IDsOf(scan int) []uint32 { return r.IDs[slices.Index(r.Scans, scan)] }

// Selected is the rows of a scan for which a condition is TRUE.
func (j *Host) Selected(scan int, where expr.Expr) (*Relation, error) {
	s := j.Scans[scan]
	rel := &Relation{Rows: s.AllRows(), Scans: []int{scan}, IDs: [][]uint32{nil}, Name: s.As}
	if rel.Rows >= NoRow {
		return nil, fmt.Errorf("%s has %d rows: a joined table has less than %d", s.As, rel.Rows, NoRow)
	}
	if where == nil && s.Rows() == rel.Rows {
		return rel, nil
	}
	rel.Name = SelectedName(s.As, where)
	q, err := physical.NewQuery(s.Table, &plan.Fragment{Table: s.Name, Where: where})
	if err != nil {
		return nil, err
	}
	rel.Rows = 0
	var parts [][]uint32
	for b, err := range j.Rows(j.Ctx, q) {
		if err != nil {
			return nil, err
		}
		start, part := uint32(s.starts[b.Chunk]), make([]uint32, b.Len())
		for i := range part {
			part[i] = start + uint32(b.Row(i))
		}
		parts, rel.Rows = append(parts, part), rel.Rows+len(part)
	}
	rel.IDs[0] = make([]uint32, 0, rel.Rows) // not nil, which is all rows
	for _, part := range parts {
		rel.IDs[0] = append(rel.IDs[0], part...)
	}
	return rel, nil
}

// SelectedName names the rows of a table for which a condition is TRUE.
func SelectedName(table string, where expr.Expr) string {
	if where == nil {
		return table
	}
	return "Filter(" + where.String() + ") of " + table
}

// ScansOf lists the scans that an expression reads.
func (j *Host) ScansOf(e expr.Expr) (list []int) {
	for _, c := range expr.Columns(e) {
		if s := j.ScanOf(c); !slices.Contains(list, s) {
			list = append(list, s)
		}
	}
	return list
}

// AllIn reports that one list has all of another.
func AllIn[T comparable](list, of []T) bool {
	return !slices.ContainsFunc(list, func(x T) bool { return !slices.Contains(of, x) })
}

// EmptyResult is the result, as yet without rows.
func (j *Host) EmptyResult() *table.Table {
	t := &table.Table{Fields: j.Result}
	for i, s := range j.Scans {
		if i > 0 {
			t.Name += ", "
		}
		t.Name += s.As
	}
	return t
}

// Gather gathers the columns of the result, of rows in host memory.
func (j *Host) Gather(rel *Relation) (*table.Table, error) {
	t := j.EmptyResult()
	size := j.ChunkRows
	if size <= 0 {
		size = table.MaxChunkRows
	}
	for at := 0; at < rel.Rows; at += size {
		n := min(size, rel.Rows-at)
		c := &table.Chunk{Rows: n, Segments: make([]*table.Segment, len(j.Result))}
		for _, col := range j.Columns {
			if j.Result[col].Unsupported != "" {
				continue
			}
			if err := j.Ctx.Err(); err != nil {
				return nil, err
			}
			c.Segments[col] = j.gathered(rel, j.Places[col], at, n)
		}
		t.Chunks = append(t.Chunks, c)
	}
	return t, nil
}

// RowBytes is what a row takes in the result, and in the relation before it.
func (j *Host) RowBytes(scans []int) (n int) {
	for _, s := range scans {
		if j.Needed[s] {
			n += 4
		}
	}
	for _, c := range j.Columns {
		if col := j.Column(j.Places[c]); col != nil {
			n += max(1, (bits.Len64(col.Max)+7)/8)
		}
	}
	return n
}

// TooLarge is the error of a join whose result has too many rows, or does not fit into memory.
type TooLarge struct{ text string }

func (e *TooLarge) Error() string { return e.text }

// TooLarge is the error of a result that does not fit into memory.
func (j *Host) TooLarge(rows float64, rowBytes int, exact bool) error {
	about := "more than "
	if exact {
		about = ""
	}
	if rows*float64(rowBytes) <= float64(j.Room()) {
		return &TooLarge{fmt.Sprintf("the join has %s%.4g rows: at most %d are supported; join on a key, or select fewer rows", about, rows, uint32(NoRow-1))}
	}
	return &TooLarge{fmt.Sprintf("the join has %s%.4g rows of %d bytes each, %.3g GB: more than the %.3g GB of host memory that are left; join on a key, select fewer rows or columns, or raise the budget (--host-memory)",
		about, rows, rowBytes, rows*float64(rowBytes)/1e9, float64(j.Room())/1e9)}
}

// Stage is the join with one relation.
type Stage struct {
	Build  *Relation
	Kind   plan.JoinKind
	Keys   []*Key       // by which partners are found; none: each row is a candidate
	Also   []expr.Expr  // what has to hold besides
	rest   []restKey    // keys that are compared with those of the one partner
	index  joinIndex    // nil without keys
	unique bool         // of each number the index has one row
	plain  bool         // the one key's probe side is a column of one chunk without NULLs, by its ordinals
	likely table.Bitmap // of the codes of the one key's column those that have a partner; nil for all
	way    string

	KeepProbe, KeepBuild bool     // rows without a partner stand alone, in an outer join
	matched              []uint64 // of the build side, those that had a partner; where these are kept

	there   int // rows of the build side
	out     atomic.Int64
	elapsed time.Duration // to make the index
	// Expected is how many rows the order of inner joins counts on; 0 for other joins.
	Expected float64
}

func (s *Stage) on() string {
	parts := xslices.Map(s.Keys, func(k *Key) string { return k.e.String() })
	for _, r := range s.rest {
		parts = append(parts, r.e.String())
	}
	for _, e := range s.Also {
		parts = append(parts, e.String())
	}
	if len(parts) == 0 {
		return "every pair"
	}
	out := parts[0]
	for _, p := range parts[1:] {
		out += " AND " + p
	}
	return out
}

// kindOf is the kind of a join that is not an inner one, in words.
func (s *Stage) kindOf() string {
	if s.Kind == plan.Inner {
		return ""
	}
	return s.Kind.String() + " join "
}

// exists reports that all that matters is whether the index has a number.
func (s *Stage) exists() bool { return s.Kind.LeftOnly() && len(s.Also) == 0 }
