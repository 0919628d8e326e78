package bench

import (
	"context"
	"slices"
	"strings"

	"github.com/stencildb/stencildb/engine"
)

// operators are those of a plan that may run elsewhere than the scan below them, with what they do to rows.
var operators = map[string]string{"Aggregate": "groups", "Sort": "sorts", "Join": "joins", "Window": "windows", "Filter": "filters"}

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
		if _, ok := operators[name]; (n.On == "cpu" || on == "cpu" && n.On == "" && ok) && !slices.Contains(list, name) {
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

// helped says what cpu does for the system, in brackets; "" where that is nothing.
func (r *Result) helped() string {
	var words []string
	for _, name := range r.OnCPU {
		if does, ok := operators[name]; ok {
			words = append(words, does)
		} else {
			words = append(words, strings.ToLower(name))
		}
	}
	if words == nil {
		return ""
	}
	return " (cpu " + strings.Join(words, ", ") + ")"
}
