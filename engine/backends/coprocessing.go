package backends

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"iter"
	"math"
	"math/bits"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/stencildb/stencildb/cost"
	"github.com/stencildb/stencildb/cpu/aggregation"
	"github.com/stencildb/stencildb/cpu/radixsort"
	"github.com/stencildb/stencildb/engine/devicepool"
	"github.com/stencildb/stencildb/engine/querystats"
	"github.com/stencildb/stencildb/engine/sortkey"
	"github.com/stencildb/stencildb/expr"
	"github.com/stencildb/stencildb/glctx"
	"github.com/stencildb/stencildb/internal/numbers"
	"github.com/stencildb/stencildb/internal/parallel"
	"github.com/stencildb/stencildb/pass"
	"github.com/stencildb/stencildb/plan"
	"github.com/stencildb/stencildb/plan/physical"
	"github.com/stencildb/stencildb/table"
)

// Coprocessing is the backend both (GDB, section 5: EXEC_COP). compute or cpu answers a query, or both at the same time, each for some
// windows of its rows. The cost model predicts the fastest way, and how many windows each takes. What compute cannot do of it cpu does
// alone, and a row's error is that of cpu, which then looks at all rows.
type Coprocessing struct {
	*Passes // of compute
	host    CPU
	by      View
}

// Name implements [Backend].
func (b *Coprocessing) Name() string { return "both" }

// division is a query whose rows may be divided.
type division struct {
	at      devicepool.Contents // what was resident
	onHost  float64             // what cpu is predicted to take for all rows
	onThere cost.Prediction     // what compute is, and what it lacks
	*windows
	Parts []Part     // the devices' that have some, and the last one the host's; fewer than two where one side has all
	Rows  [2]int     // compute's and cpu's
	Takes [2]float64 // what they are predicted to take, in seconds
	lacks cost.Prediction
	Why   string // the rows are not divided; else ""
	// grouped and ordered say that compute finds groups, and sorts.
	Grouped, ordered bool
}

// InTurn is the part of the time of compute and cpu together that may be lost. They share the host's memory and wait
// for one another. They must gain more than that.
const InTurn = 0.25

const (
	maxWindows  = 16      // that a table is cut to
	largeWindow = 1 << 16 // rows, of which larger ones are multiples
)

// windowRows is how many rows a window of a table has; nothing is cut of one of many chunks.
func (s *Devices) windowRows(t *table.Table) int {
	rows := physical.RowOffsetsOf(t)[len(t.Chunks)]
	n := (rows + maxWindows - 1) / maxWindows
	switch unit := 64; {
	case s.Window > 0:
		return s.Window
	case len(t.Chunks) >= maxWindows/2:
		return rows
	default:
		if n > largeWindow {
			unit = largeWindow
		}
		return max(unit, (n+unit-1)/unit*unit)
	}
}

// Divide divides the rows of a query as the cost model says, as long as the same columns are resident. Where it says that
// one side had better do all, the other one gets a window yet.
func (b *Coprocessing) Divide(q *physical.Query) *division {
	at := b.Contents()
	if d, ok := b.divided.Get(q); ok && slices.Equal(d.at, at) {
		return d
	}
	d := b.newDivision(q)
	d.at = at
	b.divided.Add(q, d)
	return d
}

func (b *Coprocessing) newDivision(q *physical.Query) *division {
	d := &division{}
	undivided := func(why string) *division {
		d.Why = why
		return d
	}
	known, err := b.by.Costs.Get()
	if err != nil {
		return undivided(err.Error())
	}
	device, host := known.Profile.Backends["compute"], known.Profile.Backends["cpu"]
	w, at := cost.Of(q), b.Contents()
	d.onHost, d.onThere.Run = host.Run(w), math.Inf(1)
	if _, err := b.record(q); err == nil {
		d.onThere.Run = b.Predict(device, w, q.Table)
		device.Lack(&d.onThere, w, func(c cost.Column) bool { return at.Has("compute", c) })
	}
	if q.Star != nil || q.IsPart() {
		return undivided("a star of joins is not divided")
	}
	if d.windows = newWindows(q, b.windowRows(q.Table)); len(d.chunks) < 2 {
		return undivided("the table has too few rows to divide")
	}
	if _, err := b.record(d.Whole); err != nil {
		return undivided(err.Error())
	}
	b.balance(d, &device, &host)
	_, together := q.CountsDistinct() // cpu counts values, of which the device may have found some
	d.Grouped, d.ordered = q.Groups != nil && !together, q.Order != nil && q.Order.KeysAreColumns()
	for _, p := range d.onDevices() {
		if d.Grouped {
			done, err := b.FindGroups(&pass.Recorder{}, p.GPU, p.Query)
			d.Grouped = done && err == nil
		}
		if d.ordered {
			_, err := b.order(&pass.Recorder{}, p.GPU, p.Query)
			d.ordered = err == nil
		}
	}
	return d
}

