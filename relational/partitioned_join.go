package relational

import (
	"errors"
	"math/bits"

	"github.com/stencildb/stencildb/compute"
	"github.com/stencildb/stencildb/expr"
	"github.com/stencildb/stencildb/pass"
	"github.com/stencildb/stencildb/plan/physical"
	"github.com/stencildb/stencildb/primitives"
	"github.com/stencildb/stencildb/table"
	"github.com/stencildb/stencildb/textures"
)

// PairsInBuckets is [Pairs] of sides that do not fit the device. The host has partitioned both sides by the same hash of
// their keys, and the device joins one pair of buckets after the other. Buckets that are still too large, as those of a
// frequent key, are joined half by half. So are keys that are not compared by =. room is the memory that a bucket may
// take, in bytes.
func PairsInBuckets(run pass.Runner, d compute.Profile, q *physical.JoinQuery, sides [2][]physical.Bucket, room int64) (out physical.JoinPairs, err error) {
	b := &bucketJoin{run: run, device: d, q: q, room: room, out: &out}
	for i := range sides[0] {
		out.Selected[0], out.Selected[1] = out.Selected[0]+sides[0][i].Len(), out.Selected[1]+sides[1][i].Len()
		if err := b.join(sides[0][i], sides[1][i]); err != nil {
			return out, err
		}
	}
	if q.Exists {
		b.distinct()
	}
	return out, nil
}

// BucketBits is the logarithm of how many buckets the rows of a join are dealt to where one may take so many bytes.
func BucketBits(q *physical.JoinQuery, room int64) int {
	if q.Cmp != expr.EQ {
		return 0
	}
	return bits.Len64(uint64(int64(q.Rows(0)+q.Rows(1)) * bucketRowBytes / max(1, room)))
}

// bucketRowBytes is what a row of a bucket takes on the device. A row has its key and its number, both once more in
// order, and the range of its partners.
const bucketRowBytes = 64

// bucketJoin is a join bucket by bucket.
type bucketJoin struct {
	run    pass.Runner
	device compute.Profile
	q      *physical.JoinQuery
	room   int64
	out    *physical.JoinPairs
	many   bool // there are more pairs than are wanted: they are counted
}

// sideOf is the rows of a bucket on the device.
func sideOf(b physical.Bucket) (s JoinSide) {
	if b.Len() == 0 {
		return s
	}
	s = JoinSide{Keys: primitives.FromSlice(b.Low), Rows: primitives.FromSlice(b.Rows)}
	if b.High != nil {
		s.High = primitives.FromSlice(b.High)
	}
	return s
}

// join finds the pairs of two buckets: as they are, or of the halves of the larger one.
func (j *bucketJoin) join(left, right physical.Bucket) error {
	n := left.Len() + right.Len()
	if left.Len() == 0 || right.Len() == 0 {
		return nil
	}
	if int64(n)*bucketRowBytes <= j.room {
		done, err := j.together(left, right)
		if done || err != nil && (!errors.As(err, new(*textures.BudgetError)) || n < 256) {
			return err
		}
	}
	if k := left.Len(); k >= right.Len() {
		if err := j.join(left.Cut(0, k/2), right); err != nil {
			return err
		}
		return j.join(left.Cut(k/2, k), right)
	}
	k := right.Len()
	if err := j.join(left, right.Cut(0, k/2)); err != nil {
		return err
	}
	return j.join(left, right.Cut(k/2, k))
}

// together finds the pairs of two buckets; done is false where these take too much memory.
func (j *bucketJoin) together(left, right physical.Bucket) (done bool, err error) {
	shape := JoinShape{Way: j.q.Algorithm, Cmp: j.q.Cmp, Bits: j.q.Bits(), Exists: j.q.Exists}
	if shape.Way == "perfect" { // the keys of a bucket are far apart
		shape.Way = "hash"
	}
	if wanted := (j.q.Limit > 0 || j.q.Exists) && !j.many; wanted {
		shape.Pairs = uint64(max(1, j.room/bucketRowBytes))
	}
	err = j.run.Apart(j.q.Sides[0].Table, func() error {
		found, err := Join(j.run, j.device, shape, sideOf(left), sideOf(right))
		if err != nil {
			return err
		}
		j.out.Algorithm = found.Way
		total := j.out.N + found.N
		if !j.q.Exists && shape.Pairs > 0 && total > j.q.Limit {
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
	starts := j.q.RowOffsets(0)
	in := table.NewBitmap(max(starts[len(starts)-1], j.q.RowIDs[0].Len()))
	list := j.out.Rows[0][:0]
	for _, row := range j.out.Rows[0] {
		if !in.Get(int(row)) {
			in.Set(int(row))
			list = append(list, row)
		}
	}
	j.out.N = uint64(len(list))
	if j.out.Rows[0] = list; j.q.Limit == 0 || j.out.N > j.q.Limit {
		j.out.Rows[0] = nil
	}
}

// Buckets joins buckets one by one, those that have too much in them half by half.
type Buckets struct{ of bucketJoin }

// NewBuckets joins buckets of a query, each of which may take so many bytes.
func NewBuckets(run pass.Runner, d compute.Profile, q *physical.JoinQuery, room int64) *Buckets {
	return &Buckets{bucketJoin{run: run, device: d, q: q, room: room}}
}

// Join finds the pairs of two buckets; where list is false it counts them.
func (b *Buckets) Join(left, right physical.Bucket, list bool) (out physical.JoinPairs, err error) {
	b.of.out, b.of.many = &out, !list && !b.of.q.Exists // which is known of rows
	if err = b.of.join(left, right); err == nil && b.of.q.Exists {
		b.of.distinct()
	}
	return out, err
}
