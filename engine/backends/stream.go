package backends

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"math/bits"
	"slices"
	"sync"

	"github.com/stencildb/stencildb/engine/devicepool"
	"github.com/stencildb/stencildb/engine/querystats"
	"github.com/stencildb/stencildb/glctx"
	"github.com/stencildb/stencildb/pass"
	"github.com/stencildb/stencildb/plan/partial"
	"github.com/stencildb/stencildb/plan/physical"
	"github.com/stencildb/stencildb/plan/predicate"
	"github.com/stencildb/stencildb/table"
	"github.com/stencildb/stencildb/textures"
)

// streaming is how a query goes over columns that its devices have no room for at a time: window after window. While the
// device works on some, the upload ring takes what follows them.
type streaming struct {
	*windows
	rows  int    // of a window, at most
	Parts []Part // the devices', each with its visits
	bytes int64  // what the largest visit takes
	Need  int64  // and the query as a whole would take on the device that it takes most on
}

// streamKey is a query on a backend.
type streamKey struct {
	q    *physical.Query
	name string
	many bool // it also finds groups by a sort
}

// Stream says how the devices go over a query in windows; nil where all that it reads fits.
func (b *Passes) Stream(q *physical.Query) *streaming {
	k := streamKey{q, b.name, b.many}
	if s, ok := b.InWindows.Get(k); ok {
		return s
	}
	if b.Streamed == 0 && b.mostBytes(q) <= b.Room() {
		return nil
	}
	s := b.newStreaming(q)
	b.InWindows.Add(k, s)
	return s
}

// Streams reports whether a backend would go over a query in windows.
func (s *Devices) Streams(name string, q *physical.Query) bool {
	b, ok := s.ByName[name].(*Passes)
	return ok && b.Stream(q) != nil
}

// Room is what the budget of the device with the least has for a query.
func (s *Devices) Room() (least int64) {
	for i, g := range s.GPUs {
		if n := g.Context.Caps().Budget; i == 0 || n < least {
			least = n
		}
	}
	return least
}

// mostBytes is more than a backend needs for a query: columns in every form that they take, and working memory for each row.
func (b *Passes) mostBytes(q *physical.Query) (n int64) {
	const working = 64
	for _, c := range q.Table.Chunks {
		row := int64(working)
		for _, col := range q.Reads() {
			if c.Segments[col] != nil {
				row += 32
			}
		}
		n += row * int64(c.Rows)
	}
	for _, d := range q.Star {
		n += d.Bytes()
	}
	return n
}

// smallestWindow is the least number of rows of a window: less takes as much memory.
const smallestWindow = 1 << 13

// newStreaming chooses windows so that the memory has room for two visits. What a visit has read stays as long as
// there is room, for the next statement.
func (b *Passes) newStreaming(q *physical.Query) *streaming {
	if q.IsPart() || away(q.Table) {
		return nil
	}
	if b.Streamed > 0 { // tests
		return b.cut(q, b.Streamed, 0)
	}
	room := b.Room()
	s := &streaming{}
	for _, p := range b.parts(q) {
		n, err := b.Footprint(p)
		if err != nil { // is said when it runs
			return nil
		}
		s.Need = max(s.Need, n)
	}
	if s.Need <= room {
		return nil
	}
	rows := floorRows(int(float64(physical.RowOffsetsOf(q.Table)[len(q.Table.Chunks)]) / float64(len(b.GPUs)) * float64(room/2) / float64(s.Need)))
	for ; rows >= smallestWindow; rows = floorRows(rows * 3 / 4) {
		of := b.cut(q, rows, room/2)
		if of != nil && of.bytes <= room/2 {
			of.Need = s.Need
			return of
		}
	}
	return nil
}

// away reports that a table has columns that are on a device alone: they are not cut.
func away(t *table.Table) bool {
	return slices.ContainsFunc(t.Chunks, func(c *table.Chunk) bool {
		_, ok := devicepool.Home(c)
		return ok
	})
}

// floorRows is a number of rows, a multiple of 64 with three significant bits: of a table that grows windows stay.
func floorRows(n int) int {
	if low := bits.Len(uint(n)) - 3; low > 0 {
		n = n >> low << low
	}
	return n &^ 63
}

