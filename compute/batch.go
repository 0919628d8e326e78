package compute

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"math/bits"
	"slices"

	"github.com/stencildb/stencildb/pass"
	"github.com/stencildb/stencildb/plan"
	"github.com/stencildb/stencildb/textures"
)

// Batch is several queries over the same chunks that one sweep answers: Hsu's scheduler, which answers what waits
// for the same columns together.
//
// The sweep reads the packed codes of all columns once. A record's codes are looked up in tables that say which of
// 64 lines it passes (batch.glsl), so that conditions cost the same however many there are; what is left for each line
// is a test of a bit and an addition, in a register.
type Batch struct {
	device Profile
	forms  []*Form
	cols   []int
	order  []placed // of all lines
}

// The bounds of a batch.
const (
	MaxBatch       = 64 // queries
	maxLines       = 64 // see Profile.Lines
	linesPerGroup  = 4
	mostMixed      = 6 // groups, the last, that may add up lines of different values
	maxBatchCols   = 6
	maxBatchValues = 8
	maxIntervals   = 255      // of a column: the last of the table is that of NULLs
	buckets        = 512      // of neighbouring codes
	lineWords      = 3        // of the result
	reportCopies   = 16       // COPIES of batch.glsl
	leastShared    = 32 << 10 // bytes that every OpenGL 4.5 device has
	// mostLineUnits bounds the units of a thread so that it meets less than 2^13 records of a piece: its counts have
	// so many bits, and its sums of codes of wholeWidth bits 32.
	mostLineUnits = 60
	batchLocal    = 128 // threads of a work group
	batchPerUnit  = 4   // work groups a multiprocessor
)

// placed is where a line of a query is in a batch: a bit.
type placed struct{ form, line, at int }

// groups is how many groups of lines there are, mixable how many of them, the last, may add up different values.
func (b *Batch) groups() int  { return b.device.Lines / linesPerGroup }
func (b *Batch) mixable() int { return min(mostMixed, b.groups()) }

// NewBatch returns an empty batch.
func NewBatch(d Profile) *Batch {
	d.Software = false // its programs are those for hardware (Profile.Lines)
	return &Batch{device: d}
}

// Add adds a query, unless the batch has no room for it. All of a batch are over the same chunks.
func (b *Batch) Add(f *Form) bool {
	next := Batch{device: b.device, forms: append(slices.Clip(b.forms), f), cols: slices.Clone(b.cols)}
	for _, col := range f.cols {
		if !slices.Contains(next.cols, col) {
			next.cols = append(next.cols, col)
		}
	}
	slices.Sort(next.cols)
	switch {
	case len(next.forms) > MaxBatch, len(next.cols) > maxBatchCols:
		return false
	case !next.arrange():
		return false
	}
	for i, c := range f.q.Table.Chunks {
		blocks := 2 // the result and the tables
		for _, col := range next.cols {
			if col >= len(c.Segments) || c.Segments[col] == nil {
				continue
			}
			if blocks++; c.Segments[col].Nulls > 0 {
				blocks++
			}
			if len(next.cuts(i, col)) >= maxIntervals {
				return false
			}
		}
		if blocks > b.device.maxBlocks() {
			return false
		}
	}
	if next.shared() > max(leastShared, b.device.Shared) {
		return false
	}
	*b = next
	return true
}

// shared is the memory that a work group takes, in bytes.
func (b *Batch) shared() int {
	masks := 2
	for i := range b.forms[0].q.Table.Chunks {
		if b.any(i) {
			masks = 4
		}
	}
	table := max(len(b.cols)*(lookupWords+(maxIntervals+1)*masks), lineWords*b.device.Lines*reportCopies)
	return 4*table + 16*len(b.values())*batchLocal
}

// Len is how many queries there are.
func (b *Batch) Len() int { return len(b.forms) }

// Columns returns the blocks that the batch reads.
func (b *Batch) Columns() (list []textures.Block) {
	for i, c := range b.forms[0].q.Table.Chunks {
		for _, w := range b.device.windowsOf(c.Rows) {
			for _, col := range b.colsOf(i) {
				list = append(list, textures.Block{Chunk: c, Col: col, Content: textures.Codes, Window: w})
				if c.Segments[col].Nulls > 0 {
					list = append(list, textures.Block{Chunk: c, Col: col, Content: textures.Validity, Window: w})
				}
			}
		}
	}
	return list
}

