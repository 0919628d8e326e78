package planner

import (
	"fmt"
	"testing"

	"github.com/stencildb/stencildb/plan/stats"
)

// String writes a tree as the side that probes, then the build.
func (t *joinTree) String() string {
	if t.probe == nil {
		return fmt.Sprint(t.input)
	}
	return fmt.Sprintf("(%s %s)", t.probe, t.build)
}

// foreignKey says that a column of one input refers to the unique key of another one.
func foreignKey(g *joinGraph, from, to int) {
	keys := g.rows[to]
	g.equalities = append(g.equalities, &equality{[]equalSide{
		{of: 1 << from, KeySide: stats.KeySide{Table: from, Values: keys, Rows: g.rows[from]}},
		{of: 1 << to, unique: true, KeySide: stats.KeySide{Table: to, Values: keys, Rows: keys}},
	}})
}

func TestJoinOrder(t *testing.T) {
	for _, c := range []struct {
		name  string
		graph func(*joinGraph)
		rows  []float64
		want  string
		gives float64
	}{
		{"the unique side is built", func(g *joinGraph) { foreignKey(g, 0, 1) }, []float64{1000, 10}, "(0 1)", 1000},
		{"whichever stands first", func(g *joinGraph) { foreignKey(g, 1, 0) }, []float64{10, 1000}, "(1 0)", 1000},
		{"a few rows are built, though their keys repeat", func(g *joinGraph) { foreignKey(g, 0, 1) }, []float64{10, 1e6}, "(1 0)", 10},
		{"of a star the fact table probes, the most selective dimension first", func(g *joinGraph) {
			foreignKey(g, 0, 1)
			foreignKey(g, 0, 2)
			g.equalities[1].sides[0].Values, g.equalities[1].sides[1].Values = 1000, 1000 // of which a filter has left 10
		}, []float64{1e6, 50, 10}, "((0 2) 1)", 1e4},
		{"of a snowflake the dimensions are joined first", func(g *joinGraph) {
			foreignKey(g, 0, 1)
			foreignKey(g, 1, 2)
			g.equalities[1].sides[0].Values, g.equalities[1].sides[1].Values = 25, 25
		}, []float64{1e6, 1e4, 1}, "(0 (1 2))", 4e4},
		{"without a key every pair is a row, first of the smallest", func(g *joinGraph) { foreignKey(g, 0, 1) }, []float64{1000, 10, 3}, "(0 (1 2))", 3000},
		{"a restriction leaves a part of the pairs", func(g *joinGraph) {
			foreignKey(g, 0, 1)
			g.restrictions = []restriction{{3, 0.1}}
		}, []float64{1000, 10}, "(0 1)", 100},
		{"of equal columns any two are a key", func(g *joinGraph) {
			side := func(i int, unique bool) equalSide {
				return equalSide{of: 1 << i, unique: unique, KeySide: stats.KeySide{Table: i, Values: 100, Rows: 100}}
			}
			g.equalities = []*equality{{[]equalSide{side(0, true), side(1, true), side(2, false)}}}
		}, []float64{100, 2, 1e5}, "(2 (0 1))", 2000},
	} {
		g := &joinGraph{rows: c.rows}
		c.graph(g)
		tree := g.order()
		if tree.String() != c.want || tree.rows != c.gives {
			t.Errorf("%s: %s gives %v rows, want %s and %v", c.name, tree, tree.rows, c.want, c.gives)
		}
		if greedy := g.greedy(); greedy.of != tree.of || greedy.rows != c.gives {
			t.Errorf("%s: greedy: %s gives %v rows", c.name, greedy, greedy.rows)
		}
	}
}

// No order of a chain costs less than the one that is chosen, and all trees have the same rows.
func TestJoinOrderIsTheCheapest(t *testing.T) {
	g := &joinGraph{rows: []float64{5000, 40, 3000, 7, 900}}
	for i := range 4 {
		foreignKey(g, i, i+1)
	}
	best := g.order()
	var all func(inputs) []*joinTree
	all = func(s inputs) (list []*joinTree) {
		for i := range g.rows {
			if s == 1<<i {
				return []*joinTree{g.leaf(i)}
			}
		}
		for part := (s - 1) & s; part > 0; part = (part - 1) & s {
			for _, a := range all(part) {
				for _, b := range all(s &^ part) {
					rows := -1.
					if t := g.joined(a, b, &rows); t.keyed {
						list = append(list, t)
					}
				}
			}
		}
		return list
	}
	trees := all(31)
	if len(trees) < 14 {
		t.Fatalf("%d trees", len(trees))
	}
	for _, tree := range trees {
		if tree.cost < best.cost {
			t.Errorf("%s costs %v, %s costs %v", best, best.cost, tree, tree.cost)
		}
		if diff := tree.rows/best.rows - 1; diff > 1e-9 || diff < -1e-9 {
			t.Errorf("%s gives %v rows, %s gives %v", best, best.rows, tree, tree.rows)
		}
	}
}

// Many inputs are joined by keys alone, in a time that does not grow with the number of orders.
func TestJoinOrderOfManyInputs(t *testing.T) {
	g := &joinGraph{}
	for i := range maxInputs {
		g.rows = append(g.rows, float64(100+i))
	}
	for i := range maxInputs - 1 {
		foreignKey(g, i, i+1)
	}
	if tree := g.order(); !tree.keyed || tree.of.count() != maxInputs {
		t.Errorf("%s joins %d inputs, by keys alone: %v", tree, tree.of.count(), tree.keyed)
	}
}
