package relational

import (
	"fmt"
	"strings"

	"github.com/stencildb/stencildb/compute"
	"github.com/stencildb/stencildb/pass"
	"github.com/stencildb/stencildb/plan"
	"github.com/stencildb/stencildb/plan/physical"
	"github.com/stencildb/stencildb/primitives"
	"github.com/stencildb/stencildb/shaders"
	"github.com/stencildb/stencildb/textures"
)

// Groups aggregates the selected records of each chunk by the query's keys: by slots, or by a sort where these would be too many
// ([compute.Profile.SortGroups]). Of COUNT(DISTINCT column) alone it finds the codes that there are.
func Groups(run pass.Runner, d compute.Profile, q *physical.Query) ([]physical.GroupStates, error) {
	if col, ok := q.CountsDistinct(); ok {
		return distinctCodes(run, d, q, col)
	}
	if d.SortsGroups(q) {
		return sortedGroups(run, d, q)
	}
	return compute.Groups(run, d, q)
}

// ManyGroups is [Groups] for keys with more combinations of codes than [physical.MaxSlots]. Where the states of all
// combinations fit the caches, each has a slot, and the groups that occur are picked. Otherwise the keys are sorted.
func ManyGroups(run pass.Runner, d compute.Profile, q *physical.Query) ([]physical.GroupStates, error) {
	d.SortGroups = physical.MaxSlots + 1
	if d.SortsGroups(q) && !q.IsPart() {
		list, ok, err := compute.PickedGroups(run, d, q.Bounded(&plan.GroupBound{All: true}))
		if ok || err != nil {
			return list, err
		}
	}
	return Groups(run, d, q)
}

// sortedGroups is [compute.Groups] by a sort. The keys of each window's selected records are sorted. A record whose key
// differs from the one before it begins a group, and a prefix sum of these numbers the groups. The values of the
// aggregates are gathered in that order, and the values of a group are added up.
func sortedGroups(run pass.Runner, d compute.Profile, q *physical.Query) (list []physical.GroupStates, err error) {
	for i := range q.Table.Chunks {
		if _, err := q.GroupAggregates(i); err != nil {
			return nil, err
		}
	}
	if err := compute.RunChecks(run, d, q); err != nil {
		return nil, err
	}
	found, err := selections(run, d, q, q.Chunks)
	if err != nil {
		return nil, err
	}
	for _, f := range found {
		x := f.ChunkWork
		x.Tree = f.tree
		g := compute.NewGrouping()
		g.Cols, g.In = q.GroupKeyColumns(), compute.InRuns
		values, err := x.RecordValues(run, g)
		if err != nil {
			return nil, err
		}
		for j, w := range x.Pieces {
			words, err := f.sorting(j).groups(g, values[j])
			if err != nil {
				return nil, err
			}
			numbers := compute.UpTo(len(words) / g.Words)
			list = append(list, g.States(q.ChunkID(x.Index), w.From, words, numbers, numbers))
		}
	}
	return list, nil
}

// groups are the states of the groups of the marked records by the codes of columns, in the order of these. values are what
// the aggregates need of each record, by its row in the window.
func (s *sorting) groups(g *compute.Grouping, values [][]primitives.Vector) ([]uint32, error) {
	if err := s.count(); err != nil {
		return nil, err
	}
	none := s.n == 0
	s.n = max(1, s.n) // EXPLAIN reads zeros, and shows the passes
	for _, col := range g.Cols {
		if err := s.key(col, false, false); err != nil {
			return nil, err
		}
	}
	r := &groupRuns{sorting: s, Grouping: g}
	if s.all && s.Device.Primitives.Far(s.n) && len(values) > compute.ValuesOfAll {
		r.moved = values[compute.ValuesOfAll][0]
	}
	if err := r.number(); err != nil {
		return nil, err
	}
	if words := g.Size * g.Words; words > s.Device.Primitives.MaxWords || words > mostSortedWords {
		return nil, &plan.Declined{Why: fmt.Sprintf("the groups take %d MB, more than one storage block is to have", int64(words)>>18)}
	}
	r.states = primitives.New(g.Size * g.Words)
	op := s.GroupOp(g)
	op.In = compute.InRuns
	if err := r.pass(op, "PUT(0, ~input0[from]); PUT(1, i + 1u - from);"+strings.Repeat(" PUT(2, 0u);", g.Values[compute.Records].Size-1), r.states, r.rows); err != nil {
		return nil, err
	}
	for i, v := range g.Values[compute.ValuesOfAll:] {
		if err := r.value(v, values[i+compute.ValuesOfAll]); err != nil {
			return nil, err
		}
	}
	words, err := r.states.Read(s.run)
	if none { // the one group is of a record that is not marked
		words = nil
	}
	return words, err
}

// mostSortedWords is how many words the groups of a window may take that a sort finds.
const mostSortedWords = 1 << 28

// groupRuns is marked records that are sorted by their keys, so that those of a group are neighbours.
type groupRuns struct {
	*sorting
	*compute.Grouping
	rows   primitives.Vector // of the records in the window
	found  numbered          // the groups
	states primitives.Vector
	// moved, when set, is a word of each record of the window, all of which are marked. It is sorted along with the
	// keys; inOrder is the sorted one.
	moved, inOrder primitives.Vector
}

