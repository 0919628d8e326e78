package engine

import (
	lru "github.com/hashicorp/golang-lru/v2"

	"github.com/stencildb/stencildb/engine/devicepool"
	"github.com/stencildb/stencildb/engine/querystats"
	"github.com/stencildb/stencildb/glctx"
	"github.com/stencildb/stencildb/plan/partial"
	"github.com/stencildb/stencildb/plan/physical"
	"github.com/stencildb/stencildb/plan/predicate"
)

// gpus are the devices of a pool with the backends that run on them.
type gpus struct {
	*devicepool.Pool
	backends  map[string]backend                     // by name
	divided   *lru.Cache[*physical.Query, *division] // of the queries that ran last and that cpu has a part of
	inWindows *lru.Cache[streamKey, *streaming]      // likewise, of those that the devices may have no room for

	// For tests: the rows of a window that compute and cpu share, and the share of the windows that compute takes. Then the
	// rows of a window that is visited for want of memory; 0 as the sizes and the costs say.
	window, streamed int
	share            float64
}

// openGPUs opens the devices that options pick.
func openGPUs(options glctx.Options) (*gpus, error) {
	p, err := devicepool.OpenAll(options)
	if err != nil {
		return nil, err
	}
	return devices(p), nil
}

// devices are the devices of a pool, whose backends are the algorithms.
func devices(p *devicepool.Pool) *gpus {
	divided, _ := lru.New[*physical.Query, *division](devicepool.MaxDivisions) // only a size below 1 is an error
	inWindows, _ := lru.New[streamKey, *streaming](devicepool.MaxDivisions)
	s := &gpus{Pool: p, backends: map[string]backend{}, divided: divided, inWindows: inWindows}
	for name := range devicepool.Algorithms {
		s.backends[name] = &passes{gpus: s, name: name, many: !s.Key.Software}
	}
	return s
}

// part is what one device has of a query, or, where that is nil, cpu.
type part struct {
	devicepool.Part
	// visits are the parts of q that the device goes over one after the other; nil where it has room for all.
	visits []partial.Visit
	// near says between which codes the order statistics of q probably are, by their aggregates; nil where it is not known.
	spans    func() map[int]predicate.Span
	recorded bool // its passes are recorded alone: the store, which is the GL thread's, is told of no visits
}

// parts are the parts of a query, the same ones every time.
func (s *gpus) parts(q *physical.Query) []part { return partsOf(s.Divide(q)) }

// partsOnce are the parts of a query that runs once.
func (s *gpus) partsOnce(q *physical.Query) []part { return partsOf(s.DivideOnce(q)) }

// partsOf are parts that devices have room for.
func partsOf(list []devicepool.Part) []part {
	out := make([]part, len(list))
	for i, p := range list {
		out[i].Part = p
	}
	return out
}

func (p part) side() int {
	if p.GPU == nil {
		return querystats.OnHost
	}
	return querystats.OnDevices
}