// balance says which backend takes which windows, by the predictions. Devices first take windows that are
// resident. The others are divided so that both backends have some everywhere.
func (b *Coprocessing) balance(d *division, device, host *cost.Backend) {
	w, at, t := cost.Of(d.Whole), b.Contents(), d.Whole.Table
	on := make([]int, len(t.Chunks)) // by window: its device
	for i, chunks := range devicepool.Place(t, len(b.GPUs)) {
		for _, c := range chunks {
			on[c] = i
		}
	}
	resident := func(c cost.Column) bool { return at.Has("compute", c) }
	missing := make([]int64, len(on)) // by window, bytes
	for i := range on {
		var p cost.Prediction
		device.Lack(&p, w.Over([]int{i}), resident)
		missing[i] = p.Bytes
	}
	order := make([]int, len(on))
	for i := range order {
		order[i] = i
	}
	width := bits.Len(uint(len(order) - 1))
	slices.SortFunc(order, func(i, j int) int {
		apart := func(i int) uint64 { return bits.Reverse64(uint64(i)) >> (64 - width) }
		return cmp.Or(cmp.Compare(min(1, missing[i]), min(1, missing[j])), cmp.Compare(apart(i), apart(j)))
	})
	of := func(k int) [][]int { // by device
		list := make([][]int, len(b.GPUs))
		for _, i := range order[:k] {
			list[on[i]] = append(list[on[i]], i)
		}
		for i := range list {
			slices.Sort(list[i])
		}
		return list
	}
	first := func(k int) (longest float64) {
		for _, chunks := range of(k) {
			if len(chunks) == 0 {
				continue
			}
			part, p := w.Over(chunks), cost.Prediction{}
			device.Lack(&p, part, resident)
			longest = max(longest, device.Run(part)+p.Transfer)
		}
		return longest
	}
	second := func(n int) float64 {
		if n == 0 {
			return 0
		}
		return host.Run(w.Over(order[len(order)-n:]))
	}
	k := b.balanced(len(order), device.Costs != nil, first, second)
	if b.Share == 0 {
		k = max(1, min(k, b.fitting(w, order, on)))
	}
	d.Takes = [2]float64{first(k), second(len(order) - k)}
	for i, chunks := range of(k) {
		if len(chunks) > 0 {
			d.Parts = append(d.Parts, Part{Part: devicepool.Part{GPU: b.GPUs[i], Query: d.Whole.Part(chunks)}})
		}
	}
	rest := slices.Sorted(slices.Values(order[k:]))
	d.Parts = append(d.Parts, Part{Part: devicepool.Part{Query: d.Whole.Part(rest)}})
	device.Lack(&d.lacks, w.Over(slices.Sorted(slices.Values(order[:k]))), resident)
	for _, p := range d.Parts {
		rows := physical.RowOffsetsOf(p.Query.Table)[len(p.Query.Table.Chunks)]
		d.Rows[p.side()] += int(rows)
	}
}

// operator is a query as the one operator that is left of a statement.
func (b *Coprocessing) operator(d *division, q *physical.Query) (o cost.Operator) {
	o.Takes = [...]float64{cost.OnCPU: d.onHost, cost.OnDevice: d.onThere.Run + b.by.Uploads.Share(d.onThere.Transfer, Missing(q.Table, d.onThere)...), cost.OnBoth: math.Inf(1)}
	if d.Why == "" && !b.Key.Software { // whose cores are cpu's
		o.Takes[cost.OnBoth] = (1 + InTurn) * max(d.Takes[0], d.Takes[1])
	}
	return o
}

