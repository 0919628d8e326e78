package relational

import (
	"github.com/stencildb/stencildb/pass"
	"github.com/stencildb/stencildb/primitives"
	"github.com/stencildb/stencildb/shaders"
)

const perfectTile = 8192 // keys of a work group at a time

// densely reports that a slot for each key that there may be is little for so many rows.
func (j *join) densely(rows int) bool {
	return !j.wide && j.Bits < 32 && 1<<j.Bits <= min(max(1<<22, 8*rows), j.device.Primitives.MaxWords)
}

// perfect is the perfect hash join. It needs a side that has each key once, with dense keys. A bit for each key says
// whether the side has it, and a slot says in which row. With ok false there is no such side. Where one pair of a row
// will do, the right side may have a key several times.
func (j *join) perfect(left, right JoinSide) (out JoinPairs, ok bool, err error) {
	swapped := left.Keys.N < right.Keys.N && !j.Exists // the smaller side is tried first
	for range 2 {
		probe, build := left, right
		if swapped {
			probe, build = right, left
		}
		if j.densely(build.Keys.N) {
			bits, unique, err := j.bits(build)
			if err != nil {
				return out, false, err
			}
			if unique || j.Exists {
				out, err = j.lookUp(probe, build, bits)
				if swapped {
					out.Left, out.Right = out.Right, out.Left
				}
				return out, true, err
			}
		}
		if swapped = !swapped; j.Exists {
			break
		}
	}
	return out, false, nil
}

// bits has a bit for each key of a side; unique says that no two rows have the same key, where that matters.
func (j *join) bits(build JoinSide) (bits primitives.Vector, unique bool, err error) {
	if bits, err = j.setBits(bitsOf("PHJ"), build); err != nil || j.Exists {
		return bits, false, err
	}
	step := j.step("PHJ: count the keys", "as many as rows where each is there once", "join_perfect.comp", build, build, tilesOf(bits.N), "ONES")
	step.Dispatch.Groups = j.groups(tilesOf(bits.N), 64)
	step.Dispatch.Blocks = append(step.Dispatch.Blocks, bits.Block)
	step.Uniforms = append(step.Uniforms, shaders.Uint("words", uint32(bits.N)))
	n, _, err := j.counted(step, primitives.Zeros(ReportWords))
	return bits, n == uint64(build.Keys.N), err
}

// bitsOf is what setting the bits of keys is called in a join.
func bitsOf(way string) primitives.Op {
	return primitives.Op{Verb: way + ": set the bits of the keys", Over: "a bit for each key of a dense range"}
}

// setBits has a bit for each key of a side, which is dense.
func (j *join) setBits(op pass.Op, build JoinSide) (bits primitives.Vector, err error) {
	bits = primitives.Zeros(max(1, 1<<j.Bits/32))
	step := j.step("", "", "join_perfect.comp", build, build, tilesOf(build.Keys.N), "SET")
	step.Op, step.Dispatch.Groups = op, j.groups(tilesOf(build.Keys.N), 64)
	step.Dispatch.Blocks = append(step.Dispatch.Blocks, bits.Block)
	_, err = j.Run(step)
	return bits, err
}

// reduction is from how many times the rows of the smaller side on the larger one is reduced first.
const reduction = 4

