package trace

import (
	"context"
	"fmt"
	"math/big"
	"slices"
	"strings"

	"github.com/stencildb/stencildb/compute"
	"github.com/stencildb/stencildb/cpu"
	"github.com/stencildb/stencildb/engine"
	"github.com/stencildb/stencildb/expr"
	"github.com/stencildb/stencildb/fused"
	"github.com/stencildb/stencildb/glctx"
	"github.com/stencildb/stencildb/internal/numbers"
	"github.com/stencildb/stencildb/pass"
	"github.com/stencildb/stencildb/plan/physical"
	"github.com/stencildb/stencildb/plan/predicate"
	"github.com/stencildb/stencildb/relational"
	"github.com/stencildb/stencildb/table"
	"github.com/stencildb/stencildb/textures"
)

// tracer is a runner that waits for each pass and looks at what it read and wrote. After
// the first error what it reads back is zeros; Run returns the error.
type tracer struct {
	*pass.Profiler
	bare  pass.Runner // for draws that are no pass of the statement
	store *textures.Store
	ctx   *glctx.Context
	timer *glctx.Timer
	plan  *physical.Query
	pairs *physical.JoinQuery // of the passes that find a join's pairs; else nil
	err   error

	progress func(done, all int) // nil: nobody asks
	expected int                 // passes

	trace    *Trace
	images   *images
	looks    []*look // one a pass
	programs map[string]int

	targets  map[textures.TargetRef]*buffer
	masks    map[textures.Shape]*textures.Temp
	temps    map[*textures.Temp]*look // the pass that drew it last
	memories map[*textures.Scratch]*memory
	planes   map[textures.Block][]Panel
	selected map[int]table.Bitmap // by chunk, computed on the host
}

// look is a pass as it is looked at.
type look struct {
	*Pass
	pass  *pass.Pass
	grid  *grid
	was   []uint32       // compute: the result block before the pass
	words []uint32       // compute: the result block as the pass left it
	from  *textures.Temp // fused: the partial results that were merged
	told  bool           // what its partial results make
	// counted is what the partial counts of a reduction add up to.
	counted [4]uint64
}

func newLook(p *pass.Pass) *look {
	return &look{pass: p, Pass: &Pass{Name: p.String(), Counts: p.Op.Counts(), Chunk: p.Chunk, Counted: p.Count,
		Results: []string{}, Panels: []Panel{}, Search: -1, Sum: -1, Fates: -1}}
}

func newTracer(s engine.Stage, run pass.Runner) *tracer {
	timer, store := s.Context.NewTimer(), s.Runner.Store()
	t := &tracer{Profiler: &pass.Profiler{Runner: run, Timer: timer, Prepared: s.Runner.Prepared},
		bare: s.Runner, store: store, ctx: s.Context, timer: timer, plan: s.Plan, pairs: s.Pairs,
		trace: &Trace{Stage: s, Device: s.Context.Caps().Renderer,
			Answer: []Field{}, Plan: []string{}, Grids: []*grid{}, Images: []*Image{}, Columns: []*Column{}, Passes: []*Pass{}, Programs: []string{}, Searches: []*Search{}, Sums: []*Sum{}},
		images:   &images{list: []*Image{}, at: map[[32]byte]int{}},
		programs: map[string]int{}, targets: map[textures.TargetRef]*buffer{}, masks: map[textures.Shape]*textures.Temp{},
		temps: map[*textures.Temp]*look{}, memories: map[*textures.Scratch]*memory{}, planes: map[textures.Block][]Panel{},
		selected: map[int]table.Bitmap{}}
	if t.pairs != nil {
		return t
	}
	t.trace.Rows = s.Plan.Table.Rows()
	first := 0
	for _, c := range s.Plan.Table.Chunks {
		t.trace.Grids = append(t.trace.Grids, newGrid(first, c.Rows))
		first += c.Rows
	}
	return t
}

func (t *tracer) close() {
	// A context that is gone has taken the timer with it.
	_ = t.ctx.Do(context.Background(), func() error {
		t.timer.Delete()
		return nil
	})
}

// fail keeps the first error and reports whether there is one.
func (t *tracer) fail(err error) bool {
	if t.err == nil {
		t.err = err
	}
	return t.err != nil
}

// Run implements pass.Runner.
func (t *tracer) Run(p *pass.Pass) (pass.Count, error) {
	l := newLook(p)
	see := t.draw
	if t.pairs != nil {
		see = t.join
		t.plan, l.Chunk = relational.SideOf(t.pairs, p), 0
	} else {
		l.grid = t.trace.Grids[l.Chunk]
	}
	l.State, l.Uniforms, l.Program = t.state(l), uniforms(p.Uniforms), t.program(p)
	switch {
	case t.pairs != nil:
	case p.Dispatch != nil:
		see = t.dispatch
	case p.Target.Shape.Rows == 0:
		see = t.paint
	}
	after := see(l)
	if t.err != nil {
		return nil, t.err
	}
	c, err := t.Profiler.Run(p)
	if t.fail(err) {
		return nil, t.err
	}
	f := t.Profiles[len(t.Profiles)-1]
	l.MS, l.Samples = float64(f.Elapsed)/1e6, f.Samples
	t.looks, t.trace.Passes = append(t.looks, l), append(t.trace.Passes, l.Pass)
	t.splitNote(l)
	if t.progress != nil {
		t.progress(len(t.looks), t.expected)
	}
	after()
	t.fail(t.ctx.Check("trace: read back"))
	return c, t.err
}

