package relational

import (
	"fmt"

	"github.com/stencildb/stencildb/compute"
	"github.com/stencildb/stencildb/expr"
	"github.com/stencildb/stencildb/pass"
	"github.com/stencildb/stencildb/primitives"
	"github.com/stencildb/stencildb/shaders"
	"github.com/stencildb/stencildb/textures"
)

// JoinSide is the rows of one side of a join: those that have a key.
type JoinSide struct {
	// Keys are codes in a space that both sides have in common, a word each. Where codes have more than 32
	// bits, Keys are the lower words and High the upper ones.
	Keys, High primitives.Vector
	// Rows are what pairs are made of; none: 0, 1, ...
	Rows primitives.Vector
}

// JoinWays are the algorithms of [Join]. The last four are HJ, SMJ, NINLJ and INLJ of GDB (He et al.,
// "Relational Query Coprocessing on Graphics Processors", TODS 2009, section 3.1.3).
var JoinWays = []string{"perfect", "hash", "merge", "loops", "index"}

// JoinShape says how sides are joined.
type JoinShape struct {
	Way string // of [JoinWays]
	// Cmp is what has to hold of the keys of the left and the right side; only loops compare by others than =.
	Cmp expr.CmpOp
	// Bits is the width of the keys; 0 is all.
	Bits int
	// Exists asks for one pair of each left row that is in some; the right row is any, or none. Loops do not.
	Exists bool
	// Pairs is up to how many pairs are wanted; where there are more, and with 0, they are only counted.
	Pairs uint64
}

// JoinPairs are the pairs of rows of a join, in no order.
type JoinPairs struct {
	N           uint64
	Way         string            // how they were found
	Left, Right primitives.Vector // none where they were only counted
}

// Join finds the pairs of rows whose keys compare, by GDB's three-step output scheme. Each row of one side counts
// its matches, a prefix sum of the counts gives the place of its pairs, and the pairs are written. Where no pairs
// are wanted, the first step is enough. A row with many matches does not emit them alone: rows and pairs are cut
// into equal tiles (merge path: Green, McColl and Bader 2012).
//
//   - perfect: a bit says which keys a side has, and a slot has the row of each. It needs a side that has each
//     key once, with dense keys; otherwise hash does it.
//   - merge: both sides are sorted. Tiles of the left side locate their matching chunks of the right side,
//     and each row finds its range there by binary search.
//   - hash: both sides are split by the upper bits of their keys' hashes. For each partition, a work group makes
//     a hash table of the smaller side's rows in shared memory. Rows of partitions that are too large for that,
//     as those of a hot key are, are joined by merge.
//   - index: one side is sorted, the smaller one, and each row of the other looks for its range there by binary search.
//   - loops: each row of the left side meets all of the right one, which come in blocks through shared memory.
func Join(run pass.Runner, d compute.Profile, shape JoinShape, left, right JoinSide) (out JoinPairs, err error) {
	if out.Way = shape.Way; left.Keys.N == 0 || right.Keys.N == 0 {
		return out, nil
	}
	if left.High.None() != right.High.None() {
		return out, fmt.Errorf("compute: join: one side has keys of one word, the other of two")
	}
	if shape.Cmp != expr.EQ && shape.Way != "loops" {
		return out, fmt.Errorf("compute: join: %s joins by =; loops join by %v", shape.Way, shape.Cmp)
	}
	if shape.Exists && shape.Way == "loops" {
		return out, fmt.Errorf("compute: join: loops find all pairs of a row")
	}
	j := &join{Runner: run, device: d, JoinShape: shape, wide: !left.High.None()}
	if j.Bits == 0 {
		j.Bits = 64
	}
	if shape.Way == "perfect" {
		found, ok, err := j.perfect(left, right)
		if found.Way = shape.Way; ok || err != nil {
			return found, err
		}
		out.Way = "hash"
	}
	if shape.Exists { // the pairs of each row are counted, whether they are wanted or not
		j.Pairs = max(1, j.Pairs)
	}
	var parts []ranges
	swapped := false
	switch out.Way {
	case "merge":
		parts, err = j.merge(left, right)
	case "hash":
		if left, right, err = j.reduced(left, right); err != nil || left.Keys.N == 0 || right.Keys.N == 0 {
			return out, err
		}
		if swapped = left.Keys.N < right.Keys.N && !shape.Exists; swapped {
			left, right = right, left
		}
		parts, err = j.hash(left, right)
	case "index":
		if swapped = left.Keys.N < right.Keys.N && !shape.Exists; swapped {
			left, right = right, left
		}
		parts, err = j.indexed(left, right)
	case "loops":
		out, err := j.loops(left, right)
		out.Way = shape.Way
		return out, err
	default:
		err = fmt.Errorf("compute: join: %q is none of %v", shape.Way, JoinWays)
	}
	if err != nil {
		return out, err
	}
	for i := range parts {
		if shape.Exists {
			if err := j.once(&parts[i]); err != nil {
				return out, err
			}
		}
		out.N += parts[i].pairs
	}
	if j.Pairs = shape.Pairs; !j.wanted(out.N) {
		return out, nil
	}
	out.Left, out.Right = primitives.New(int(out.N)), primitives.New(int(out.N))
	base := 0
	for _, p := range parts {
		if err := j.emit(p, base, out.Left, out.Right); err != nil {
			return out, err
		}
		base += int(p.pairs)
	}
	if swapped {
		out.Left, out.Right = out.Right, out.Left
	}
	return out, nil
}

