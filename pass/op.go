package pass

import (
	"slices"

	"github.com/stencildb/stencildb/table"
	"github.com/stencildb/stencildb/textures"
)

// Op says what a pass is, as data: a routine with its arguments. EXPLAIN, traces,
// benchmarks, debug groups and error texts derive their words from it, and whoever
// looks at passes asks for the type and its fields.
//
// Those of the paper's routines are here; other ways to compute have their own.
type Op interface {
	// String writes the routine with its arguments: "CopyToDepth(delay)".
	String() string
	// Counts says in words what the pass counts, or what it leaves behind.
	Counts() string
}

// Adaptive is the Op of a pass whose arguments may follow from counts of passes before.
type Adaptive interface {
	Op
	// Family is what is known before anything has run. It is the Op itself, or one that is equal for all
	// passes that a plan shows on one line. It is comparable.
	Family() Op
}

// Planned is an Op that knows what a plan takes its results for. Other passes count
// every record and leave zeros.
type Planned interface {
	Op
	// Assume returns the count of a pass over so many records, and writes into words
	// what it has left there; words may be nil.
	Assume(rows int, words []uint32) uint64
}

// Part is the part of a plan that a pass serves.
type Part struct {
	Check bool  // an error to rule out: it must count no record
	Aggs  []int // the aggregates, by their places in the plan; nil: the selection
}

// Recorder is a runner that runs nothing, answers every count and read, and keeps the
// passes: EXPLAIN.
type Recorder struct {
	Passes []*Pass
	// Aparts are how many passes there were when each Apart began.
	Aparts []int
}

// Run implements Runner.
func (r *Recorder) Run(p *Pass) (Count, error) {
	r.Passes = append(r.Passes, p)
	if !p.Count {
		return nil, nil
	}
	return Known(p.assume(nil)), nil
}

// Read implements Runner.
func (r *Recorder) Read(b textures.Block, words []uint32) error {
	clear(words)
	for _, p := range r.Passes {
		if p.Dispatch != nil && len(p.Dispatch.Blocks) > 0 && p.Dispatch.Blocks[0] == b {
			p.assume(words)
		}
	}
	return nil
}

// ReadParts implements Runner.
func (r *Recorder) ReadParts(b textures.Block, n int, take func(at int, words []uint32)) error {
	words := make([]uint32, n)
	if err := r.Read(b, words); err != nil {
		return err
	}
	take(0, words)
	return nil
}

// ReadTexels implements Runner.
func (r *Recorder) ReadTexels(t *textures.Temp, words []uint32) error {
	clear(words)
	var told []*textures.Temp // lines, by the pass that drew them last
	for _, p := range slices.Backward(r.Passes) {
		if c := p.Color; c != nil && c.Whole() == t && !slices.Contains(told, c) {
			told = append(told, c)
			p.assume(words[max(1, c.Words)*c.Line*t.Width:])
		}
	}
	return nil
}

// assume is what a plan takes the results of a pass for.
func (p *Pass) assume(words []uint32) uint64 {
	if p.Part.Check {
		return 0
	}
	if o, ok := p.Op.(Planned); ok {
		return o.Assume(p.Window.Rows, words)
	}
	return uint64(p.Window.Rows)
}

// Slots implements Runner.
func (r *Recorder) Slots(_ textures.TargetRef, n int) int { return max(1, n) }

// Apart implements Runner.
func (r *Recorder) Apart(_ *table.Table, f func() error) error {
	r.Aparts = append(r.Aparts, len(r.Passes))
	return f()
}

// Plan returns the passes as a plan tells them. Those of a family over one chunk, for
// one aggregate, stand on one line, where the first of them does.
func (r *Recorder) Plan() []*Pass {
	type line struct {
		family     Op
		chunk, agg int
	}
	seen := map[line]bool{}
	var list []*Pass
	for _, p := range r.Passes {
		if a, ok := p.Op.(Adaptive); ok && a.Family() != p.Op {
			l := line{a.Family(), p.Chunk, -1}
			if len(p.Part.Aggs) > 0 {
				l.agg = p.Part.Aggs[0]
			}
			if seen[l] {
				continue
			}
			seen[l] = true
			q := *p
			q.Op, p = l.family, &q
		}
		list = append(list, p)
	}
	return list
}