// splitNote explains the numbers of clauses, which are those of a WHERE clause whose
// comparisons of wide columns have been split.
func (t *tracer) splitNote(l *look) {
	form := ""
	switch l.pass.Op.(type) {
	case pass.EvalCNF:
		form = "CNF"
	case pass.EvalDNF:
		form = "DNF"
	default:
		return
	}
	var wide []string
	for _, col := range expr.Columns(t.plan.Where) {
		text := fmt.Sprintf("%s has %d bits", t.columnName(col), t.segment(l, col).Bits)
		if textures.Limbs(t.segment(l, col).Bits) > 1 && !slices.Contains(wide, text) {
			wide = append(wide, text)
		}
	}
	if len(wide) > 0 {
		l.Results = append(l.Results, fmt.Sprintf("clauses of the %s after splitting wide columns into %d-bit limbs: %s", form, textures.LimbBits, strings.Join(wide, ", ")))
	}
}

func (t *tracer) segment(l *look, col int) *table.Segment {
	return t.plan.Table.Chunks[l.Chunk].Segments[col]
}

// program keeps a program's text and returns its place.
func (t *tracer) program(p *pass.Pass) int {
	text := p.Program.Text
	if text == "" {
		return -1
	}
	i, ok := t.programs[text]
	if !ok {
		i = len(t.trace.Programs)
		t.programs[text] = i
		t.trace.Programs = append(t.trace.Programs, text)
	}
	return i
}

// selection is the selected records of a chunk as the plan specifies them.
func (t *tracer) selection(chunk int) table.Bitmap {
	b, ok := t.selected[chunk]
	if !ok {
		c, pred := t.plan.Table.Chunks[chunk], t.plan.Chunks[chunk].Pred
		var err error
		if b, err = cpu.Selected(pred, c); t.fail(err) {
			b = table.NewBitmap(c.Rows)
		}
		t.selected[chunk] = b
	}
	return b
}

// holds notes that the pass has a set of records of its chunk, which may be the selection.
func (t *tracer) holds(l *look, in func(row int) bool) {
	if l.Selection || l.pass.Part.Check || t.plan.Chunks[l.Chunk].Pred.Op == predicate.True {
		return
	}
	b := t.selection(l.Chunk)
	for row := range l.grid.Rows {
		if in(row) != b.Get(row) {
			return
		}
	}
	l.Selection = true
}

// hostSelection shows the selection of the WHERE clause where the pass goes over it and
// it exists in registers only.
func (t *tracer) hostSelection(l *look) {
	switch l.pass.Op.(type) {
	case fused.Bitmap, fused.Merge, compute.Write, compute.Values:
		return
	}
	if l.pass.Part.Check || t.plan.Chunks[l.Chunk].Pred.Op == predicate.True {
		return
	}
	l.Selection = true
	p := t.share(l, "selected records", t.selection(l.Chunk).Get)
	p.Note = "computed on the host: the program has the selection in registers only"
	l.show(p)
}

// ReadTexels implements pass.Runner: what is read back is told with the passes that
// drew it.
func (t *tracer) ReadTexels(temp *textures.Temp, words []uint32) error {
	if err := t.Profiler.ReadTexels(temp, words); err != nil {
		return err
	}
	for drawn, l := range t.temps { // none of those that a network draws
		if drawn.Whole() != temp || l.told {
			continue
		}
		own := make([]uint32, 0, 4*drawn.Width*drawn.Height)
		for y := range drawn.Height {
			at := 4 * (drawn.Line + y) * temp.Width
			own = append(own, words[at:at+4*drawn.Width]...)
		}
		for ; l != nil; l = t.temps[l.from] {
			l.told, l.Results = true, append(l.Results, t.partials(l, own))
			if l.from == nil {
				break
			}
		}
	}
	return nil
}

// partials says in words what partial results make together.
func (t *tracer) partials(l *look, words []uint32) string {
	op := l.pass.Op
	if m, ok := op.(fused.Merge); ok {
		op = m.Op
	}
	pair := func(i int) uint64 { return uint64(words[i]) | uint64(words[i+1])<<32 }
	switch op := op.(type) {
	case fused.Sum:
		sum, n := new(big.Int), uint64(0)
		for i := 0; i < len(words); i += 4 {
			part := new(big.Int).SetUint64(uint64(words[i+2]))
			sum.Add(sum, part.Lsh(part, 64).Add(part, new(big.Int).SetUint64(pair(i))))
			n += uint64(words[i+3])
		}
		return fmt.Sprintf("partial sums added up: the codes make %s, of %s", numbers.GroupedText(sum.String()), numbers.Count(n, "record", "records"))
	case fused.Extreme:
		lo, hi := ^uint64(0), uint64(0)
		for i := 0; i < len(words); i += 4 {
			if a, b := pair(i), pair(i+2); a <= b {
				lo, hi = min(lo, a), max(hi, b)
			}
		}
		if lo > hi {
			return "no record is selected"
		}
		name := t.valueName(l.Chunk, op.Col)
		return fmt.Sprintf("partial results together: the smallest is %s, the largest %s", name(lo), name(hi))
	}
	l.counted = [4]uint64{}
	for i, w := range words {
		l.counted[i%4] += uint64(w)
	}
	return "partial counts added up: " + numbers.Grouped(l.counted[0])
}
