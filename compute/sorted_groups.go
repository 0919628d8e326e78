package compute

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/stencildb/stencildb/pass"
	"github.com/stencildb/stencildb/plan"
	"github.com/stencildb/stencildb/plan/physical"
	"github.com/stencildb/stencildb/primitives"
	"github.com/stencildb/stencildb/shaders"
	"github.com/stencildb/stencildb/textures"
)

// ManyGroups is [Groups] for keys with more combinations of codes than [physical.MaxSlots]: where the states of these fit
// the caches each has a slot all the same, and the groups that there are are picked; else they are sorted.
func ManyGroups(run pass.Runner, d Profile, q *physical.Query) ([]physical.GroupStates, error) {
	d.SortGroups = physical.MaxSlots + 1
	if d.sortsGroups(q) && !q.IsPart() {
		list, ok, err := groupsThere(run, d, q.Bounded(&plan.GroupBound{All: true}))
		if ok || err != nil {
			return list, err
		}
	}
	return Groups(run, d, q)
}

// groupsThere picks all groups of slots that are not empty; ok is false where the query's groups have no slots.
func groupsThere(run pass.Runner, d Profile, q *physical.Query) (list []physical.GroupStates, ok bool, err error) {
	if q.Bound == nil || d.sortsGroups(q) {
		return nil, false, nil
	}
	c, err := compile(d, q)
	if declined := (*plan.Declined)(nil); errors.As(err, &declined) {
		return nil, false, nil
	}
	if err != nil {
		return nil, false, err
	}
	p := c.picking(run)
	if p == nil || p.size*p.words > mostCachedWords {
		return nil, false, nil
	}
	return p.groups(c)
}

// mostCachedWords is how many words of states are added up at random places as fast as rows come: on an H100, whose second
// cache holds 50 MB, 67 M rows take 3 ms to 65,536 groups, 82 to 42 million, where a sort and scans take 41.
const mostCachedWords = 1 << 23

// sortsGroups reports whether the keys of a chunk have so many combinations of codes that a sort finds the groups.
func (d Profile) sortsGroups(q *physical.Query) bool {
	if d.SortGroups == 0 || len(q.Star) > 0 { // the keys of joined tables are in no planes
		return false
	}
	for i := range q.Table.Chunks {
		keys, err := q.GroupKeys(i)
		slots := 1
		for _, k := range keys {
			slots *= k.Size
		}
		if err != nil || q.Bound == nil && slots >= d.SortGroups {
			return true
		}
	}
	return false
}

// sortedGroups is Groups by a sort: the keys of each window's selected records are sorted, a record whose key
// differs from the one before it begins a group, and a prefix sum of these numbers the groups. What the aggregates need
// of each record follows the sort, and neighbours are added up.
func sortedGroups(run pass.Runner, d Profile, q *physical.Query) (list []physical.GroupStates, err error) {
	for i := range q.Table.Chunks {
		if _, err := q.GroupAggregates(i); err != nil {
			return nil, err
		}
	}
	if err := checks(run, d, q); err != nil {
		return nil, err
	}
	found, err := selections(run, d, q, q.Chunks)
	if err != nil {
		return nil, err
	}
	for _, f := range found {
		x := f.chunk
		x.tree = f.tree
		g := newGrouping()
		g.cols, g.in = q.GroupKeyColumns(), inRuns
		values, err := x.recordValues(run, g)
		if err != nil {
			return nil, err
		}
		for j, w := range x.pieces {
			words, err := f.sorting(j).groups(g, values[j])
			if err != nil {
				return nil, err
			}
			numbers := upTo(len(words) / g.words)
			list = append(list, g.states(q.ChunkID(x.index), w.From, words, numbers, numbers))
		}
	}
	return list, nil
}

// upTo is the numbers below n.
func upTo(n int) []uint32 {
	list := make([]uint32, n)
	for i := range list {
		list[i] = uint32(i)
	}
	return list
}