// join is a join that runs. Of its two sides, the probe side looks for partners in the build side.
type join struct {
	pass.Runner
	JoinShape
	device compute.Profile
	wide   bool // keys of two words
}

// ranges are the partners of the rows of a probe side: counts[i] rows of the build side from from[i] on.
type ranges struct {
	probe, build primitives.Vector // row ids
	from, counts primitives.Vector
	pairs        uint64
}

// Matches counts the pairs of a join into a report of four words, its first block. These are the pairs, of 64
// bits, and how many rows of each side are in partitions that are too large.
type Matches struct{ primitives.Op }

// Found is what a report says.
func (Matches) Found(report []uint32) (pairs uint64, large [2]uint32) {
	return uint64(report[1])<<32 | uint64(report[0]), [2]uint32{report[2], report[3]}
}

// ReportWords is how many words of a report [Matches] tells.
const ReportWords = 4

// wanted reports whether so many pairs are to be emitted.
func (j *join) wanted(n uint64) bool {
	return n > 0 && n <= min(j.Pairs, uint64(j.device.Primitives.MaxWords))
}

// once leaves of the pairs of each row of a probe side one.
func (j *join) once(r *ranges) error {
	if r.pairs == 0 {
		return nil
	}
	d, n := j.device.Primitives, primitives.New(1)
	if err := primitives.Map(j, d, primitives.Expr("min(x, 1u)"), r.counts, r.counts); err != nil {
		return err
	}
	if err := primitives.Reduce(j, d, primitives.Add, r.counts, n); err != nil {
		return err
	}
	words, err := n.Read(j)
	if err == nil {
		r.pairs = uint64(words[0])
	}
	return err
}

// rows are the row ids of a side as they are.
func (j *join) rows(s JoinSide) (primitives.Vector, error) {
	if !s.Rows.None() {
		return s.Rows, nil
	}
	ids := primitives.New(s.Keys.N)
	return ids, primitives.Map(j, j.device.Primitives, primitives.Expr("i"), ids)
}

// merge is the sort-merge join.
func (j *join) merge(left, right JoinSide) ([]ranges, error) {
	probe, err := j.sorted(left)
	if err != nil {
		return nil, err
	}
	build, err := j.sorted(right)
	if err != nil {
		return nil, err
	}
	tiles := (probe.Keys.N + joinTile - 1) / joinTile
	bounds := primitives.New(tiles + 1)
	step := j.step("SMJ: locate the matching chunks", "where each tile of the left side begins in the right one", "join_merge.comp", probe, build, tiles, "BOUNDS")
	step.Dispatch.Groups = [2]int{tiles/256 + 1}
	step.Dispatch.Blocks = append(step.Dispatch.Blocks, bounds.Block)
	if _, err := j.Run(step); err != nil {
		return nil, err
	}
	return j.located("SMJ: count the matches", probe, build, bounds)
}

// indexed is the nested-loop join with index, which is the build side in order.
func (j *join) indexed(probe, build JoinSide) (_ []ranges, err error) {
	if build, err = j.sorted(build); err == nil && j.Pairs > 0 {
		probe.Rows, err = j.rows(probe)
	}
	if err != nil {
		return nil, err
	}
	return j.located("INLJ: look up the matches", probe, build, primitives.Vector{}, "WHOLE")
}

