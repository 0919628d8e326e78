package engine

import (
	"errors"
	"path/filepath"
	"strconv"
	"strings"
	"sync/atomic"

	lru "github.com/hashicorp/golang-lru/v2"
	"golang.org/x/sync/semaphore"

	"github.com/stencildb/stencildb/cost"
	"github.com/stencildb/stencildb/engine/querystats"
	"github.com/stencildb/stencildb/glctx"
	"github.com/stencildb/stencildb/plan/partial"
	"github.com/stencildb/stencildb/plan/physical"
	"github.com/stencildb/stencildb/plan/predicate"
	"github.com/stencildb/stencildb/table"
)

// gpus are several devices that share the chunks of each table. A query runs on those
// that have some, each on its GL thread, and their selections are merged.
type gpus struct {
	list     []*GPU
	key      cost.Key                   // of the first; the CPU is the DB's
	backends map[string]backend         // by name
	held     []*atomic.Pointer[content] // what was resident on each after its last query
	turn     *semaphore.Weighted        // of 1: one query at a time holds several GL threads

	split     *lru.Cache[*physical.Query, []part]    // of the queries that ran last
	divided   *lru.Cache[*physical.Query, *division] // likewise, of those that cpu has a part of
	inWindows *lru.Cache[streamKey, *streaming]      // likewise, of those that the devices may have no room for

	// Of tests: the rows of a window that compute and cpu share, the share of the windows that compute takes, and the rows of
	// a window that is visited for want of memory; 0 as the sizes and the costs say.
	window, streamed int
	share            float64
}

// openGPUs opens the devices that o picks.
func openGPUs(o Options) (*gpus, error) {
	options := glctx.Options{Device: o.Device, Memory: o.GPUMemory}
	if o.Calibrations != "" {
		options.Programs = filepath.Join(o.Calibrations, "programs")
	}
	contexts, err := glctx.OpenAll(options)
	if err != nil {
		return nil, err
	}
	var list []*GPU
	for _, c := range contexts {
		g := &GPU{Context: c}
		if err == nil {
			g, err = prepareGPU(g)
		}
		if g != nil {
			list = append(list, g)
		}
	}
	if err != nil {
		return nil, errors.Join(err, (&gpus{list: list}).Close())
	}
	return devices(list...), nil
}

// devices makes a device of several, whose backends are the algorithms.
func devices(list ...*GPU) *gpus {
	split, _ := lru.New[*physical.Query, []part](maxDivisions) // only a size below 1 is an error
	divided, _ := lru.New[*physical.Query, *division](maxDivisions)
	inWindows, _ := lru.New[streamKey, *streaming](maxDivisions)
	s := &gpus{list: list, key: KeyOf(list[0].Context.Caps()), turn: semaphore.NewWeighted(1), backends: map[string]backend{}, split: split, divided: divided, inWindows: inWindows}
	for _, g := range list {
		s.held = append(s.held, &g.held)
	}
	for name := range algorithms {
		s.backends[name] = &passes{gpus: s, name: name, many: !s.key.Software}
	}
	return s
}

// drop releases what is resident of segments that no statement reads any more. It waits
// for the query under way.
func (s *gpus) drop(segments []*table.Segment) {
	for _, g := range s.list {
		g.drop(segments)
	}
}

// succeed is drop of segments of which some have heirs, which take over what is resident of them.
func (s *gpus) succeed(segments []*table.Segment, heirs map[*table.Segment]*table.Segment) {
	for _, g := range s.list {
		g.succeed(segments, heirs)
	}
}

func (s *gpus) Close() error {
	errs := make([]error, len(s.list))
	for i, g := range s.list {
		errs[i] = g.Close()
	}
	return errors.Join(errs...)
}

// contents are what was resident on the devices after the last query.
func (s *gpus) contents() (list contents) {
	for _, h := range s.held {
		list = append(list, h.Load())
	}
	return list
}

// place says on which of n devices each chunk of a table is: on the one that has its columns alone, else on the one that has the
// fewest rows of those before it. So the rows are balanced, and chunks stay where they
// are when others are added behind them.
func place(t *table.Table, n int) [][]int {
	chunks, rows := make([][]int, n), make([]int, n)
	for i, c := range t.Chunks {
		least := 0
		for d := range rows {
			if rows[d] < rows[least] {
				least = d
			}
		}
		if at, ok := home(c); ok && at < n {
			least = at
		}
		chunks[least] = append(chunks[least], i)
		rows[least] += c.Rows
	}
	return chunks
}

// home is the device that has the columns of a chunk alone, if one does.
func home(c *table.Chunk) (device int, ok bool) {
	for _, s := range c.Segments {
		if s != nil { // where one is, all are
			return s.Away()
		}
	}
	return 0, false
}

// run predicts what a backend takes on the devices together, in seconds: what it takes
// on the one that takes longest.
func (s *gpus) run(b cost.Backend, w *cost.Work, t *table.Table) (longest float64) {
	if len(s.list) < 2 {
		return b.Run(w)
	}
	for _, chunks := range place(t, len(s.list)) {
		longest = max(longest, b.Run(w.Over(chunks)))
	}
	return longest
}

// part is what one device has of a query, or, where that is nil, cpu.
type part struct {
	g *GPU
	q *physical.Query
	// visits are the parts of q that the device goes over one after the other; nil where it has room for all.
	visits []partial.Visit
	// near says between which codes the order statistics of q probably are, by their aggregates; nil where it is not known.
	near     func() map[int]predicate.Span
	recorded bool // its passes are recorded alone: the store, which is the GL thread's, is told of no visits
}

const maxDivisions = 64

// divide returns the parts of a query, the same ones every time: backends keep what
// they prepare for them. A query of which one device has all the chunks, or which has
// none, is that device's or the first one's as it is.
func (s *gpus) divide(q *physical.Query) []part {
	if len(s.list) == 1 {
		return []part{{g: s.list[0], q: q}}
	}
	if parts, ok := s.split.Get(q); ok {
		return parts
	}
	parts := s.partsOf(q)
	if first, ok, _ := s.split.PeekOrAdd(q, parts); ok { // of another goroutine
		return first
	}
	return parts
}

// partsOf is divide of a query that runs once.
func (s *gpus) partsOf(q *physical.Query) (parts []part) {
	for i, chunks := range place(q.Table, len(s.list)) {
		switch len(chunks) {
		case 0:
		case len(q.Table.Chunks):
			parts = append(parts, part{g: s.list[i], q: q})
		default:
			parts = append(parts, part{g: s.list[i], q: q.Part(chunks)})
		}
	}
	if len(parts) == 0 {
		parts = []part{{g: s.list[0], q: q}}
	}
	return parts
}

// numbers names the devices that have something of a query: ", devices 0, 1", or ", device 0".
func (s *gpus) numbers(q *physical.Query) string {
	if len(s.list) < 2 {
		return ""
	}
	var list []string
	for _, p := range s.divide(q) {
		list = append(list, strconv.Itoa(p.g.Context.Device().Index))
	}
	if len(list) == 1 {
		return ", device " + list[0]
	}
	return ", devices " + strings.Join(list, ", ")
}

func (p part) side() int {
	if p.g == nil {
		return querystats.OnHost
	}
	return querystats.OnDevices
}
