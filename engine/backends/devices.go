package backends

import (
	lru "github.com/hashicorp/golang-lru/v2"

	"github.com/stencildb/stencildb/engine/devicepool"
	"github.com/stencildb/stencildb/engine/querystats"
	"github.com/stencildb/stencildb/glctx"
	"github.com/stencildb/stencildb/plan/partial"
	"github.com/stencildb/stencildb/plan/physical"
	"github.com/stencildb/stencildb/plan/predicate"
)

// Devices are the devices of a pool with the backends that run on them.
type Devices struct {
	*devicepool.Pool
	ByName    map[string]Backend                     // by name
	divided   *lru.Cache[*physical.Query, *division] // of the queries that ran last and that cpu has a part of
	InWindows *lru.Cache[streamKey, *streaming]      // likewise, of those that the devices may have no room for

	// For tests: the rows of a window that compute and cpu share, and the share of the windows that compute takes. Then the
	// rows of a window that is visited for want of memory; 0 as the sizes and the costs say.
	Window, Streamed int
	Share            float64
}

// Open opens the devices that options pick.
func Open(options glctx.Options) (*Devices, error) {
	p, err := devicepool.OpenAll(options)
	if err != nil {
		return nil, err
	}
	return New(p), nil
}

// New are the devices of a pool, whose backends are the algorithms.
func New(p *devicepool.Pool) *Devices {
	divided, _ := lru.New[*physical.Query, *division](devicepool.MaxDivisions) // only a size below 1 is an error
	inWindows, _ := lru.New[streamKey, *streaming](devicepool.MaxDivisions)
	s := &Devices{Pool: p, ByName: map[string]Backend{}, divided: divided, InWindows: inWindows}
	for name := range devicepool.Algorithms {
		s.ByName[name] = &Passes{Devices: s, name: name, many: !s.Key.Software}
	}
	return s
}

// Part is what one device has of a query, or, where that is nil, cpu.
type Part struct {
	devicepool.Part
	// Visits are the parts of q that the device goes over one after the other; nil where it has room for all.
	Visits []partial.Visit
	// near says between which codes the order statistics of q probably are, by their aggregates; nil where it is not known.
	Spans    func() map[int]predicate.Span
	Recorded bool // its passes are recorded alone: the store, which is the GL thread's, is told of no visits
}

// parts are the parts of a query, the same ones every time.
func (s *Devices) parts(q *physical.Query) []Part { return partsOf(s.Divide(q)) }

// PartsOnce are the parts of a query that runs once.
func (s *Devices) PartsOnce(q *physical.Query) []Part { return partsOf(s.DivideOnce(q)) }

// partsOf are parts that devices have room for.
func partsOf(list []devicepool.Part) []Part {
	out := make([]Part, len(list))
	for i, p := range list {
		out[i].Part = p
	}
	return out
}

func (p Part) side() int {
	if p.GPU == nil {
		return querystats.OnHost
	}
	return querystats.OnDevices
}