// Assign says who does a query, the last operator of its statement: as SET says, or as is predicted to take the least time. Columns
// that the device would gain by are uploaded once enough statements have lost the time that this takes: see [UploadAmortisation].
func (b *Coprocessing) Assign(d *division, q *physical.Query) cost.Mode {
	mode, told := b.by.Told(math.MaxInt)
	if !told {
		o := b.operator(d, q)
		in, _ := cost.Assign([]cost.Operator{o})
		if mode = in[0]; mode != cost.OnDevice && d.onThere.Run < o.Takes[mode] {
			b.by.Uploads.Add(Missing(q.Table, d.onThere)...)
		}
	}
	if mode == cost.OnBoth && d.Why != "" {
		return cost.OnCPU
	}
	return mode
}

// balanced is how many of n windows the devices take, so that both sides are likely to take as long. It is half of them where nothing is
// known.
func (s *Devices) balanced(n int, known bool, first, second func(k int) float64) int {
	k := n / 2
	if known {
		k = cost.Balance(n, first, second)
	}
	if s.Share > 0 {
		k = int(s.Share * float64(n))
	}
	return max(1, min(k, n-1))
}

// fitting is how many windows of an order the memory of the devices holds, with a quarter left for working memory.
func (b *Coprocessing) fitting(w *cost.Work, order, on []int) int {
	left := make([]int64, len(b.GPUs))
	for i, g := range b.GPUs {
		left[i] = g.Context.Caps().Budget / 4 * 3
		if u := g.Content.Load().Usage; u.Budget > 0 {
			left[i] = u.Budget / 4 * 3
		}
	}
	for k, i := range order {
		for _, c := range w.Over([]int{i}).Columns {
			left[on[i]] -= c.Bytes
		}
		if left[on[i]] < 0 {
			return k
		}
	}
	return len(order)
}

// host is the host's part of a division.
func (d *division) host() *physical.Query { return d.Parts[len(d.Parts)-1].Query }

// onDevices are the others.
func (d *division) onDevices() []Part { return d.Parts[:len(d.Parts)-1] }

// String says how the rows are divided.
func (d *division) String() string {
	return fmt.Sprintf("windows %d: compute %d, cpu %d", len(d.chunks), len(d.chunks)-len(d.host().Chunks), len(d.host().Chunks))
}

// Again reports an error after which cpu answers the query alone. That is the error of a row, or one of compute,
// which cannot do its part or has no room.
func Again(ctx context.Context, err error) bool {
	return err != nil && ctx.Err() == nil && !errors.Is(err, glctx.ErrFault) && !errors.Is(err, glctx.ErrClosed) && !errors.Is(err, context.Canceled)
}

// Execute implements backend.
func (b *Coprocessing) Execute(ctx context.Context, q *physical.Query, took *querystats.Collector) ([]table.Value, error) {
	d := b.Divide(q)
	var values []table.Value
	var err error
	switch b.Assign(d, q) {
	case cost.OnCPU:
		return b.host.Execute(ctx, q, took)
	case cost.OnDevice:
		values, err = b.Passes.Execute(ctx, q, took)
	case cost.OnBoth:
		values, err = b.MergedOnAll(ctx, d.Whole, d.Parts, took, func(g *devicepool.GPU) pass.Runner { return g.GL })
	}
	if Again(ctx, err) {
		return b.host.Execute(ctx, q, took)
	}
	return values, err
}

// elseOn are rows, or those of the host where compute has no way to find the first of them.
func elseOn[T any](ctx context.Context, rows, host iter.Seq2[T, error]) iter.Seq2[T, error] {
	return func(yield func(T, error) bool) {
		given := false
		for r, err := range rows {
			if !given && Again(ctx, err) {
				host(yield)
				return
			}
			if given = true; !yield(r, err) {
				return
			}
		}
	}
}

