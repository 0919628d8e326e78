package sharedscan

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"math/bits"
	"slices"
	"sync"

	"github.com/stencildb/stencildb/compute"
	"github.com/stencildb/stencildb/pass"
	"github.com/stencildb/stencildb/plan/partial"
	"github.com/stencildb/stencildb/table"
	"github.com/stencildb/stencildb/textures"
)

// Scan is several queries over the same chunks that one sweep answers: Hsu's scheduler, which answers what waits
// for the same columns together.
//
// The sweep reads the packed codes of all columns once. A record's codes are looked up in tables that say which of 64
// lines it passes (batch.glsl). So conditions cost the same however many there are. For each line only a test of a bit
// and an addition in a register are left.
type Scan struct {
	device compute.Profile
	forms  []*Query
	cols   []int
	cuts   []map[int][]uint64 // by chunk and column, the first codes of its intervals but for the first one's
	any    []bool             // by chunk: some condition is a disjunction over several columns
	lines  map[value]int      // how many there are
	order  []lineSlot         // of all lines
	passes *scanPasses
}

// scanPasses are those of a batch.
type scanPasses struct {
	once sync.Once
	*compute.Compiler
	at  []int // where the result has the lines of each chunk; -1 for a chunk without rows
	err error
}

// The bounds of a batch.
const (
	MaxQueries    = 64 // queries
	linesPerGroup = 4
	mostMixed     = 6 // groups that may add up lines of different values
	maxColumns    = 6
	maxValues     = 8
	maxIntervals  = 255      // of a column: the last of the table is that of NULLs
	buckets       = 512      // of neighbouring codes
	bucketCuts    = 2        // that one may have
	narrowShift   = 12       // of a bucket whose cuts share its word
	lineWords     = 3        // of the result
	reportCopies  = 16       // COPIES of batch.glsl
	leastShared   = 32 << 10 // bytes that every OpenGL 4.5 device has
	// mostLineUnits bounds the units of a thread so that it meets less than 2^13 records of a piece. Its counts have
	// so many bits, and its sums of codes of wholeWidth bits have 32.
	mostLineUnits = 60
	// scanLocal is the most threads of a work group, and leastLocal the fewest. There are as many as have registers and memory for their
	// values. A multiprocessor has room for one group at a time.
	scanLocal, leastLocal = 384, 128
	groupsPerUnit         = 2 // work groups a multiprocessor
)

// lineSlot is where a line of a query is in a batch: a bit.
type lineSlot struct{ form, line, at int }

// groups is how many groups of lines there are. mixable is how many of them, the first, may add up different values. They
// have the lines that are left when the lines of each value have filled groups.
func (b *Scan) groups() int { return b.device.Lines / linesPerGroup }
func (b *Scan) mixable(values int) int {
	if values < 2 {
		return 0
	}
	return min(mostMixed, b.groups(), (values*(linesPerGroup-1)+linesPerGroup-1)/linesPerGroup)
}

// New returns an empty batch.
func New(d compute.Profile) *Scan {
	d.Software = false // its programs are those for hardware (Profile.Lines)
	return &Scan{device: d, lines: map[value]int{}, passes: &scanPasses{}}
}

// Add adds a query, unless the batch has no room for it. All of a batch are over the same chunks.
func (b *Scan) Add(f *Query) bool {
	next := *b
	next.forms = append(slices.Clip(b.forms), f)
	for _, col := range f.cols {
		if at, found := slices.BinarySearch(next.cols, col); !found {
			next.cols = slices.Insert(slices.Clone(next.cols), at, col)
		}
	}
	next.lines = maps.Clone(b.lines)
	for _, l := range f.lines {
		next.lines[l.value]++
	}
	values := len(next.values())
	if len(next.forms) > MaxQueries || len(next.cols) > maxColumns || !next.hasPlaces(values) || !next.cut(f) {
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
		}
		if blocks > b.device.BlockLimit() || next.shared(i, values, leastLocal) > b.memory() {
			return false
		}
	}
	*b = next
	return true
}

