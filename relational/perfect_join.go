package relational

import (
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
	bits = primitives.Zeros(max(1, 1<<j.Bits/32))
	step := j.step("PHJ: set the bits of the keys", "a bit for each key of a dense range", "join_perfect.comp", build, build, tilesOf(build.Keys.N), "SET")
	step.Dispatch.Groups = j.groups(tilesOf(build.Keys.N), 64)
	step.Dispatch.Blocks = append(step.Dispatch.Blocks, bits.Block)
	if _, err := j.Run(step); err != nil || j.Exists {
		return bits, false, err
	}
	step = j.step("PHJ: count the keys", "as many as rows where each is there once", "join_perfect.comp", build, build, tilesOf(bits.N), "ONES")
	step.Dispatch.Groups = j.groups(tilesOf(bits.N), 64)
	step.Dispatch.Blocks = append(step.Dispatch.Blocks, bits.Block)
	step.Uniforms = append(step.Uniforms, shaders.Uint("words", uint32(bits.N)))
	n, _, err := j.counted(step, primitives.Zeros(ReportWords))
	return bits, n == uint64(build.Keys.N), err
}

// lookUp finds the one partner of each row of the probe side, if it has one, in a side whose keys are unique.
func (j *join) lookUp(probe, build JoinSide, bits primitives.Vector) (out JoinPairs, err error) {
	marks := primitives.Vector{}
	defines := []string{}
	if j.Pairs > 0 {
		marks, defines = primitives.New(tilesOf(probe.Keys.N)*perfectTile/32), []string{"MARKS"}
	}
	step := j.step("PHJ: count the matches", "matches, a bit of each row's key", "join_perfect.comp", probe, build, tilesOf(probe.Keys.N), defines...)
	step.Dispatch.Groups = j.groups(tilesOf(probe.Keys.N), 64)
	step.Dispatch.Blocks = append(step.Dispatch.Blocks, bits.Block, marks.Block)
	if out.N, _, err = j.counted(step, primitives.Zeros(ReportWords)); err != nil || !j.wanted(out.N) {
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