// Rows implements backend: both sides work ahead of the caller, who gets the windows in the order of the table.
func (b *Coprocessing) Rows(ctx context.Context, q *physical.Query, took *querystats.Collector) iter.Seq2[table.Block, error] {
	d := b.Divide(q)
	switch b.Assign(d, q) {
	case cost.OnCPU:
		return b.host.Rows(ctx, q, took)
	case cost.OnDevice:
		return elseOn(ctx, b.Passes.Rows(ctx, q, took), b.host.Rows(ctx, q, took))
	}
	return func(yield func(table.Block, error) bool) {
		inner, cancel := context.WithCancel(ctx)
		defer cancel()
		var sides []*side
		for _, p := range d.Parts {
			var rows iter.Seq2[table.Block, error]
			if p.GPU == nil {
				rows = b.host.Rows(inner, p.Query, took)
			} else {
				rows = b.rowsOn(inner, p.Query, slices.Repeat([]*devicepool.GPU{p.GPU}, len(p.Query.Chunks)), took)
			}
			sides = append(sides, newSide(inner, p.Query, rows))
		}
		defer func() { // until the GL thread and the cores are done with the query
			cancel()
			for _, s := range sides {
				for range s.blocks {
				}
			}
		}()
		for i := 0; ; i++ {
			first := (*side)(nil)
			for _, s := range sides { // all have run their checks when they have a block
				if !s.next() {
					continue
				}
				if i == 0 && Again(ctx, s.now.err) {
					cancel()
					b.host.Rows(ctx, q, took)(yield)
					return
				}
				if first == nil || s.now.err != nil && first.now.err == nil || s.now.err == nil && first.now.err == nil && s.now.Chunk < first.now.Chunk {
					first = s
				}
			}
			switch {
			case first == nil:
				if err := ctx.Err(); err != nil {
					yield(table.Block{}, err)
				}
				return
			case first.now.err != nil:
				yield(table.Block{}, cmp.Or(ctx.Err(), first.now.err))
				return
			case !yield(d.inTable(first.now.Block), nil):
				return
			}
			first.taken = true
		}
	}
}

// side is who finds rows of some windows.
type side struct {
	blocks chan given
	now    given
	taken  bool // now
	over   bool
}

type given struct {
	table.Block // of a window
	err         error
}

// blocksAhead is how many blocks a side is ahead at most.
const blocksAhead = 64

// newSide begins to find rows of a query, up to blocksAhead blocks ahead of who takes them.
func newSide(ctx context.Context, q *physical.Query, rows iter.Seq2[table.Block, error]) *side {
	s := &side{blocks: make(chan given, blocksAhead), taken: true}
	give := func(g given) bool {
		select {
		case s.blocks <- g:
			return true
		case <-ctx.Done():
			return false
		}
	}
	parallel.Go(func() {
		defer close(s.blocks)
		err := parallel.Call(func() error {
			for b, err := range rows {
				b.Chunk = q.ChunkID(b.Chunk)
				if !give(given{b, err}) {
					break
				}
			}
			return nil
		})
		if err != nil {
			give(given{err: err})
		}
	}, func(*parallel.Panic) {})
	return s
}

// next is whether the side has a block, or an error.
func (s *side) next() bool {
	if s.taken && !s.over {
		var open bool
		s.now, open = <-s.blocks
		s.taken, s.over = false, !open
	}
	return !s.over
}

// GroupsOf are the groups of a query's rows, keys and then aggregates. cpu groups the rows of its windows while compute
// finds the groups of the others. If compute finds no groups, cpu groups all rows that both select.
func (b *Coprocessing) GroupsOf(ctx context.Context, q *physical.Query, n *plan.Aggregate, took *querystats.Collector) iter.Seq2[aggregation.GroupRows, error] {
	d := b.Divide(q)
	switch mode := b.Assign(d, q); {
	case mode == cost.OnDevice:
		states, err := InGroups(ctx, b.Passes, q, took)
		if err == nil {
			slices.SortStableFunc(states, func(a, b physical.GroupStates) int { return cmp.Compare(a.Chunk, b.Chunk) })
			return aggregation.GroupStates(ctx, q.Table, n, states)
		}
		if !Again(ctx, err) {
			return func(yield func(aggregation.GroupRows, error) bool) {
				yield(aggregation.GroupRows{}, Explained(b.Name(), err))
			}
		}
		fallthrough
	case mode == cost.OnCPU || !d.Grouped:
		return aggregation.Group(ctx, q.Table, n, b.Rows(ctx, q, took))
	}
	return func(yield func(aggregation.GroupRows, error) bool) {
		type result struct {
			states []physical.GroupStates
			err    error
		}
		inner, cancel := context.WithCancel(ctx)
		found := make(chan result, 1)
		parallel.Go(func() {
			defer close(found)
			var r result
			r.err = parallel.Call(func() (err error) {
				r.states, err = allOn(inner, b.Passes, d.onDevices(), took, b.Passes.groups())
				return err
			})
			found <- r
		}, func(*parallel.Panic) {})
		defer func() {
			cancel()
			for range found {
			}
		}()
		host := func(yield func(table.Block, error) bool) {
			for block, err := range b.host.Rows(inner, d.host(), took) {
				block.Chunk = d.host().ChunkID(block.Chunk)
				if !yield(block, err) {
					return
				}
			}
		}
		states := func() ([]physical.GroupStates, error) {
			r := <-found
			slices.SortStableFunc(r.states, func(a, b physical.GroupStates) int { return cmp.Compare(a.Chunk, b.Chunk) })
			return r.states, r.err
		}
		given := false
		for rows, err := range aggregation.GroupBeside(inner, d.Whole.Table, n, host, states) {
			if !given && Again(ctx, err) {
				cancel()
				aggregation.Group(ctx, q.Table, n, b.host.Rows(ctx, q, took))(yield)
				return
			}
			if given = true; !yield(rows, err) {
				return
			}
		}
	}
}

