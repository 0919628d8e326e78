package bench

import (
	"context"
	"slices"
	"strings"

	"github.com/stencildb/stencildb/bench/render"
	"github.com/stencildb/stencildb/engine"
)

// cpuOperators are the operators of a statement that package cpu runs where another backend was named, as it was executed.
func cpuOperators(ctx context.Context, db *engine.DB, text string) (list []string, err error) {
	x, err := db.Explain(ctx, text, engine.ExplainOptions{Analyze: true})
	if err != nil {
		return nil, err
	}
	var visit func(n *engine.PlanNode, on string)
	visit = func(n *engine.PlanNode, on string) {
		if n.Executor != nil && n.Backend != "" {
			on = n.Backend
		}
		name, _, _ := strings.Cut(n.Node, "(")
		if _, ok := render.Operators[name]; (n.On == "cpu" || on == "cpu" && n.On == "" && ok) && !slices.Contains(list, name) {
			list = append(list, name)
		}
		for _, in := range n.Inputs {
			visit(in, on)
		}
	}
	for _, root := range append(slices.Clone(x.Subqueries), x.Plan) {
		if root != nil {
			visit(root, "")
		}
	}
	return list, nil
}
