package compute

import (
	"errors"
	"iter"
	"math/bits"

	"github.com/stencildb/stencildb/expr"
	"github.com/stencildb/stencildb/pass"
	"github.com/stencildb/stencildb/plan"
	"github.com/stencildb/stencildb/primitives"
	"github.com/stencildb/stencildb/table"
	"github.com/stencildb/stencildb/textures"
)

// PairsInBuckets is [Pairs] of sides that the device has no room for: the host deals both alike to buckets, by a hash of
// their keys, and the device joins a bucket of the one with that of the other, one after the other. Buckets
// that have too much in them yet, as those of a frequent key do, and keys that are not compared by =, are
// joined half by half. selected are the sides' rows; room is the memory that a bucket may take, in bytes.
func PairsInBuckets(run pass.Runner, d Profile, q *plan.PairQuery, selected [2]iter.Seq2[table.Block, error], room int64) (out plan.Pairs, err error) {
	for _, k := range q.Keys {
		if _, columns := k.Columns(); !columns {
			return out, &plan.Declined{Why: "rows are dealt to buckets by keys that are columns, " + k[0].String() + " = " + k[1].String() + " has others"}
		}
	}
	if !q.Lists[0].None() || !q.Lists[1].None() || q.Taken != nil {
		return out, &plan.Declined{Why: "rows of a join are not dealt to buckets: the device has no room for the keys of all"}
	}
	b := &bucketJoin{run: run, device: d, q: q, room: room}
	n := 0
	for _, s := range q.Sides {
		n += s.Table.Rows()
	}
	if q.Cmp == expr.EQ {
		b.log = bits.Len64(uint64(int64(n) * bucketRowBytes / max(1, room)))
	}
	var sides [2][]bucket
	for i := range sides {
		if sides[i], err = b.deal(i, selected[i]); err != nil {
			return out, err
		}
		for _, of := range sides[i] {
			out.Selected[i] += len(of.rows)
		}
	}
	b.out = &out
	for i := range sides[0] {
		if err := b.join(sides[0][i], sides[1][i]); err != nil {
			return out, err
		}
	}
	if q.Exists {
		b.distinct()
	}
	return out, nil
}

// bucketRowBytes is what a row of a bucket takes on the device: its key, its number, both once more in order, and the
// range of its partners.
const bucketRowBytes = 64

// bucketJoin is a join bucket by bucket.
type bucketJoin struct {
	run    pass.Runner
	device Profile
	q      *plan.PairQuery
	room   int64
	log    int // of the number of buckets
	out    *plan.Pairs
	many   bool // there are more pairs than are wanted: they are counted
}

// bucket is some rows of a side: their keys in the space of both, and their numbers in the table.
type bucket struct{ low, high, rows []uint32 }

func (b bucket) cut(i, j int) bucket {
	out := bucket{low: b.low[i:j], rows: b.rows[i:j]}
	if b.high != nil {
		out.high = b.high[i:j]
	}
	return out
}

func (b bucket) side() (s JoinSide) {
	if len(b.rows) == 0 {
		return s
	}
	s = JoinSide{Keys: primitives.FromSlice(b.low), Rows: primitives.FromSlice(b.rows)}
	if b.high != nil {
		s.High = primitives.FromSlice(b.high)
	}
	return s
}