// sortedRows are the rows of a query in runs that are in its order: each side sorts those of its windows one by one. of is the
// query over windows.
func (b *Coprocessing) sortedRows(ctx context.Context, q *physical.Query, took *querystats.Collector) (of *physical.Query, _ []physical.SortedRun, err error) {
	d := b.Divide(q)
	switch mode := b.Assign(d, q); {
	case mode == cost.OnDevice:
		runs, err := onAll(ctx, b.Passes, q, took, b.order, (*windows).runs)
		if Again(ctx, err) {
			err = OrderOfCPU
		}
		return q, runs, err
	case mode == cost.OnCPU || !d.ordered:
		return nil, nil, OrderOfCPU
	}
	group, inner := parallel.WithContext(ctx)
	var runs, more []physical.SortedRun
	group.Go(func() (err error) {
		runs, err = allOn(inner, b.Passes, d.onDevices(), took, b.order)
		return err
	})
	group.Go(func() (err error) {
		more, err = b.sorted(inner, d)
		return err
	})
	if err = group.Wait(); Again(ctx, err) {
		err = OrderOfCPU
	}
	return d.Whole, append(runs, more...), err
}

// sorted are the runs of the host's windows.
func (b *Coprocessing) sorted(ctx context.Context, d *division) ([]physical.SortedRun, error) {
	of := d.host()
	rows := make([][]uint32, len(of.Chunks)) // by window, in the order of the table
	for block, err := range b.host.Rows(ctx, of, nil) {
		if err != nil {
			return nil, err
		}
		list := slices.Grow(rows[block.Chunk], block.Len())
		for i := range block.Len() {
			list = append(list, uint32(block.Row(i)))
		}
		rows[block.Chunk] = list
	}
	var keys []sortkey.Coded
	for _, k := range of.Order.Keys {
		keys = append(keys, sortkey.OfColumn(k, d.Whole.Table, k.E.(*expr.Column).Index))
	}
	runs := make([]physical.SortedRun, len(rows))
	var group parallel.Errors
	group.SetLimit(runtime.GOMAXPROCS(0))
	for i, list := range rows {
		if len(list) > 0 {
			group.Go(func() (err error) {
				runs[i], err = sortedRun(ctx, d.Whole, keys, of.ChunkID(i), list)
				return err
			})
		}
	}
	err := group.Wait()
	return runs, err
}

// sortedRun is some rows of a chunk in the order of a query, no more than are wanted.
func sortedRun(ctx context.Context, q *physical.Query, keys []sortkey.Coded, chunk int, rows []uint32) (run physical.SortedRun, err error) {
	by := radixsort.Spec{PlaceBits: radixsort.Width(uint64(len(rows))), First: q.Order.Limit}
	if by.First > int64(len(rows)/8) {
		by.First = -1
	}
	var columns [][]uint64
	block := table.Block{Chunk: chunk, Rows: rows}
	for i := range keys {
		by.KeyBits = append(by.KeyBits, keys[i].Bits()...)
		columns = append(columns, keys[i].Arrange(keys[i].Column.Codes(q.Table.Chunks[chunk], block))...)
	}
	sorter, ok := radixsort.New(1, by)
	if !ok {
		return run, OrderOfCPU
	}
	sorter.Add(0, append(columns, radixsort.UpTo[uint64](len(rows))))
	order, err := sorter.Places(ctx)
	run.Chunk, run.Rows = chunk, make([]uint32, len(order))
	for i, at := range order {
		run.Rows[i] = rows[at]
	}
	return run, err
}