// recordValues lists what the aggregates of g need of each record: for each window and value vectors of words, by their rows. The first
// two values of a state, its first row and how many there are, need none.
func (x *chunk) recordValues(run pass.Runner, g *grouping) ([][][]primitives.Vector, error) {
	c, w := x.compiler, newWriter(x)
	c.begin()
	t := &groupText{writer: w, grouping: g, read: map[string]bool{}}
	if err := t.states(); err != nil {
		return nil, err
	}
	out := make([][][]primitives.Vector, len(x.pieces))
	for j := range out {
		out[j] = make([][]primitives.Vector, len(g.values))
	}
	body := w.body.String() + t.body.String()
	batches, err := g.batches(x.device.maxBlocks() - 1 - len(w.slots))
	if err != nil {
		return nil, err
	}
	for _, batch := range batches {
		one := &writer{x: x, slots: slices.Clone(w.slots), reads: slices.Clone(w.reads), at: maps.Clone(w.at), args: w.args}
		text := body
		for _, i := range batch {
			for _, word := range g.values[i].words {
				m := &marks{}
				for j, p := range x.pieces {
					v := primitives.New(128 * p.units())
					m.blocks, out[j][i] = append(m.blocks, v.Block), append(out[j][i], v.First(p.Rows))
				}
				text += fmt.Sprintf("    %s[quad] = %s;\n", one.block(source{marks: m}, "uvec4", "writeonly"), word)
			}
		}
		k := &code{name: "group_values.comp", files: []string{"units.glsl", "codes.glsl"}, after: []string{"group_values.comp"}, slots: one.slots, steps: 32 * 5,
			device: x.device.forGroups(), perUnit: groupGroups, text: fmt.Sprintf("void list(uint unit, uint i) {\n    uint quad = quadOf(unit, i);\n%s}\n", text)}
		k.defines, k.each = k.device.defines(), k.text
		x.stage(one.kernels(k, primitives.Op{Verb: fmt.Sprintf("Values(%d of %d)", len(batch), len(g.values)-valuesOfAll), Over: "what the aggregates need of each record, in the order of the table"})...)
	}
	c.flush()
	_, err = c.dispatch(run)
	return out, err
}

// batches cuts the values of a state, but for those of all states, into parts that take up to so many blocks.
func (g *grouping) batches(blocks int) (list [][]int, err error) {
	room := 0
	for i, v := range g.values {
		n := len(v.words)
		switch {
		case i < valuesOfAll:
			continue
		case n > blocks:
			return nil, &plan.Declined{Why: "the device has too few storage blocks in a compute program for the groups"}
		case n > room:
			list, room = append(list, nil), blocks
		}
		list[len(list)-1], room = append(list[len(list)-1], i), room-n
	}
	return list, nil
}

// valuesOfAll is how many values all states have: the first row and the number of records.
const valuesOfAll = 2

// checks runs the checks of a query alone.
func checks(run pass.Runner, d Profile, q *physical.Query) error {
	for _, c := range q.Chunks {
		if len(c.Checks) == 0 {
			continue
		}
		alone := *q
		alone.Groups = nil
		c, err := compile(d, &alone)
		if err != nil {
			return err
		}
		return (&execution{compiled: c, run: run, histograms: map[int]*histogram{}}).Check()
	}
	return nil
}