// deal deals the rows of a side to buckets.
func (j *bucketJoin) deal(side int, selected iter.Seq2[table.Block, error]) ([]bucket, error) {
	list, wide := make([]bucket, 1<<j.log), j.q.Bits() > textures.PartBits
	t := j.q.Sides[side].Table
	starts := j.q.Starts(side)
	type translation struct {
		codes table.Codes
		delta uint64
		ranks []uint32
		shift int
	}
	keys := make([][]translation, len(t.Chunks)) // of each chunk
	for i := range t.Chunks {
		for k, f := range j.q.Fields() {
			s := j.q.Segment(j.q.Keys[k], side, i)
			in := translation{codes: s.Codes, shift: f.Shift}
			in.delta, in.ranks = f.Space.Translation(s)
			keys[i] = append(keys[i], in)
		}
	}
	for block, err := range selected {
		if err != nil {
			return nil, err
		}
		for i := range block.Len() {
			row, number := block.Row(i), uint64(0)
			for _, in := range keys[block.Chunk] {
				code := in.codes.At(row)
				if in.ranks != nil {
					code = uint64(in.ranks[code])
				} else {
					code += in.delta
				}
				number |= code << in.shift
			}
			to := &list[number*0x9e3779b97f4a7c15>>(64-j.log)]
			to.low, to.rows = append(to.low, uint32(number)), append(to.rows, uint32(starts[block.Chunk]+row))
			if wide {
				to.high = append(to.high, uint32(number>>32))
			}
		}
	}
	return list, nil
}

// join finds the pairs of two buckets: as they are, or of the halves of the larger one.
func (j *bucketJoin) join(left, right bucket) error {
	n := len(left.rows) + len(right.rows)
	if len(left.rows) == 0 || len(right.rows) == 0 {
		return nil
	}
	if int64(n)*bucketRowBytes <= j.room {
		done, err := j.together(left, right)
		if done || err != nil && (!errors.As(err, new(*textures.BudgetError)) || n < 256) {
			return err
		}
	}
	if k := len(left.rows); k >= len(right.rows) {
		if err := j.join(left.cut(0, k/2), right); err != nil {
			return err
		}
		return j.join(left.cut(k/2, k), right)
	}
	k := len(right.rows)
	if err := j.join(left, right.cut(0, k/2)); err != nil {
		return err
	}
	return j.join(left, right.cut(k/2, k))
}

// together finds the pairs of two buckets; done is false where these take too much memory.
func (j *bucketJoin) together(left, right bucket) (done bool, err error) {
	shape := JoinShape{Way: j.q.Way, Cmp: j.q.Cmp, Bits: j.q.Bits(), Exists: j.q.Exists}
	if shape.Way == "perfect" { // the keys of a bucket are far apart
		shape.Way = "hash"
	}
	if wanted := (j.q.Most > 0 || j.q.Exists) && !j.many; wanted {
		shape.Pairs = uint64(max(1, j.room/bucketRowBytes))
	}
	err = j.run.Apart(j.q.Sides[0].Table, func() error {
		found, err := Join(j.run, j.device, shape, left.side(), right.side())
		if err != nil {
			return err
		}
		j.out.Way = found.Way
		total := j.out.N + found.N
		if !j.q.Exists && shape.Pairs > 0 && total > j.q.Most {
			j.many, j.out.Rows = true, [2][]uint32{}
			shape.Pairs = 0
		}
		if shape.Pairs > 0 && found.N > 0 {
			if found.Left.None() {
				return nil
			}
			for i, v := range []primitives.Vector{found.Left, found.Right} {
				if i == 1 && j.q.Exists {
					break
				}
				rows, err := v.Read(j.run)
				if err != nil {
					return err
				}
				j.out.Rows[i] = append(j.out.Rows[i], rows...)
			}
		}
		j.out.N, done = total, true
		return nil
	})
	return done, err
}

// distinct leaves each row of the left side once: it may have met several parts of the right one.
func (j *bucketJoin) distinct() {
	starts := j.q.Starts(0)
	in := table.NewBitmap(starts[len(starts)-1])
	list := j.out.Rows[0][:0]
	for _, row := range j.out.Rows[0] {
		if !in.Get(int(row)) {
			in.Set(int(row))
			list = append(list, row)
		}
	}
	j.out.N = uint64(len(list))
	if j.out.Rows[0] = list; j.q.Most == 0 || j.out.N > j.q.Most {
		j.out.Rows[0] = nil
	}
}