// values lists what the lines add up or search for; and, where there is room, what they might add up of the columns:
// so batches over the same columns have one program.
func (b *Batch) values() (list []value) {
	for _, f := range b.forms {
		for _, l := range f.lines {
			if l.value.col >= 0 && !slices.Contains(list, l.value) {
				list = append(list, l.value)
			}
		}
	}
	more := slices.Clone(list)
	for _, col := range b.cols {
		if col == len(b.forms[0].q.Table.Fields) { // which rows are not deleted
			continue
		}
		parts := []valuePart{wholeCode}
		if b.forms[0].width(col) > wholeWidth {
			parts = []valuePart{lowHalf, highHalf}
		}
		for _, p := range parts {
			if v := (value{col, p}); !slices.Contains(more, v) {
				more = append(more, v)
			}
		}
	}
	if len(more) <= maxBatchValues {
		list = more
	}
	slices.SortFunc(list, func(a, b value) int { return cmp.Or(cmp.Compare(a.col, b.col), cmp.Compare(a.take, b.take)) })
	return list
}

// extreme reports that the largest is searched for.
func (v value) extreme() bool { return v.take >= largestCode }

// arrange gives each line a bit, and reports whether there are enough: those of one value fill groups of four; of what
// is left of sums, four share a group.
func (b *Batch) arrange() bool {
	of := map[value][]placed{}
	for i, f := range b.forms {
		for k, l := range f.lines {
			of[l.value] = append(of[l.value], placed{form: i, line: k})
		}
	}
	values := b.values()
	if len(values) > maxBatchValues {
		return false
	}
	var full, rest []placed
	group := 0
	for _, v := range values {
		list := of[v]
		n := len(list) / linesPerGroup * linesPerGroup
		if v.extreme() {
			n = len(list)
		}
		for i, p := range list[:n] {
			p.at = linesPerGroup*group + i
			full = append(full, p)
		}
		group += (n + linesPerGroup - 1) / linesPerGroup
		rest = append(rest, list[n:]...)
	}
	mixed := (len(rest) + linesPerGroup - 1) / linesPerGroup
	if group+mixed > b.groups() || mixed > b.mixable() {
		return false
	}
	for i, p := range rest {
		p.at = linesPerGroup*(b.groups()-mixed) + i
		full = append(full, p)
	}
	taken := [maxLines]bool{}
	for _, p := range full {
		taken[p.at] = true
	}
	at := 0
	for _, p := range of[value{col: -1}] {
		for at < b.device.Lines && taken[at] {
			at++
		}
		if at == b.device.Lines {
			return false
		}
		p.at = at
		taken[at] = true
		full = append(full, p)
	}
	b.order = full
	return true
}

// clause is the condition of a line in a chunk.
func (b *Batch) clause(p placed, chunk int) clause { return b.forms[p.form].clauses[p.line][chunk] }

// colsOf lists the columns that the batch reads in a chunk.
func (b *Batch) colsOf(chunk int) []int {
	set := map[int]bool{}
	for _, f := range b.forms {
		for _, col := range f.columnsOf(chunk) {
			set[col] = true
		}
	}
	return slices.Sorted(maps.Keys(set))
}

// cuts are the first codes of the intervals of a column, but for the first interval's.
func (b *Batch) cuts(chunk, col int) (list []uint64) {
	for _, f := range b.forms {
		for k := range f.lines {
			c := f.clauses[k][chunk]
			list = append(append(list, c.all[col].cuts...), c.any[col].cuts...)
		}
	}
	slices.Sort(list)
	list = slices.Compact(list)
	return slices.DeleteFunc(list, func(c uint64) bool { return c == 0 || c > math.MaxUint32 })
}

// any reports whether some condition in a chunk is a disjunction over several columns.
func (b *Batch) any(chunk int) bool {
	return slices.ContainsFunc(b.order, func(p placed) bool { return b.clause(p, chunk).any != nil })
}

// lookup is the table of one chunk for its program.
type lookup struct {
	words []uint32
	shift []int // by column: 2^shift neighbouring codes share a bucket
}

// The places in the table of a column (batch.glsl).
const (
	cutsAt      = buckets
	passesAt    = cutsAt + maxIntervals + 1
	nullsAt     = maxIntervals
	lookupWords = passesAt
)

