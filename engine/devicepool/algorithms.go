package devicepool

import (
	"github.com/stencildb/stencildb/aggregates"
	"github.com/stencildb/stencildb/compute"
	"github.com/stencildb/stencildb/fused"
	"github.com/stencildb/stencildb/pass"
	"github.com/stencildb/stencildb/plan/partial"
	"github.com/stencildb/stencildb/plan/physical"
	"github.com/stencildb/stencildb/predicates"
	"github.com/stencildb/stencildb/relational"
	"github.com/stencildb/stencildb/table"
)

// Algorithm is what a backend does on a device. It sets up the selection of a query, and finds the rows of a chunk that a query selects.
// Unless nil, it also counts the rows that another query selects with these, finds groups, and sorts rows.
type Algorithm = AlgorithmOn[*GPU]

// AlgorithmOn is the algorithm of a package that takes a device of its own kind.
type AlgorithmOn[D any] struct {
	Selection func(run pass.Runner, device D, q *physical.Query) (partial.Selection, error)
	Rows      func(run pass.Runner, device D, q *physical.Query, chunk int) ([]physical.SelectedRows, error)
	Find      func(run pass.Runner, device D, in, above *physical.Query, chunk int) (partial.BracketRows, error)
	Groups    func(run pass.Runner, device D, q *physical.Query) ([]physical.GroupStates, error)
	// many is groups, of more combinations of keys' codes, too; in software auto leaves these to cpu.
	Many  func(run pass.Runner, device D, q *physical.Query) ([]physical.GroupStates, error)
	Order func(run pass.Runner, device D, q *physical.Query) ([]physical.SortedRun, error)
}

// Algorithms are those on a device, by the name of the backend.
var Algorithms = map[string]Algorithm{
	"classic": of((*GPU).draws, AlgorithmOn[predicates.Limits]{Selection: aggregates.Select, Rows: aggregates.Rows, Order: oneRun(aggregates.Order)}),
	"fused":   of((*GPU).draws, AlgorithmOn[predicates.Limits]{Selection: fused.Select, Rows: fused.Rows, Find: fused.Find}),
	"compute": of((*GPU).computes, AlgorithmOn[compute.Profile]{Selection: compute.Select, Rows: compute.Rows, Groups: relational.Groups, Many: relational.ManyGroups, Order: relational.Order}),
}

func of[D any](device func(*GPU) D, a AlgorithmOn[D]) Algorithm {
	on := Algorithm{
		Selection: func(run pass.Runner, g *GPU, q *physical.Query) (partial.Selection, error) {
			return a.Selection(run, device(g), q)
		},
		Rows: func(run pass.Runner, g *GPU, q *physical.Query, chunk int) ([]physical.SelectedRows, error) {
			return a.Rows(run, device(g), q, chunk)
		},
	}
	if a.Find != nil {
		on.Find = func(run pass.Runner, g *GPU, in, above *physical.Query, chunk int) (partial.BracketRows, error) {
			return a.Find(run, device(g), in, above, chunk)
		}
	}
	if a.Groups != nil {
		on.Groups = func(run pass.Runner, g *GPU, q *physical.Query) ([]physical.GroupStates, error) {
			return a.Groups(run, device(g), q)
		}
	}
	if a.Many != nil {
		on.Many = func(run pass.Runner, g *GPU, q *physical.Query) ([]physical.GroupStates, error) {
			return a.Many(run, device(g), q)
		}
	}
	if a.Order != nil {
		on.Order = func(run pass.Runner, g *GPU, q *physical.Query) ([]physical.SortedRun, error) {
			return a.Order(run, device(g), q)
		}
	}
	return on
}

// oneRun is an order of the rows of a table of one chunk.
func oneRun[D any](order func(pass.Runner, D, *physical.Query) (physical.SortedRun, error)) func(pass.Runner, D, *physical.Query) ([]physical.SortedRun, error) {
	return func(run pass.Runner, device D, q *physical.Query) ([]physical.SortedRun, error) {
		out, err := order(run, device, q)
		if err != nil {
			return nil, err
		}
		return []physical.SortedRun{out}, nil
	}
}

func (g *GPU) draws() predicates.Limits { return g.Draws }

func (g *GPU) computes() compute.Profile { return g.Computes }

// Run runs a plan by the algorithms of a backend as passes, which it hands to run. run is GL, or a runner
// around it, or one that only records them. The values are those of q.Aggs.
func (g *GPU) Run(backend string, run pass.Runner, q *physical.Query) ([]table.Value, error) {
	s, err := Algorithms[backend].Selection(run, g, q)
	if err != nil {
		return nil, err
	}
	return partial.Finish(s, q)
}