// number sorts the records and numbers their groups.
func (r *groupRuns) number() (err error) {
	s, d := r.sorting, r.sorting.Device.Primitives
	var keys []primitives.Vector // in order
	if len(s.words) != 1 {
		var order primitives.Vector
		r.moved = primitives.Vector{}
		if order, r.rows, err = s.sorted(s.n); err != nil {
			return err
		}
		for _, w := range s.words {
			sorted := primitives.New(s.n)
			if err = primitives.Gather(s.run, d, w.Words, order, sorted); err != nil {
				return err
			}
			keys = append(keys, sorted)
		}
		if keys == nil { // one group
			keys = []primitives.Vector{primitives.New(s.n)}
			if err = primitives.Map(s.run, d, primitives.Expr("0u"), keys[0]); err != nil {
				return err
			}
		}
	} else {
		w, sorted := s.words[0], primitives.New(s.n)
		by := primitives.Keys{Words: w.Words, Bits: w.Bits}
		if by.Beside = r.moved; !r.moved.None() {
			r.inOrder = primitives.New(s.n)
			by.BesideOut = r.inOrder
		}
		r.rows, keys = primitives.New(s.n), []primitives.Vector{sorted}
		if err = primitives.Sort(s.run, d, by, sorted, r.rows); err != nil {
			return err
		}
		if !s.all {
			if r.rows, err = s.rowsAt(r.rows, s.n); err != nil {
				return err
			}
		}
	}
	if r.found, err = numberRuns(s.run, d, keys, 0); err != nil {
		return err
	}
	last := primitives.New(1)
	if err = primitives.Gather(s.run, d, r.found.of, primitives.FromSlice([]uint32{uint32(s.n - 1)}), last); err != nil {
		return err
	}
	found, err := last.Read(s.run)
	r.Size = max(1, int(found[0]))
	return err
}

// numberRuns numbers the runs of elements whose words, the lowest first, are alike but for the lowest bits.
func numberRuns(run pass.Runner, d primitives.Shapes, words []primitives.Vector, without int) (out numbered, err error) {
	for i := without / 32; i < len(words) && err == nil; i++ {
		n, beside := words[i].N, out.of
		out = numbered{of: primitives.New(n), starts: primitives.New(n + 1)}
		err = primitives.Runs(run, d, words[i], max(0, without-32*i), beside, out.of, out.starts)
	}
	return out, err
}

// value computes the sum or the maximum of a value for each group. A maximum is a scan that begins anew with each group. A sum is
// a difference of sums over all records, modulo 2^32 or 2^64, which bounds a group's sum.
func (r *groupRuns) value(v compute.GroupValue, words []primitives.Vector) error {
	run, d := r.run, r.Device.Primitives
	in := make([]primitives.Vector, len(words))
	for j, w := range words {
		if !r.moved.None() && w == r.moved {
			in[j], r.moved, r.inOrder = r.inOrder, primitives.Vector{}, primitives.Vector{} // which is written over
			continue
		}
		in[j] = primitives.New(r.n)
		if err := primitives.Gather(run, d, w, r.rows, in[j]); err != nil {
			return err
		}
	}
	op, write := primitives.Op{Verb: "Runs", Over: "a value of each group, of its sorted records"}, ""
	if v.How == compute.Raised {
		write = fmt.Sprintf("PUT(%d, input0[i]);", v.At)
		if err := primitives.Scan(run, d, primitives.Max, primitives.ScanShape{Inclusive: true, Segments: r.found.of}, in[0], in[0]); err != nil {
			return err
		}
		return r.pass(op, write, r.states, in[0])
	}
	if v.Size == 1 {
		if err := primitives.Scan(run, d, primitives.Add, primitives.ScanShape{Inclusive: true}, in[0], in[0]); err != nil {
			return err
		}
		return r.pass(op, fmt.Sprintf("PUT(%d, input0[i] - (from == 0u ? 0u : input0[from - 1u]));", v.At), r.states, in[0])
	}
	sums := []primitives.Vector{in[0], primitives.New(r.n)}
	var high primitives.Vector
	if v.Size == 2 && len(in) > 1 {
		high = in[1]
	}
	if err := primitives.ScanWide(run, d, in[0], high, sums[0], sums[1]); err != nil {
		return err
	}
	write = fmt.Sprintf("uvec2 a = DIFFERENCE(input0, input1); PUT(%d, a.x); PUT(%d, a.y);", v.At, v.At+1)
	if v.Size == 3 { // the words above the lowest by themselves
		top := primitives.New(r.n)
		if len(in) > 2 {
			high = in[2]
		}
		if err := primitives.ScanWide(run, d, in[1], high, in[1], top); err != nil {
			return err
		}
		sums = append(sums, in[1], top)
		write = fmt.Sprintf("uvec2 a = DIFFERENCE(input0, input1), b = DIFFERENCE(input2, input3); uint carry, middle = uaddCarry(a.y, b.x, carry); PUT(%d, a.x); PUT(%d, middle); PUT(%d, b.y + carry);", v.At, v.At+1, v.At+2)
	}
	return r.pass(op, write, r.states, sums...)
}

// pass runs group_runs.comp: for the record that is last in each group it writes to out from inputs by sorted record.
func (r *groupRuns) pass(op pass.Op, write string, out primitives.Vector, inputs ...primitives.Vector) error {
	var text strings.Builder
	blocks := []textures.Block{out.Block, r.found.of.Block, r.found.starts.Block}
	for i, v := range inputs {
		fmt.Fprintf(&text, "layout(std430, binding = %d) readonly buffer Input%d { uint input%[2]d[]; };\n", len(blocks), i)
		blocks = append(blocks, v.Block)
	}
	fmt.Fprintf(&text, "#define WRITE %s\n", write)
	defines, groups := r.Device.ByRow(r.n)
	defines = append(defines, fmt.Sprintf("WORDS %du", r.Grouping.Words))
	_, err := r.run.Run(&pass.Pass{Op: op, Program: shaders.ComposeCompute("group_runs.comp", nil, defines, text.String(), "group_runs.comp"),
		Uniforms: []shaders.Uniform{shaders.Uint("n", uint32(r.n))},
		Dispatch: &pass.Dispatch{Groups: groups, Blocks: blocks}})
	return err
}