// cut is a query in windows of so many rows, as many to a visit as take no more than so many bytes. It is nil
// where the passes are not known.
func (b *Passes) cut(q *physical.Query, rows int, most int64) *streaming {
	s := &streaming{windows: newWindows(q, rows), rows: rows}
	if len(s.chunks) < 2 {
		return nil
	}
	type shape struct{ chunk, rows int }
	known := map[shape]int64{} // what windows take
	for d, chunks := range devicepool.Place(q.Table, len(b.GPUs)) {
		var mine []int // windows
		for i, c := range s.chunks {
			if slices.Contains(chunks, c) {
				mine = append(mine, i)
			}
		}
		if len(mine) == 0 {
			continue
		}
		p := Part{Part: devicepool.Part{GPU: b.GPUs[d], Query: q}}
		if len(b.GPUs) > 1 {
			p.Query = q.Part(chunks)
		}
		for len(mine) > 0 {
			n, all := 1, int64(0)
			for i, w := range mine {
				k := shape{s.chunks[w], s.Whole.Table.Chunks[w].Rows}
				one, ok := known[k]
				if !ok {
					var err error
					if one, err = b.Footprint(Part{Part: devicepool.Part{GPU: p.GPU, Query: s.Whole.Part(mine[i : i+1])}}); err != nil {
						return nil
					}
					known[k] = one
				}
				if i > 0 && (b.name == "classic" || all+one > most) { // classic sorts one chunk
					break
				}
				all, n = all+one, i+1
			}
			s.bytes = max(s.bytes, all)
			p.Visits = append(p.Visits, partial.NewVisit(s.Whole.Part(mine[:n])))
			mine = mine[n:]
		}
		s.Parts = append(s.Parts, p)
	}
	if len(s.Parts) == 1 { // which looks for order statistics by itself
		s.Parts[0].Query, s.Parts[0].Spans = q, sync.OnceValue(func() map[int]predicate.Span { return SampledSpans(q) })
	}
	return s
}

// Footprint is what the passes of a part take of its device's memory, if all of it stays.
func (b *Passes) Footprint(p Part) (int64, error) {
	r := &pass.Recorder{}
	p.Recorded = true
	if len(p.Query.Aggs) == 0 {
		if err := b.FindAll(r, p.GPU, p.Query); err != nil {
			return 0, err
		}
	} else {
		if p.Query.IsPart() { // its order statistics are found in visits
			p.Visits = []partial.Visit{partial.NewVisit(p.Query)}
			p.Spans = func() map[int]predicate.Span { return AssumedSpans(p.Query) }
		}
		s, err := p.Selection(b.name, r)
		if err == nil {
			_, err = partial.Finish(s, p.Query)
		}
		if err = assumed(err); len(r.Passes) == 0 && err != nil {
			return 0, err
		}
	}
	most, ends := int64(0), append(r.Aparts, len(r.Passes))
	for i, end := range ends {
		var touched []textures.Readable
		for _, one := range r.Passes[ends[max(0, i-1)]*min(1, i) : end] {
			touched = append(touched, one.Touches()...)
		}
		most = max(most, textures.Footprint(touched))
	}
	return most, nil
}

// inParts is a query as its devices do it: one part for each device. A device without room for its part goes over it in
// windows.
func (b *Passes) inParts(q *physical.Query) []Part {
	if s := b.Stream(q); s != nil {
		return s.Parts
	}
	return b.parts(q)
}

// Selection sets up the selection of a part.
func (p Part) Selection(name string, run pass.Runner) (partial.Selection, error) {
	a := devicepool.Algorithms[name]
	if p.Visits == nil {
		return a.Selection(run, p.GPU, p.Query)
	}
	var near map[int]predicate.Span
	if p.Spans != nil {
		near = p.Spans()
	}
	v := partial.Visiting{Visits: p.Visits, Brackets: near, Recorded: p.Recorded,
		Visit: func(q *physical.Query, do func() error) error {
			defer p.Visiting(q)()
			return do()
		},
		Select: func(q *physical.Query, do func(partial.Selection) error) error {
			return run.Apart(q.Table, func() error {
				s, err := a.Selection(run, p.GPU, q)
				if err != nil {
					return err
				}
				return do(s)
			})
		},
		Rows: func(q *physical.Query, chunk int) (list []physical.SelectedRows, err error) {
			err = run.Apart(q.Table, func() error {
				list, err = a.Rows(run, p.GPU, q, chunk)
				return err
			})
			return list, err
		}}
	if a.Find != nil {
		v.Find = func(in, above *physical.Query, chunk int) (found partial.BracketRows, err error) {
			err = run.Apart(in.Table, func() error {
				found, err = a.Find(run, p.GPU, in, above, chunk)
				return err
			})
			return found, err
		}
	}
	return partial.Stream(p.Query, v), nil
}

