package devicepool

import (
	"errors"
	"strconv"
	"strings"
	"sync/atomic"

	lru "github.com/hashicorp/golang-lru/v2"
	"golang.org/x/sync/semaphore"

	"github.com/stencildb/stencildb/cost"
	"github.com/stencildb/stencildb/glctx"
	"github.com/stencildb/stencildb/plan/physical"
	"github.com/stencildb/stencildb/table"
)

// Pool is several devices that share the chunks of each table. A query runs on those
// that have some, each on its GL thread, and their selections are merged.
type Pool struct {
	GPUs    []*GPU
	Key     cost.Key                   // of the costs of the first
	Content []*atomic.Pointer[Content] // what was resident on each after its last query
	Turn    *semaphore.Weighted        // of 1: one query at a time holds several GL threads

	Divisions *lru.Cache[*physical.Query, []Part] // the parts of the queries that ran last
}

// New is a pool of devices, one or several.
func New(list ...*GPU) *Pool {
	split, _ := lru.New[*physical.Query, []Part](MaxDivisions) // only a size below 1 is an error
	s := &Pool{GPUs: list, Key: KeyOf(list[0].Context.Caps()), Turn: semaphore.NewWeighted(1), Divisions: split}
	for _, g := range list {
		s.Content = append(s.Content, &g.Content)
	}
	return s
}

// OpenAll opens the devices that o picks.
func OpenAll(o glctx.Options) (*Pool, error) {
	contexts, err := glctx.OpenAll(o)
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
		return nil, errors.Join(err, (&Pool{GPUs: list}).Close())
	}
	return New(list...), nil
}

// Drop releases what is resident of segments that no statement reads any more. It waits
// for the query under way.
func (s *Pool) Drop(segments []*table.Segment) {
	for _, g := range s.GPUs {
		g.drop(segments)
	}
}

// Succeed is [Pool.Drop] of segments of which some have heirs, which take over what is resident of them.
func (s *Pool) Succeed(segments []*table.Segment, heirs map[*table.Segment]*table.Segment) {
	for _, g := range s.GPUs {
		g.succeed(segments, heirs)
	}
}

// Close closes all of them.
func (s *Pool) Close() error {
	errs := make([]error, len(s.GPUs))
	for i, g := range s.GPUs {
		errs[i] = g.Close()
	}
	return errors.Join(errs...)
}

// Contents are what was resident on the devices after the last query.
func (s *Pool) Contents() (list Contents) {
	for _, h := range s.Content {
		list = append(list, h.Load())
	}
	return list
}

// Place says on which of n devices each chunk of a table is. A chunk whose columns only one device has is on that one. Any other
// chunk is on the device that has the fewest rows of the chunks before it. So the rows are balanced, and chunks stay where they
// are when others are added behind them.
func Place(t *table.Table, n int) [][]int {
	chunks, rows := make([][]int, n), make([]int, n)
	for i, c := range t.Chunks {
		least := 0
		for d := range rows {
			if rows[d] < rows[least] {
				least = d
			}
		}
		if at, ok := Home(c); ok && at < n {
			least = at
		}
		chunks[least] = append(chunks[least], i)
		rows[least] += c.Rows
	}
	return chunks
}

// Home is the device that has the columns of a chunk alone, if one does.
func Home(c *table.Chunk) (device int, ok bool) {
	for _, s := range c.Segments {
		if s != nil { // where one is, all are
			return s.Away()
		}
	}
	return 0, false
}

// Predict predicts what a backend takes on the devices together, in seconds: what it takes
// on the one that takes longest.
func (s *Pool) Predict(b cost.Backend, w *cost.Work, t *table.Table) (longest float64) {
	if len(s.GPUs) < 2 {
		return b.Run(w)
	}
	for _, chunks := range Place(t, len(s.GPUs)) {
		longest = max(longest, b.Run(w.Over(chunks)))
	}
	return longest
}

// Part is what one device has of a query.
type Part struct {
	GPU   *GPU
	Query *physical.Query
}

// MaxDivisions is of how many queries what was prepared is kept.
const MaxDivisions = 64

// Divide returns the parts of a query, the same ones every time: backends keep what
// they prepare for them. A query of which one device has all the chunks, or which has
// none, is that device's or the first one's as it is.
func (s *Pool) Divide(q *physical.Query) []Part {
	if len(s.GPUs) == 1 {
		return []Part{{s.GPUs[0], q}}
	}
	if parts, ok := s.Divisions.Get(q); ok {
		return parts
	}
	parts := s.DivideOnce(q)
	if first, ok, _ := s.Divisions.PeekOrAdd(q, parts); ok { // of another goroutine
		return first
	}
	return parts
}

// DivideOnce is [Pool.Divide] of a query that runs once.
func (s *Pool) DivideOnce(q *physical.Query) (parts []Part) {
	for i, chunks := range Place(q.Table, len(s.GPUs)) {
		switch len(chunks) {
		case 0:
		case len(q.Table.Chunks):
			parts = append(parts, Part{s.GPUs[i], q})
		default:
			parts = append(parts, Part{s.GPUs[i], q.Part(chunks)})
		}
	}
	if len(parts) == 0 {
		parts = []Part{{s.GPUs[0], q}}
	}
	return parts
}

// Numbers names the devices that have something of a query: ", devices 0, 1", or ", device 0".
func (s *Pool) Numbers(q *physical.Query) string {
	if len(s.GPUs) < 2 {
		return ""
	}
	var list []string
	for _, p := range s.Divide(q) {
		list = append(list, strconv.Itoa(p.GPU.Context.Device().Index))
	}
	if len(list) == 1 {
		return ", device " + list[0]
	}
	return ", devices " + strings.Join(list, ", ")
}

// KeyOf is the key of a device's profile on this machine.
func KeyOf(caps *glctx.Caps) cost.Key {
	cpu := glctx.ReadCPU()
	return cost.Key{Version: cost.Version, Renderer: caps.Renderer, Driver: caps.Version, Software: caps.Software,
		CPU: cpu.Model, Cores: cpu.Threads}
}