// cut adds the cuts of a query's conditions, and reports whether there are not too many, of a column or in a bucket.
func (b *Scan) cut(f *Query) bool {
	all, either := make([]map[int][]uint64, len(f.q.Table.Chunks)), make([]bool, len(f.q.Table.Chunks))
	for i := range all {
		all[i] = map[int][]uint64{}
		if b.cuts != nil {
			all[i], either[i] = maps.Clone(b.cuts[i]), b.any[i]
		}
		for _, clauses := range f.clauses {
			c := clauses[i]
			either[i] = either[i] || c.any != nil
			for _, sets := range []map[int]codeSet{c.all, c.any} {
				for col, s := range sets {
					list := slices.Clone(all[i][col])
					for _, cut := range s.cuts {
						if at, found := slices.BinarySearch(list, cut); !found && cut > 0 && cut <= math.MaxUint32 {
							list = slices.Insert(list, at, cut)
						}
					}
					if len(list) >= maxIntervals || crowded(list, bucketShift(f.q.Table.Chunks[i], col)) {
						return false
					}
					all[i][col] = list
				}
			}
		}
	}
	b.cuts, b.any = all, either
	return true
}

// crowded reports more cuts in one bucket than its words have room for; one at its beginning takes none.
func crowded(cuts []uint64, shift int) bool {
	for i := range max(0, len(cuts)-bucketCuts) {
		first := cuts[i]
		if first&(1<<shift-1) != 0 && first>>shift == cuts[i+bucketCuts]>>shift {
			return true
		}
	}
	return false
}

// bucketShift is of how many codes a bucket is, as a power of 2: two at least.
func bucketShift(c *table.Chunk, col int) int {
	return max(1, c.Segments[col].Bits-bits.Len(buckets-1))
}

// tableWords are the words of the buckets of a chunk's columns: how many, and where each column's begin.
func (b *Scan) tableWords(chunk int, cols []int) (n int, at []int) {
	for _, col := range cols {
		at = append(at, n)
		if n += buckets; bucketShift(b.forms[0].q.Table.Chunks[chunk], col) > narrowShift {
			n += buckets
		}
	}
	return n, at
}

// wordLines is how many lines a word has bits for: a batch of no more has a smaller program, which takes less time.
const wordLines = 32

// words is how many words the lines take.
func (b *Scan) words() int { return (b.device.Lines + wordLines - 1) / wordLines }

// masks are the words that say which lines an interval passes: first those of conditions that must hold, then those of
// which one must.
func (b *Scan) masks(chunk int) int {
	if b.any[chunk] {
		return 2 * b.words()
	}
	return b.words()
}

// memory is what a work group may take, in bytes.
func (b *Scan) memory() int { return max(leastShared, b.device.Shared) }

// local is of how many threads a work group over a chunk is.
func (b *Scan) local(chunk int) (n int) {
	for n = scanLocal; n > leastLocal && b.shared(chunk, len(b.values()), n) > b.memory(); n -= leastLocal {
	}
	return n
}

// shared is the memory that a work group of so many threads takes over a chunk for so many values, in bytes.
func (b *Scan) shared(chunk, values, local int) int {
	var cols []int
	for _, col := range b.cols {
		if c := b.forms[0].q.Table.Chunks[chunk]; col < len(c.Segments) && c.Segments[col] != nil {
			cols = append(cols, col)
		}
	}
	words, _ := b.tableWords(chunk, cols)
	const claimed = 16 // units.glsl
	return claimed + 4*max(words, lineWords*b.device.Lines*reportCopies) + 4*(maxIntervals+1)*b.masks(chunk)*len(cols) + 16*max(1, values)*local
}

// Len is how many queries there are.
func (b *Scan) Len() int { return len(b.forms) }