// Explain implements backend: who takes how many rows, and what for; then the passes of the devices, and the operators
// of cpu.
func (b *Coprocessing) Explain(ctx context.Context, q *physical.Query, analyze bool) ([]Step, error) {
	d := b.Divide(q)
	mode, o := b.Assign(d, q), b.operator(d, q)
	first := []Step{{Pass: fmt.Sprintf("Assign(%s to %v)", whatOf(q), mode), Counts: ModesText(&o)}}
	if len(d.onThere.Missing) > 0 {
		first[0].Counts += ", the device with what it is charged with of the upload of " + glctx.FormatSize(d.onThere.Bytes)
	}
	if told, ok := b.by.Told(math.MaxInt); ok && told == cost.OnBoth && d.Why != "" {
		first = append(first, Step{Pass: "Divide(cpu alone)", Counts: d.Why})
	}
	switch mode {
	case cost.OnCPU:
		steps, err := b.host.Explain(ctx, q, analyze)
		return append(first, steps...), err
	case cost.OnDevice:
		steps, err := b.Passes.Explain(ctx, q, analyze)
		if Again(ctx, err) {
			first = append(first, Step{Pass: "Divide(cpu alone)", Counts: err.Error()})
			steps, err = b.host.Explain(ctx, q, analyze)
		}
		return append(first, steps...), err
	}
	var passes []Step
	var took querystats.Collector
	if analyze && len(q.Aggs) > 0 {
		var err error
		passes, err = b.timed(ctx, d.onDevices(), func(runner func(*devicepool.GPU) pass.Runner) error {
			_, err := b.MergedOnAll(ctx, d.Whole, d.Parts, &took, runner)
			return err
		})
		if Again(ctx, err) {
			list, err := b.host.Explain(ctx, q, analyze)
			return slices.Concat(first, []Step{{Pass: "Divide(cpu alone)", Counts: fmt.Sprint(err)}}, list), err
		}
		if err != nil {
			return nil, err
		}
	} else {
		list, err := b.RecordParts(d.Whole, d.onDevices())
		if err != nil {
			return nil, err
		}
		for _, r := range list {
			for _, one := range r.Plan() {
				passes = append(passes, StepOn(r.G, one))
			}
		}
	}
	step := Step{Pass: "Divide(" + d.String() + ")", Counts: d.expected(took.BySide())}
	host, err := b.host.Explain(ctx, d.host(), false)
	return slices.Concat(first, []Step{step}, passes, host), err
}

// whatOf says in a word what is asked of a query.
func whatOf(q *physical.Query) string {
	switch {
	case q.Groups != nil:
		return "groups"
	case len(q.Aggs) > 0:
		return "aggregates"
	case q.Order != nil:
		return "sort"
	}
	return "rows"
}

// expected says what both sides are predicted to take, and what they took where they have run.
func (d *division) expected(took [2]time.Duration) string {
	words := make([]string, 2)
	for i, name := range []string{"compute", "cpu"} {
		words[i] = fmt.Sprintf("%s takes rows %d, predicted %s", name, d.Rows[i], numbers.Milliseconds(d.Takes[i]))
		if i == 0 && len(d.lacks.Missing) > 0 {
			words[i] += fmt.Sprintf(" with the upload of %s", glctx.FormatSize(d.lacks.Bytes))
		}
		if took[i] > 0 {
			words[i] += ", took " + numbers.Milliseconds(took[i].Seconds())
		}
	}
	return strings.Join(words, "; ")
}

// ModesText says what an operator is predicted to take in each mode: nothing where there are no costs.
func ModesText(o *cost.Operator) string {
	var words []string
	for m, takes := range o.Takes {
		if takes > 0 && !math.IsInf(takes, 1) {
			words = append(words, fmt.Sprintf("%v %s", cost.Mode(m), numbers.Milliseconds(takes)))
		}
	}
	if len(words) == 0 {
		return "no costs"
	}
	return strings.Join(words, ", ")
}