// sorted is a side in the order of its keys; without row ids where no pairs are wanted.
func (j *join) sorted(s JoinSide) (out JoinSide, err error) {
	d, n := j.device.Primitives, s.Keys.N
	out.Keys = primitives.New(n)
	if j.Pairs > 0 {
		out.Rows = primitives.New(n)
	}
	if !j.wide {
		return out, primitives.Sort(j, d, primitives.Keys{Words: s.Keys, Bits: j.Bits, Values: j.values(s)}, out.Keys, out.Rows)
	}
	order := primitives.New(n)
	if err := primitives.SortBy(j, d, []primitives.Word{{Words: s.Keys}, {Words: s.High, Bits: max(1, j.Bits-32)}}, order); err != nil {
		return out, err
	}
	if err := primitives.Gather(j, d, s.Keys, order, out.Keys); err != nil {
		return out, err
	}
	return out, j.follow(s, order, &out)
}

// values are the row ids that a sort moves with the keys of a side.
func (j *join) values(s JoinSide) primitives.Vector {
	if j.Pairs == 0 {
		return primitives.Vector{}
	}
	return s.Rows
}

// follow gathers the upper words and the row ids of a side in an order.
func (j *join) follow(s JoinSide, order primitives.Vector, out *JoinSide) error {
	out.High = primitives.New(order.N)
	if err := primitives.Gather(j, j.device.Primitives, s.High, order, out.High); err != nil || j.Pairs == 0 {
		return err
	}
	if s.Rows.None() {
		out.Rows = order
		return nil
	}
	return primitives.Gather(j, j.device.Primitives, s.Rows, order, out.Rows)
}

const (
	joinTile   = 2048 // rows, or rows and pairs, of a work group at a time
	mergeTurns = 8 * 100
	emitTurns  = 8 * 16
)

// located finds the range of each row of a probe side in a sorted build side. It looks within the bounds of the row's
// tile, or everywhere.
func (j *join) located(verb string, probe, build JoinSide, bounds primitives.Vector, defines ...string) ([]ranges, error) {
	tiles := (probe.Keys.N + joinTile - 1) / joinTile
	r := ranges{probe: probe.Rows, build: build.Rows}
	step := j.step(verb, "matches, each row's by binary search", "join_merge.comp", probe, build, tiles, defines...)
	step.Dispatch.Groups = j.groups(tiles, mergeTurns)
	step.Dispatch.Blocks = append(step.Dispatch.Blocks, bounds.Block)
	if j.Pairs > 0 {
		r.from, r.counts = primitives.New(probe.Keys.N), primitives.New(probe.Keys.N)
		step.Dispatch.Blocks = append(step.Dispatch.Blocks, r.from.Block, r.counts.Block)
	}
	var err error
	r.pairs, _, err = j.counted(step, primitives.Zeros(ReportWords))
	return []ranges{r}, err
}

// emit writes the pairs of ranges to out, from pair base on.
func (j *join) emit(r ranges, base int, probe, build primitives.Vector) error {
	if r.pairs == 0 {
		return nil
	}
	d, n := j.device.Primitives, r.counts.N
	if err := primitives.Scan(j, d, primitives.Add, primitives.ScanShape{}, r.counts, r.counts); err != nil {
		return err
	}
	tiles := (n + int(r.pairs) + joinTile - 1) / joinTile
	splits := primitives.New(tiles + 1)
	uniforms := []shaders.Uniform{shaders.Uint("probes", uint32(n)), shaders.Uint("pairs", uint32(r.pairs)), shaders.Uint("tiles", uint32(tiles)), shaders.Uint("base", uint32(base))}
	_, err := j.Run(&pass.Pass{Op: primitives.Op{Verb: "Join: split the pairs evenly", Over: "how many rows are before each tile of rows and pairs"},
		Program: shaders.Load("join_emit.comp", "SPLITS"), Uniforms: uniforms,
		Dispatch: &pass.Dispatch{Groups: [2]int{tiles/256 + 1}, Blocks: []textures.Block{r.counts.Block, splits.Block}}})
	if err != nil {
		return err
	}
	_, err = j.Run(&pass.Pass{Op: primitives.Op{Verb: "Join: emit the pairs", Over: fmt.Sprintf("%d pairs of row ids", r.pairs)},
		Program: shaders.Load("join_emit.comp"), Uniforms: uniforms,
		Dispatch: &pass.Dispatch{Groups: j.groups(tiles, emitTurns), Blocks: []textures.Block{r.counts.Block, splits.Block, r.from.Block, r.probe.Block, r.build.Block, probe.Block, build.Block}}})
	return err
}

// compares is what has to hold of keys x and y, in GLSL.
var compares = [...]string{expr.LT: "less(x, y)", expr.LE: "!less(y, x)", expr.EQ: "x == y", expr.NE: "x != y", expr.GE: "!less(x, y)", expr.GT: "less(y, x)"}