// Columns returns the blocks that the batch reads.
func (b *Scan) Columns() (list []textures.Block) {
	for i, c := range b.forms[0].q.Table.Chunks {
		for _, w := range b.device.WindowsOf(c.Rows) {
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

// values lists what the lines add up or search for. If there is room, it also lists what they might add up of the
// columns, so that batches over the same columns have one program.
func (b *Scan) values() (list []value) {
	for v := range b.lines {
		if v.col >= 0 {
			list = append(list, v)
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
	if len(more) <= maxValues {
		list = more
	}
	slices.SortFunc(list, func(a, b value) int { return cmp.Or(cmp.Compare(a.col, b.col), cmp.Compare(a.take, b.take)) })
	return list
}

// extreme reports that the largest is searched for.
func (v value) extreme() bool { return v.take >= largestCode }

// hasPlaces reports whether each line can have a bit, of so many values (see arrange).
func (b *Scan) hasPlaces(values int) bool {
	all, full, rest := 0, 0, 0
	for v, n := range b.lines {
		all += n
		switch {
		case v.extreme():
			full += (n + linesPerGroup - 1) / linesPerGroup
		case v.col >= 0:
			full, rest = full+n/linesPerGroup, rest+n%linesPerGroup
		}
	}
	if values < 2 {
		full, rest = full+(rest+linesPerGroup-1)/linesPerGroup, 0
	}
	mixed := (rest + linesPerGroup - 1) / linesPerGroup
	return values <= maxValues && all <= b.device.Lines && mixed <= b.mixable(values) && full+mixed <= b.groups()
}

// fit takes the smaller program, if that has places for all lines.
func (b *Scan) fit() {
	small := *b
	small.device.Lines = min(wordLines, b.device.Lines)
	if small.hasPlaces(len(b.values())) {
		*b = small
	}
}

// arrange gives each line a bit. Lines of one value fill groups of four. The remaining sums come before them, four to a group. Lines
// that only count take free bits.
func (b *Scan) arrange() {
	of := map[value][]lineSlot{}
	for i, f := range b.forms {
		for k, l := range f.lines {
			of[l.value] = append(of[l.value], lineSlot{form: i, line: k})
		}
	}
	var full [][]lineSlot // of one value each
	var list []lineSlot   // what is left
	values := b.values()
	for _, v := range values {
		lines := of[v]
		n := len(lines)
		if len(values) > 1 && !v.extreme() {
			n -= n % linesPerGroup
		}
		full, list = append(full, lines[:n]), append(list, lines[n:]...)
	}
	b.order = nil
	taken, at := [compute.MaxLines]bool{}, 0
	for _, lines := range append([][]lineSlot{list}, full...) {
		at = (at + linesPerGroup - 1) / linesPerGroup * linesPerGroup
		for _, p := range lines {
			p.at, taken[at] = at, true
			b.order = append(b.order, p)
			at++
		}
	}
	at = 0
	for _, p := range of[value{col: -1}] {
		for taken[at] {
			at++
		}
		p.at, taken[at] = at, true
		b.order = append(b.order, p)
	}
}

// clause is the condition of a line in a chunk.
func (b *Scan) clause(p lineSlot, chunk int) clause { return b.forms[p.form].clauses[p.line][chunk] }

// colsOf lists the columns that the batch reads in a chunk.
func (b *Scan) colsOf(chunk int) []int {
	set := map[int]bool{}
	for _, f := range b.forms {
		for _, col := range f.columnsOf(chunk) {
			set[col] = true
		}
	}
	return slices.Sorted(maps.Keys(set))
}

// lookup is the table of one chunk for its program (batch.glsl), and the buckets' shift of each column.
func (b *Scan) lookup(chunk int, cols []int) (words []uint32, shifts []int) {
	n, begins := b.tableWords(chunk, cols)
	masks := b.masks(chunk)
	words = make([]uint32, n+(maxIntervals+1)*masks*len(cols))
	for i, col := range cols {
		cuts, shift := b.cuts[chunk][col], bucketShift(b.forms[0].q.Table.Chunks[chunk], col)
		at := 0 // cuts at or before the bucket's first code
		for k := range uint64(buckets) {
			first := k << shift
			for at < len(cuts) && cuts[at] <= first {
				at++
			}
			before := [bucketCuts]uint32{1<<shift - 1, 1<<shift - 1} // the codes before the cuts, within the bucket; none are behind the last one
			for j := range before {
				if at+j < len(cuts) && cuts[at+j]>>shift == k {
					before[j] = uint32(cuts[at+j] - first - 1)
				}
			}
			word, high := &words[begins[i]+int(k)], 32-shift
			if *word = uint32(at) | before[0]<<high; shift > narrowShift {
				words[begins[i]+buckets+int(k)] = before[1] << high
			} else {
				*word |= before[1] << (high - shift)
			}
		}
		b.pass(words[n+(maxIntervals+1)*masks*i:], chunk, col)
		shifts = append(shifts, shift)
	}
	return words, shifts
}

// nullsAt is the interval of no value.
const nullsAt = maxIntervals

// pass writes which lines each interval of a column passes, and NULL: the words of an interval together, those of disjunctions behind
// the others' table.
func (b *Scan) pass(words []uint32, chunk, col int) {
	cuts, n := b.cuts[chunk][col], b.words()
	for half := range b.masks(chunk) / n {
		words := words[half*n*(maxIntervals+1):]
		unasked := make([]uint32, n)
		for _, p := range b.order {
			c := b.clause(p, chunk)
			s, asked := []map[int]codeSet{c.all, c.any}[half][col]
			word, bit := p.at/wordLines, uint32(1)<<(p.at%wordLines)
			switch {
			case c.never:
			case !asked && (half == 0 || c.any != nil):
				unasked[word] |= bit
			case asked:
				in := 0 // cuts of the set at or before the interval's first code
				for k := range len(cuts) + 1 {
					for in < len(s.cuts) && (s.cuts[in] == 0 || k > 0 && s.cuts[in] <= cuts[k-1]) {
						in++
					}
					if in%2 == 1 {
						words[n*k+word] |= bit
					}
				}
				if s.null {
					words[n*nullsAt+word] |= bit
				}
			}
		}
		for i := range words[:n*(maxIntervals+1)] {
			words[i] |= unasked[i%n]
		}
	}
}

// Prepare makes the passes of the batch, which takes no more queries. The first call makes them, on another thread than the GL thread
// if that is busy.
func (b *Scan) Prepare() error {
	p := b.passes
	p.once.Do(func() {
		b.fit()
		b.arrange()
		if p.Compiler, p.err = compute.NewCompiler(b.device, b.forms[0].q); p.err != nil {
			return
		}
		if p.at, p.err = b.queue(p.Compiler); p.err == nil {
			p.Flush()
			p.SideBySide()
		}
	})
	return p.err
}

// Run answers the queries: of each the selection.
func (b *Scan) Run(run pass.Runner) ([]partial.Selection, error) {
	if err := b.Prepare(); err != nil {
		return nil, err
	}
	x, err := b.passes.Execute(run)
	if err != nil {
		return nil, err
	}
	list := make([]partial.Selection, len(b.forms))
	for i, f := range b.forms {
		list[i] = &answers{Query: f, found: make([][]found, len(f.lines))}
	}
	for _, p := range b.order {
		a := list[p.form].(*answers)
		for _, at := range b.passes.at {
			of := found{}
			if at >= 0 {
				w := x.Words[at+lineWords*p.at:]
				of = found{uint64(w[0]), uint64(w[1]) | uint64(w[2])<<32}
			}
			a.found[p.line] = append(a.found[p.line], of)
		}
	}
	return list, nil
}

// queue queues the passes, and returns where the result has the lines of each chunk; -1 for a chunk without rows.
func (b *Scan) queue(c *compute.Compiler) (at []int, err error) {
	var words []uint32
	var tables []int
	shifts := make([][]int, len(c.Chunks))
	for i, x := range c.Chunks {
		tables = append(tables, len(words))
		if x.Rows > 0 {
			var of []uint32
			of, shifts[i] = b.lookup(i, b.colsOf(i))
			words = append(words, of...)
		}
	}
	block := textures.ScratchBlock(&textures.Scratch{Words: max(4, (len(words)+3)/4*4), Init: words})
	shapes := map[string]*compute.Code{}
	for i, x := range c.Chunks {
		if x.Rows == 0 {
			at = append(at, -1)
			continue
		}
		to := c.Alloc(lineWords * compute.MaxLines)
		at = append(at, to)
		w := compute.NewWriter(x)
		w.Arg(to, tables[i], b.split(c))
		w.Arg(shifts[i]...)
		k := b.program(w, i, block)
		shape := fmt.Sprint(k.Text, k.Slots)
		if shapes[shape] == nil {
			shapes[shape] = k
		}
		x.Stage(w.Kernels(shapes[shape], Batched{Statements: len(b.forms), Lines: len(b.order)})...)
	}
	return at, nil
}

// split is by how many threads, as a power of 2, a unit is shared: all multiprocessors are to have something to do.
func (b *Scan) split(c *compute.Compiler) (n int) {
	for n < 5 && c.Units<<n < 2*scanLocal*groupsPerUnit*max(1, b.device.Multiprocessors) {
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