// Visiting begins a visit of a part, and returns what ends it.
func (p Part) Visiting(q *physical.Query) (end func()) {
	if p.Recorded {
		return func() {}
	}
	i := slices.IndexFunc(p.Visits, func(v partial.Visit) bool { return v.First == q || v.Again == q })
	var next []*table.Chunk
	if i++; i == len(p.Visits) && slices.ContainsFunc(p.Query.Aggs, partial.NeedsSearch) && (p.Spans == nil || len(p.Spans()) == 0) { // the next sweep
		i = 0
	}
	if i < len(p.Visits) {
		next = p.Visits[i].First.Table.Chunks
	}
	return p.GPU.Store.Visit(q.Table.Chunks, next)
}

// visited has a device find something of its part of a query, visit after visit.
func visited[T any](run pass.Runner, p Part, find func(pass.Runner, *devicepool.GPU, *physical.Query) ([]T, error)) (all []T, err error) {
	if p.Visits == nil {
		return find(run, p.GPU, p.Query)
	}
	for _, v := range p.Visits {
		err := run.Apart(v.First.Table, func() error {
			defer p.Visiting(v.First)()
			list, err := find(run, p.GPU, v.First)
			all = append(all, list...)
			return err
		})
		if err != nil {
			return nil, err
		}
	}
	return all, nil
}

// rowsInWindows is Rows in windows.
func (b *Passes) rowsInWindows(ctx context.Context, q *physical.Query, s *streaming, took *querystats.Collector) iter.Seq2[table.Block, error] {
	on := make([]*devicepool.GPU, len(s.chunks))
	for _, p := range s.Parts {
		for _, v := range p.Visits {
			for i := range v.First.Chunks {
				on[v.First.ChunkID(i)] = p.GPU
			}
		}
	}
	return func(yield func(table.Block, error) bool) {
		given := false
		for block, err := range b.rowsOn(ctx, s.Whole, on, took) {
			if Lacks(err) && !given && b.shrink(q) {
				b.Rows(ctx, q, took)(yield)
				return
			}
			if err == nil {
				block, given = s.inTable(block), true
			}
			if !yield(block, err) {
				return
			}
		}
	}
}

// shrink halves the windows of a query for which there was less room than it seemed. It is false where they cannot be
// smaller.
func (b *Passes) shrink(q *physical.Query) bool {
	rows := physical.RowOffsetsOf(q.Table)[len(q.Table.Chunks)]
	if s := b.Stream(q); s != nil {
		rows = s.rows
	}
	if rows = floorRows(rows / 2); rows < smallestWindow || b.Streamed > 0 || q.IsPart() || away(q.Table) {
		return false
	}
	s := b.cut(q, rows, b.Room()/4)
	if s == nil {
		return false
	}
	s.Need = s.bytes * int64(len(s.chunks))
	b.InWindows.Add(streamKey{q, b.name, b.many}, s)
	return true
}

// step says how, before the passes, which are those of some visits.
func (s *streaming) step(of string) Step {
	visits := 0
	for _, p := range s.Parts {
		visits += len(p.Visits)
		if p.Spans != nil && len(p.Spans()) > 0 {
			of += "; a sample of the rows says about where the order statistics are"
		}
	}
	return Step{Pass: fmt.Sprintf("Stream(windows %d of %d rows, visits %d)", len(s.chunks), s.rows, visits),
		Counts: fmt.Sprintf("the memory of the device has no room for the %s of all rows, a visit takes %s: the passes are %s", glctx.FormatSize(s.Need), glctx.FormatSize(s.bytes), of)}
}

// Added is steps, of which those that are alike are one.
func Added(list []Step) (out []Step) {
	type name struct {
		device int
		pass   string
	}
	at := map[name]int{}
	for _, s := range list {
		k := name{s.Device, s.Pass}
		i, seen := at[k]
		if !seen {
			at[k] = len(out)
			out = append(out, s)
			continue
		}
		if s.MS != nil {
			*out[i].MS += *s.MS
		}
		if s.Samples != nil { // a pass may count in some visits alone
			n := *s.Samples
			if before := out[i].Samples; before != nil {
				n += *before
			}
			out[i].Samples = &n
		}
	}
	return out
}

// Lacks reports the error of a query that a device has no room for.
func Lacks(err error) bool { return errors.As(err, new(*textures.BudgetError)) }