// lookup makes the table of a chunk.
func (b *Batch) lookup(chunk int, cols []int) lookup {
	masks := 2
	if b.any(chunk) {
		masks = 4
	}
	stride := lookupWords + (maxIntervals+1)*masks
	t := lookup{words: make([]uint32, stride*len(cols))}
	for i, col := range cols {
		words, cuts := t.words[i*stride:(i+1)*stride], b.cuts(chunk, col)
		shift := max(0, b.forms[0].q.Table.Chunks[chunk].Segments[col].Bits-bits.Len(buckets-1))
		for k := range buckets {
			from, to := uint64(k)<<shift, uint64(k+1)<<shift
			first, found := slices.BinarySearch(cuts, from)
			if found {
				first++
			}
			end, _ := slices.BinarySearch(cuts, to)
			words[k] = uint32(first | max(0, end-first)<<8)
		}
		for k, c := range cuts {
			words[cutsAt+k] = uint32(c)
		}
		t.shift = append(t.shift, shift)
		b.passing(words[passesAt:], chunk, col, cuts)
	}
	return t
}

// passing writes which lines each interval of a column passes, and NULL.
func (b *Batch) passing(words []uint32, chunk, col int, cuts []uint64) {
	const intervals = maxIntervals + 1
	for _, p := range b.order {
		c := b.clause(p, chunk)
		write := func(interval int, has func(codeSet) bool) {
			for half, sets := range []map[int]codeSet{c.all, c.any} {
				s, asked := sets[col]
				pass := asked && has(s) || !asked && (half == 0 || c.any != nil)
				if pass && !c.never {
					words[intervals*(2*half+p.at/32)+interval] |= 1 << (p.at % 32)
				}
			}
		}
		for k := range len(cuts) + 1 {
			code := uint64(0)
			if k > 0 {
				code = cuts[k-1]
			}
			write(k, func(s codeSet) bool { return s.has(code) })
		}
		write(nullsAt, func(s codeSet) bool { return s.null })
	}
}

// Run answers the queries: of each the selection.
func (b *Batch) Run(run pass.Runner) ([]plan.Selection, error) {
	c, err := newCompiler(b.device, b.forms[0].q)
	if err != nil {
		return nil, err
	}
	at, err := b.queue(c)
	if err != nil {
		return nil, err
	}
	c.flush()
	c.sideBySide()
	x, err := c.execute(run)
	if err != nil {
		return nil, err
	}
	var list []plan.Selection
	for i, f := range b.forms {
		a := &answers{Form: f, found: make([][]found, len(f.lines))}
		for _, p := range b.order {
			if p.form != i {
				continue
			}
			for _, at := range at {
				of := found{}
				if at >= 0 {
					w := x.words[at+lineWords*p.at:]
					of = found{uint64(w[0]), uint64(w[1]) | uint64(w[2])<<32}
				}
				a.found[p.line] = append(a.found[p.line], of)
			}
		}
		list = append(list, a)
	}
	return list, nil
}

// queue queues the passes, and returns where the result has the lines of each chunk; -1 for a chunk without rows.
func (b *Batch) queue(c *compiler) (at []int, err error) {
	var words []uint32
	var lookups []lookup
	var tables []int
	for i, x := range c.chunks {
		t := lookup{}
		if x.Rows > 0 {
			t = b.lookup(i, b.colsOf(i))
		}
		lookups, tables = append(lookups, t), append(tables, len(words))
		words = append(words, t.words...)
	}
	block := textures.ScratchBlock(&textures.Scratch{Words: max(4, (len(words)+3)/4*4), Init: words})
	shapes := map[string]*code{}
	for i, x := range c.chunks {
		if x.Rows == 0 {
			at = append(at, -1)
			continue
		}
		to := c.alloc(lineWords * maxLines)
		at = append(at, to)
		w := newWriter(x)
		w.arg(to, tables[i], b.split(c))
		w.arg(lookups[i].shift...)
		k := b.program(w, i, block)
		shape := fmt.Sprint(k.text, k.slots)
		if shapes[shape] == nil {
			shapes[shape] = k
		}
		x.stage(w.kernels(shapes[shape], Batched{Statements: len(b.forms), Lines: len(b.order)})...)
	}
	return at, nil
}

// split is by how many threads, as a power of 2, a unit is shared: all multiprocessors are to have something to do.
func (b *Batch) split(c *compiler) (n int) {
	for n < 5 && c.units<<n < 2*batchLocal*batchPerUnit*max(1, b.device.Multiprocessors) {
		n++
	}
	return n
}

// Batched is a sweep that answers several statements.
type Batched struct{ Statements, Lines int }

// String implements pass.Op.
func (b Batched) String() string { return fmt.Sprintf("Batch(%d statements)", b.Statements) }

// Counts implements pass.Op.
func (b Batched) Counts() string {
	return fmt.Sprintf("of %d conditions the records, and sums and extremes of their values", b.Lines)
}