// groups are the states of the groups of the marked records by the codes of columns, in the order of these. values are what
// the aggregates need of each record, by its row in the window.
func (s *sorting) groups(g *grouping, values [][]primitives.Vector) ([]uint32, error) {
	if err := s.count(); err != nil {
		return nil, err
	}
	none := s.n == 0
	s.n = max(1, s.n) // EXPLAIN reads zeros, and shows the passes
	for _, col := range g.cols {
		if err := s.key(col, false, false); err != nil {
			return nil, err
		}
	}
	r := &groupRuns{sorting: s, grouping: g}
	if s.all && s.device.Primitives.Far(s.n) && len(values) > valuesOfAll {
		r.moved = values[valuesOfAll][0]
	}
	if err := r.number(); err != nil {
		return nil, err
	}
	if words := g.size * g.words; words > s.device.Primitives.MaxWords || words > mostSortedWords {
		return nil, &plan.Declined{Why: fmt.Sprintf("the groups take %d MB, more than one storage block is to have", int64(words)>>18)}
	}
	r.states = primitives.New(g.size * g.words)
	op := s.groupOp(g)
	op.In = inRuns
	if err := r.pass(op, "PUT(0, ~input0[from]); PUT(1, i + 1u - from);"+strings.Repeat(" PUT(2, 0u);", g.values[records].size-1), r.states, r.rows); err != nil {
		return nil, err
	}
	for i, v := range g.values[valuesOfAll:] {
		if err := r.value(v, values[i+valuesOfAll]); err != nil {
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
	*grouping
	rows   primitives.Vector // of the records in the window
	found  numbered          // the groups
	states primitives.Vector
	// moved, when set, is a word of each record of the window, all of which are marked, that goes with the keys; inOrder
	// is it in their order.
	moved, inOrder primitives.Vector
}

// number sorts the records and numbers their groups.
func (r *groupRuns) number() (err error) {
	s, d := r.sorting, r.sorting.device.Primitives
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
	r.size = max(1, int(found[0]))
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

// value adds up, or raises, a value of the records of each group: by a scan that begins anew with each group, or by differences of
// sums over all records, modulo 2^32 or 2^64, within which a group's sum is.
func (r *groupRuns) value(v groupValue, words []primitives.Vector) error {
	run, d := r.run, r.device.Primitives
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
	if v.how == raised {
		write = fmt.Sprintf("PUT(%d, input0[i]);", v.at)
		if err := primitives.Scan(run, d, primitives.Max, primitives.ScanShape{Inclusive: true, Segments: r.found.of}, in[0], in[0]); err != nil {
			return err
		}
		return r.pass(op, write, r.states, in[0])
	}
	if v.size == 1 {
		if err := primitives.Scan(run, d, primitives.Add, primitives.ScanShape{Inclusive: true}, in[0], in[0]); err != nil {
			return err
		}
		return r.pass(op, fmt.Sprintf("PUT(%d, input0[i] - (from == 0u ? 0u : input0[from - 1u]));", v.at), r.states, in[0])
	}
	sums := []primitives.Vector{in[0], primitives.New(r.n)}
	var high primitives.Vector
	if v.size == 2 && len(in) > 1 {
		high = in[1]
	}
	if err := primitives.ScanWide(run, d, in[0], high, sums[0], sums[1]); err != nil {
		return err
	}
	write = fmt.Sprintf("uvec2 a = DIFFERENCE(input0, input1); PUT(%d, a.x); PUT(%d, a.y);", v.at, v.at+1)
	if v.size == 3 { // the words above the lowest by themselves
		top := primitives.New(r.n)
		if len(in) > 2 {
			high = in[2]
		}
		if err := primitives.ScanWide(run, d, in[1], high, in[1], top); err != nil {
			return err
		}
		sums = append(sums, in[1], top)
		write = fmt.Sprintf("uvec2 a = DIFFERENCE(input0, input1), b = DIFFERENCE(input2, input3); uint carry, middle = uaddCarry(a.y, b.x, carry); PUT(%d, a.x); PUT(%d, middle); PUT(%d, b.y + carry);", v.at, v.at+1, v.at+2)
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
	defines, groups := r.device.byRow(r.n)
	defines = append(defines, fmt.Sprintf("WORDS %du", r.grouping.words))
	_, err := r.run.Run(&pass.Pass{Op: op, Program: shaders.ComposeCompute("group_runs.comp", nil, defines, text.String(), "group_runs.comp"),
		Uniforms: []shaders.Uniform{shaders.Uint("n", uint32(r.n))},
		Dispatch: &pass.Dispatch{Groups: groups, Blocks: blocks}})
	return err
}
