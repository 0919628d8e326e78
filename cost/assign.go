package cost

import "math"

// Mode is which processors run an operator (GDB, section 5: EXEC_CPU, EXEC_GPU, EXEC_COP).
type Mode uint8

// The modes: cpu alone, the device alone, both of them, each a part of the rows.
const (
	OnCPU Mode = iota
	OnDevice
	OnBoth
	modes = 3
)

func (m Mode) String() string { return [modes]string{"cpu", "device", "both"}[m] }

// Operator is a node of a plan that was made for one processor. Times are in seconds.
type Operator struct {
	Inputs []int          // the operators whose rows it takes, by their places; these stand before it
	Takes  [modes]float64 // what it is predicted to take in each mode; +Inf where that cannot run it
	// Up and Down are what it takes to bring its rows from host memory to the device, and from there to host memory.
	Up, Down float64
	// Stays says that rows which the device finds alone stay there. All others are in host memory, where those of both are merged.
	Stays bool
}

// Moving is what it takes to bring the rows of an operator to one that takes them.
func (o *Operator) Moving(from, to Mode) float64 {
	there := o.Stays && from == OnDevice
	switch {
	case there && to != OnDevice:
		return o.Down
	case !there && to == OnDevice:
		return o.Up
	}
	return 0
}

// mostTogether is of how many operators all combinations of modes are looked at: 3^9 are 19,683.
const mostTogether = 9

// Assign says in which modes the operators of a plan are predicted to take the least time together, and how much that is. Up to nine operators
// it looks at all combinations. It cuts a larger plan to sub-plans of up to nine, from the leaves up. Each takes the rows of those below
// it where these leave them (GDB, section 5). Where an operator can run in no mode, its sub-plan is cpu's and takes +Inf.
func Assign(ops []Operator) (in []Mode, takes float64) {
	in = make([]Mode, len(ops))
	for from := 0; from < len(ops); from += mostTogether {
		c := combinations{ops: ops, from: from, to: min(from+mostTogether, len(ops)), in: in, least: math.Inf(1)}
		c.rest(from, 0)
		copy(in[from:c.to], c.best[:])
		takes += c.least
	}
	return in, takes
}

// Takes is how much time operators are predicted to take together in some modes.
func Takes(ops []Operator, in []Mode) (takes float64) {
	for i := range ops {
		takes += step(ops, in, i)
	}
	return takes
}

// combinations are those of the modes of some operators of a plan. The operators before them have theirs.
type combinations struct {
	ops      []Operator
	from, to int
	in       []Mode // one combination
	best     [mostTogether]Mode
	least    float64
}

// rest looks at the modes of operator i and of those after it, where the ones before it take some time. No time is negative, so that what takes
// as long as the best one already is left out.
func (c *combinations) rest(i int, takes float64) {
	if takes >= c.least {
		return
	}
	if i == c.to {
		copy(c.best[:], c.in[c.from:c.to])
		c.least = takes
		return
	}
	for m := range Mode(modes) {
		c.in[i] = m
		c.rest(i+1, takes+step(c.ops, c.in, i))
	}
}

// step is what an operator takes in its mode, with the rows of its inputs brought to it.
func step(ops []Operator, in []Mode, i int) float64 {
	takes := ops[i].Takes[in[i]]
	for _, k := range ops[i].Inputs {
		takes += ops[k].Moving(in[k], in[i])
	}
	return takes
}