// reduced leaves of the larger side the rows whose keys the smaller one has, where a bitmap of the keys is little for it. This is a
// semi-join reduction (Bernstein and Chiu, "Using Semi-Joins to Solve Relational Queries", 1981): the other rows are not partitioned.
func (j *join) reduced(left, right JoinSide) (JoinSide, JoinSide, error) {
	small, large := &left, &right
	if left.Keys.N > right.Keys.N {
		small, large = large, small
	}
	if j.wide || j.Bits >= 32 || large.Keys.N < reduction*small.Keys.N || 1<<j.Bits > min(32*large.Keys.N, 32*j.device.Primitives.MaxWords) {
		return left, right, nil
	}
	bits, err := j.setBits(bitsOf("HJ"), *small)
	if err != nil {
		return left, right, err
	}
	marks := primitives.New(tilesOf(large.Keys.N) * perfectTile / 32)
	n, err := j.marks("HJ: mark the rows that have partners", *large, *small, bits, marks)
	if err != nil || n == uint64(large.Keys.N) {
		return left, right, err
	}
	if n == 0 {
		large.Keys.N = 0
		return left, right, nil
	}
	places, err := j.marked(marks, *large, int(n))
	if err != nil {
		return left, right, err
	}
	some := JoinSide{Keys: primitives.New(int(n)), Rows: places}
	if err = primitives.Gather(j, j.device.Primitives, large.Keys, places, some.Keys); err == nil && !large.Rows.None() {
		some.Rows = primitives.New(int(n))
		err = primitives.Gather(j, j.device.Primitives, large.Rows, places, some.Rows)
	}
	*large = some
	return left, right, err
}

// marks counts the rows of a side whose keys have a bit, and marks them where marks is some.
func (j *join) marks(verb string, probe, build JoinSide, bits, marks primitives.Vector) (uint64, error) {
	defines := []string{}
	if !marks.None() {
		defines = append(defines, "MARKS")
	}
	step := j.step(verb, "matches, a bit of each row's key", "join_perfect.comp", probe, build, tilesOf(probe.Keys.N), defines...)
	step.Dispatch.Groups = j.groups(tilesOf(probe.Keys.N), 64)
	step.Dispatch.Blocks = append(step.Dispatch.Blocks, bits.Block, marks.Block)
	n, _, err := j.counted(step, primitives.Zeros(ReportWords))
	return n, err
}

// lookUp finds the one partner of each row of the probe side, if it has one, in a side whose keys are unique.
func (j *join) lookUp(probe, build JoinSide, bits primitives.Vector) (out JoinPairs, err error) {
	marks := primitives.Vector{}
	if j.Pairs > 0 {
		marks = primitives.New(tilesOf(probe.Keys.N) * perfectTile / 32)
	}
	if out.N, err = j.marks("PHJ: count the matches", probe, build, bits, marks); err != nil || !j.wanted(out.N) {
		return out, err
	}
	places, err := j.marked(marks, probe, int(out.N))
	if err != nil {
		return out, err
	}
	if !j.Exists {
		if out.Right, err = j.partners(probe, build, places); err != nil {
			return out, err
		}
	}
	if out.Left = places; probe.Rows.None() {
		return out, nil
	}
	out.Left = primitives.New(places.N)
	return out, primitives.Gather(j, j.device.Primitives, probe.Rows, places, out.Left)
}

// partners are the rows of the build side that have the keys of some of the probe side, by a slot for each key.
func (j *join) partners(probe, build JoinSide, places primitives.Vector) (out primitives.Vector, err error) {
	d := j.device.Primitives
	rows, err := j.rows(build)
	if err != nil {
		return out, err
	}
	slots, keys := primitives.New(1<<j.Bits), primitives.New(places.N)
	if err := primitives.Scatter(j, d, rows, build.Keys, slots); err != nil {
		return out, err
	}
	if err := primitives.Gather(j, d, probe.Keys, places, keys); err != nil {
		return out, err
	}
	out = primitives.New(places.N)
	return out, primitives.Gather(j, d, slots, keys, out)
}

// marked are the places of the n rows of a side that are marked.
func (j *join) marked(marks primitives.Vector, s JoinSide, n int) (places primitives.Vector, err error) {
	d, before := j.device.Primitives, primitives.New(primitives.Groups(s.Keys.N)+1)
	if err := primitives.CountGroups(j, d, marks.Block, s.Keys.N, before); err != nil {
		return places, err
	}
	places = primitives.New(n)
	return places, primitives.RowIDs(j, d, marks.Block, s.Keys.N, 0, before, places)
}

func tilesOf(n int) int { return (n + perfectTile - 1) / perfectTile }