// loops is the nested-loop join without index.
func (j *join) loops(left, right JoinSide) (out JoinPairs, err error) {
	d := j.device.Primitives
	tiles := (left.Keys.N + 255) / 256
	strips := max(1, min((4*d.Groups+tiles-1)/tiles, (right.Keys.N+255)/256))
	strips = max(strips, (right.Keys.N+shaders.MaxTurns/2-1)/(shaders.MaxTurns/2))
	strips = max(1, min(strips, d.MaxWords/left.Keys.N))
	strip := (right.Keys.N + strips - 1) / strips
	groups := [2]int{j.groups(tiles, strip+strip/256+1)[0], strips}
	step := j.step("NINLJ: count the matches", "pairs for which it holds that x "+j.Cmp.String()+" y", "join_loops.comp", left, right, tiles, "COMPARE "+compares[j.Cmp])
	step.Dispatch.Groups = groups
	step.Uniforms = append(step.Uniforms, shaders.Uint("strip", uint32(strip)))
	counts := primitives.Vector{}
	if j.Pairs > 0 {
		counts = primitives.New(strips * left.Keys.N)
		step.Program = j.program("join_loops.comp", "COMPARE "+compares[j.Cmp], "COUNTS")
		step.Dispatch.Blocks = append(step.Dispatch.Blocks, counts.Block)
	}
	if out.N, _, err = j.counted(step, primitives.Zeros(ReportWords)); err != nil || !j.wanted(out.N) {
		return out, err
	}
	if err := primitives.Scan(j, d, primitives.Add, primitives.ScanShape{}, counts, counts); err != nil {
		return out, err
	}
	if left.Rows, err = j.rows(left); err != nil {
		return out, err
	}
	if right.Rows, err = j.rows(right); err != nil {
		return out, err
	}
	out.Left, out.Right = primitives.New(int(out.N)), primitives.New(int(out.N))
	step = j.step("NINLJ: emit the pairs", fmt.Sprintf("%d pairs of row ids", out.N), "join_loops.comp", left, right, tiles, "COMPARE "+compares[j.Cmp], "EMIT")
	step.Dispatch.Groups = groups
	step.Uniforms = append(step.Uniforms, shaders.Uint("strip", uint32(strip)))
	step.Dispatch.Blocks = append(step.Dispatch.Blocks, counts.Block, left.Rows.Block, right.Rows.Block, out.Left.Block, out.Right.Block)
	_, err = j.Run(step)
	return out, err
}

// step is a dispatch over two sides; its first blocks are the report, which is none yet, and the keys.
func (j *join) step(verb, over, program string, probe, build JoinSide, tiles int, defines ...string) *pass.Pass {
	return &pass.Pass{
		Op:      primitives.Op{Verb: verb, Over: over},
		Program: j.program(program, defines...),
		Uniforms: []shaders.Uniform{shaders.Uint("probes", uint32(probe.Keys.N)), shaders.Uint("builds", uint32(build.Keys.N)),
			shaders.Uint("tiles", uint32(tiles))},
		Dispatch: &pass.Dispatch{Blocks: []textures.Block{{}, probe.Keys.Block, build.Keys.Block, probe.High.Block, build.High.Block}},
	}
}

func (j *join) program(name string, defines ...string) shaders.Source {
	if j.wide {
		defines = append(defines, "WIDE")
	}
	if j.Pairs > 0 {
		defines = append(defines, "RANGES")
	}
	return shaders.Join([]string{"join.glsl", name}, defines...)
}

// counted runs a dispatch that counts matches, and reads its report.
func (j *join) counted(p *pass.Pass, report primitives.Vector) (pairs uint64, large [2]uint32, err error) {
	m := Matches{p.Op.(primitives.Op)}
	p.Op, p.Dispatch.Blocks[0] = m, report.Block
	if _, err := j.Run(p); err != nil {
		return 0, large, err
	}
	words, err := report.Read(j)
	if err == nil {
		pairs, large = m.Found(words)
	}
	return pairs, large, err
}

// groups is the number of work groups of a dispatch over tiles, each of at most so many turns of loops. It is
// what the device has resident, or more, so that no invocation takes too many turns.
func (j *join) groups(tiles, turns int) [2]int {
	each := max(1, shaders.MaxTurns/2/turns)
	return [2]int{max(1, min(tiles, max(j.device.Primitives.Groups, (tiles+each-1)/each)))}
}
