package cost

import (
	"math"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// drawPlan draws a tree of operators, each after its inputs. Times are whole numbers, so that sums are exact in any order.
func drawPlan(t *rapid.T, from, to int) (ops []Operator) {
	var roots []int // that nothing takes the rows of yet
	time := rapid.Map(rapid.IntRange(0, 30), func(n int) float64 { return float64(n) })
	for i := range rapid.IntRange(from, to).Draw(t, "operators") {
		o := Operator{Up: time.Draw(t, "up"), Down: time.Draw(t, "down"), Stays: rapid.Bool().Draw(t, "stays")}
		for m := range o.Takes {
			o.Takes[m] = time.Draw(t, "takes")
			if rapid.IntRange(0, 5).Draw(t, "can") == 0 {
				o.Takes[m] = math.Inf(1)
			}
		}
		n := rapid.IntRange(0, min(3, len(roots))).Draw(t, "inputs")
		o.Inputs = slices.Clone(roots[len(roots)-n:])
		roots = append(roots[:len(roots)-n], i)
		ops = append(ops, o)
	}
	return ops
}

// leastOfTree is the least that a tree of operators takes, from what each takes at the least in each mode with all below it.
func leastOfTree(ops []Operator) (takes float64) {
	least, taken := make([][modes]float64, len(ops)), make([]bool, len(ops))
	for i, o := range ops {
		for m := range Mode(modes) {
			least[i][m] = o.Takes[m]
			for _, k := range o.Inputs {
				best := math.Inf(1)
				for below := range Mode(modes) {
					best = min(best, least[k][below]+ops[k].Moving(below, m))
				}
				least[i][m] += best
				taken[k] = true
			}
		}
	}
	for i := range ops {
		if !taken[i] {
			takes += slices.Min(least[i][:])
		}
	}
	return takes
}

// Of up to nine operators no combination of modes takes less than the one that is assigned.
func TestAssignmentOfFewOperatorsIsTheBest(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		ops := drawPlan(t, 0, mostTogether)
		in, takes := Assign(ops)
		if want := leastOfTree(ops); takes != want {
			t.Fatalf("%+v: %v take %v, others %v", ops, in, takes, want)
		}
		if got := Takes(ops, in); got != takes {
			t.Fatalf("%+v: %v take %v, not %v", ops, in, got, takes)
		}
	})
}

// Of a larger plan each sub-plan is the best above what is assigned below it.
func TestAssignmentOfManyOperators(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		ops := drawPlan(t, mostTogether+1, 3*mostTogether)
		in, takes := Assign(ops)
		if got := Takes(ops, in); got != takes {
			t.Fatalf("%+v: %v take %v, not %v", ops, in, got, takes)
		}
		if least := leastOfTree(ops); takes < least {
			t.Fatalf("%+v: %v take %v, the best %v", ops, in, takes, least)
		}
		for from := 0; from < len(ops); from += mostTogether {
			to := min(from+mostTogether, len(ops))
			sub := slices.Clone(ops[from:to])
			for i := range sub { // what is below is part of what an operator takes
				below := sub[i].Inputs
				sub[i].Inputs = nil
				for _, k := range below {
					if k >= from {
						sub[i].Inputs = append(sub[i].Inputs, k-from)
						continue
					}
					for m := range sub[i].Takes {
						sub[i].Takes[m] += ops[k].Moving(in[k], Mode(m))
					}
				}
			}
			if got, want := Takes(sub, in[from:to]), leastOfTree(sub); got != want {
				t.Fatalf("%+v: %v of the operators from %d take %v, others %v", ops, in[from:to], from, got, want)
			}
		}
		for i := range ops {
			ops[i].Up, ops[i].Down = 0, 0
		}
		if _, takes := Assign(ops); takes != leastOfTree(ops) {
			t.Fatalf("%+v: without transfers %v, the best is %v", ops, takes, leastOfTree(ops))
		}
	})
}

// A join that is faster on cpu is the device's where the rows are wanted there, and moving them takes longer.
func TestAssignmentWeighsTransfers(t *testing.T) {
	ops := []Operator{
		{Takes: [modes]float64{1, 3, 2}, Up: 5, Down: 5, Stays: true},
		{Inputs: []int{0}, Takes: [modes]float64{9, 1, 5}},
	}
	if in, takes := Assign(ops); !slices.Equal(in, []Mode{OnDevice, OnDevice}) || takes != 4 {
		t.Errorf("%v take %v", in, takes)
	}
	ops[0].Up = 0.5
	if in, takes := Assign(ops); !slices.Equal(in, []Mode{OnCPU, OnDevice}) || takes != 2.5 {
		t.Errorf("%v take %v", in, takes)
	}
	if n := testing.AllocsPerRun(10, func() { Assign(ops) }); n > 1 {
		t.Errorf("%v allocations, of which the modes are one", n)
	}
}

func BenchmarkAssign(b *testing.B) {
	var ops []Operator
	for i := range mostTogether { // of which none is left out early
		ops = append(ops, Operator{Takes: [modes]float64{1, 1, 1}, Up: 1, Down: 1, Stays: true})
		if i > 0 {
			ops[i].Inputs = []int{i - 1}
		}
	}
	for b.Loop() {
		Assign(ops)
	}
}
