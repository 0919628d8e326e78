package relational

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stencildb/stencildb/compute"
	"github.com/stencildb/stencildb/expr"
	"github.com/stencildb/stencildb/glctx"
	"github.com/stencildb/stencildb/internal/gltest"
	"github.com/stencildb/stencildb/pass"
	"github.com/stencildb/stencildb/primitives"
)

// keyed are the rows of one side on the host.
type keyed struct {
	keys []uint64
	rows []uint32 // nil: 0, 1, ...
}

func (k keyed) row(i int) uint32 {
	if k.rows == nil {
		return uint32(i)
	}
	return k.rows[i]
}

// side is the side on the device.
func (k keyed) side(wide bool) (s JoinSide) {
	low, high := make([]uint32, len(k.keys)), make([]uint32, len(k.keys))
	for i, key := range k.keys {
		low[i], high[i] = uint32(key), uint32(key>>32)
	}
	s.Keys = primitives.FromSlice(low)
	if wide {
		s.High = primitives.FromSlice(high)
	}
	if k.rows != nil {
		s.Rows = primitives.FromSlice(k.rows)
	}
	return s
}

// holds reports x cmp y.
func holds(cmp expr.CmpOp, x, y uint64) bool {
	switch cmp {
	case expr.LT:
		return x < y
	case expr.LE:
		return x <= y
	case expr.EQ:
		return x == y
	case expr.NE:
		return x != y
	case expr.GE:
		return x >= y
	}
	return x > y
}

// arePairs reports that pairs of rows are different ones that compare as asked; all are there where there are as many as
// by loops. It does not sort them, which the race detector makes slow.
func arePairs(cmp expr.CmpOp, left, right keyed, l, r []uint32) bool {
	at := func(k keyed) []int {
		list := make([]int, 3*len(k.keys)+1)
		for i := range k.keys {
			list[k.row(i)] = i + 1
		}
		return list
	}
	ofLeft, ofRight, seen := at(left), at(right), make([]bool, len(left.keys)*len(right.keys))
	for n := range l {
		if int(l[n]) >= len(ofLeft) || int(r[n]) >= len(ofRight) {
			return false
		}
		i, k := ofLeft[l[n]]-1, ofRight[r[n]]-1
		if i < 0 || k < 0 || !holds(cmp, left.keys[i], right.keys[k]) || seen[i*len(right.keys)+k] {
			return false
		}
		seen[i*len(right.keys)+k] = true
	}
	return len(l) == len(r)
}

// pairsByLoops is the number of pairs, by definition, and the left rows that have any, in order.
func pairsByLoops(cmp expr.CmpOp, left, right keyed) (pairs int, rows []uint32) {
	of := map[uint64]int{}
	for i, x := range left.keys {
		n, known := of[x]
		if !known {
			for _, y := range right.keys {
				if holds(cmp, x, y) {
					n++
				}
			}
			of[x] = n
		}
		if pairs += n; n > 0 {
			rows = append(rows, left.row(i))
		}
	}
	slices.Sort(rows)
	return pairs, rows
}

// draws makes n keys by of, with row ids that are no places where ids.
func draws(rng *rand.Rand, n int, ids bool, of func() uint64) (k keyed) {
	for range n {
		k.keys = append(k.keys, of())
	}
	if ids {
		for i := range n {
			k.rows = append(k.rows, uint32(3*i+1))
		}
		rng.Shuffle(n, func(a, b int) { k.rows[a], k.rows[b] = k.rows[b], k.rows[a] })
	}
	return k
}

// checkJoin compares a join with loops, pairs and counted alone.
func checkJoin(t *testing.T, g *pass.GL, d compute.Profile, name string, shape JoinShape, wide bool, left, right keyed) {
	t.Helper()
	defer g.End()
	want, rows := pairsByLoops(shape.Cmp, left, right)
	checkExists(t, g, d, name, shape, left.side(wide), right.side(wide), rows)
	for _, shape.Pairs = range []uint64{0, 1 << 24} {
		got, err := Join(g, d, shape, left.side(wide), right.side(wide))
		if err != nil {
			t.Errorf("%s by %s: %v", name, shape.Way, err)
			return
		}
		if got.N != uint64(want) {
			t.Errorf("%s by %s: %d pairs, want %d (up to %d wanted)", name, shape.Way, got.N, want, shape.Pairs)
			continue
		}
		if shape.Pairs == 0 || got.N == 0 {
			if !got.Left.None() || !got.Right.None() {
				t.Errorf("%s by %s: there are vectors of pairs that nobody wants", name, shape.Way)
			}
			continue
		}
		l, err := got.Left.Read(g)
		if err != nil {
			t.Fatal(err)
		}
		r, err := got.Right.Read(g)
		if err != nil {
			t.Fatal(err)
		}
		if !arePairs(shape.Cmp, left, right, l, r) {
			t.Errorf("%s by %s: other pairs than by loops in Go", name, shape.Way)
		}
	}
}

// checkExists compares the left rows that are in some pair with those of the pairs.
func checkExists(t *testing.T, g *pass.GL, d compute.Profile, name string, shape JoinShape, left, right JoinSide, want []uint32) {
	t.Helper()
	if shape.Way == "loops" {
		return
	}
	shape.Exists = true
	for _, shape.Pairs = range []uint64{0, 1 << 24} {
		got, err := Join(g, d, shape, left, right)
		if err != nil || got.N != uint64(len(want)) {
			t.Errorf("%s by %s: %d rows have partners, want %d (up to %d wanted), %v", name, shape.Way, got.N, len(want), shape.Pairs, err)
			continue
		}
		if shape.Pairs == 0 || got.N == 0 {
			if !got.Left.None() {
				t.Errorf("%s by %s: there is a vector of rows that nobody wants", name, shape.Way)
			}
			continue
		}
		rows, err := got.Left.Read(g)
		if err != nil {
			t.Fatal(err)
		}
		if slices.Sort(rows); !slices.Equal(rows, want) {
			t.Errorf("%s by %s: other rows have partners than by loops in Go", name, shape.Way)
		}
	}
}

// joinDevices are those between which a join knows a difference.
func joinDevices(gl *glctx.Context) map[string]compute.Profile {
	all := compute.Variants(gl.Caps())
	delete(all, "short windows")
	return all
}

// The pairs of each algorithm are those of loops in Go. Keys are unique, duplicates, of 64 bits with equal halves,
// or one hot key on both sides and on one. Sides have no partners, no row, one row, or row ids that are no places.
func TestJoinsFindThePairsOfLoops(t *testing.T) {
	rng := rand.New(rand.NewPCG(7, 8))
	few := func(n uint64) func() uint64 { return func() uint64 { return rng.Uint64N(n) } }
	hot := func() uint64 {
		if rng.IntN(10) > 0 {
			return 77
		}
		return rng.Uint64N(5000)
	}
	serial := func(step uint64) func() uint64 {
		at := uint64(0)
		return func() uint64 { at += step; return at }
	}
	halves := func() uint64 { return rng.Uint64N(40)<<32 | rng.Uint64N(40) }
	high := func() uint64 { return rng.Uint64N(3000) << 32 }
	cases := []struct {
		name        string
		left, right keyed
		wide        bool
		bits        int // 0 for all
	}{
		{"one row", draws(rng, 1, false, few(1)), draws(rng, 1, true, few(1)), false, 0},
		{"an empty side", draws(rng, 9, false, few(5)), keyed{}, false, 0},
		{"no partners", draws(rng, 300, false, few(100)), draws(rng, 300, false, func() uint64 { return 100 + rng.Uint64N(50) }), false, 0},
		{"unique", draws(rng, 2000, false, few(2500)), draws(rng, 2500, true, serial(1)), false, 0},
		{"strides", draws(rng, 2500, true, serial(1<<16)), draws(rng, 1500, true, serial(1<<17)), false, 0},
		{"duplicates", draws(rng, 2000, true, few(750)), draws(rng, 1500, false, few(1000)), false, 0},
		{"hot on both sides", draws(rng, 1300, true, hot), draws(rng, 400, true, hot), false, 0},
		{"hot on one side", draws(rng, 9000, true, hot), draws(rng, 500, false, serial(1)), false, 0},
		{"one key", draws(rng, 1700, false, few(1)), draws(rng, 300, true, few(1)), false, 0},
		{"64 bits", draws(rng, 2500, true, halves), draws(rng, 2000, false, halves), true, 0},
		{"upper halves alone", draws(rng, 2500, false, high), draws(rng, 2000, true, high), true, 0},
		{"hot of 64 bits", draws(rng, 1300, true, func() uint64 { return hot() << 30 }), draws(rng, 400, true, func() uint64 { return hot() << 30 }), true, 0},
		{"few keys of many", draws(rng, 60, true, few(4000)), draws(rng, 5000, false, few(4000)), false, 12},
		{"many keys, of which few", draws(rng, 5000, true, few(4000)), draws(rng, 900, true, few(4000)), false, 12},
		{"few keys, which none has", draws(rng, 50, false, few(2000)), draws(rng, 3000, true, func() uint64 { return 2000 + rng.Uint64N(2000) }), false, 12},
		{"few keys, which all have", draws(rng, 40, false, few(4)), draws(rng, 2000, false, few(4)), false, 10},
	}
	gltest.Run(t, 0, func(gl *glctx.Context, g *pass.GL) {
		for kind, d := range joinDevices(gl) {
			for _, c := range cases {
				for _, way := range JoinWays {
					checkJoin(t, g, d, kind+", "+c.name, JoinShape{Way: way, Cmp: expr.EQ, Bits: c.bits}, c.wide, c.left, c.right)
				}
			}
		}
	})
}

// Loops compare by every operator, keys of one word and of two.
func TestNestedLoopsCompareByAnyOperator(t *testing.T) {
	rng := rand.New(rand.NewPCG(9, 10))
	of := func() uint64 { return rng.Uint64N(12)<<32 | rng.Uint64N(12) }
	narrow := func() uint64 { return rng.Uint64N(100) << 25 }
	gltest.Run(t, 0, func(gl *glctx.Context, g *pass.GL) {
		for kind, d := range joinDevices(gl) {
			for cmp := expr.LT; cmp <= expr.GT; cmp++ {
				name := fmt.Sprint(kind, ", ", cmp)
				checkJoin(t, g, d, name, JoinShape{Way: "loops", Cmp: cmp}, true, draws(rng, 700, true, of), draws(rng, 600, false, of))
				checkJoin(t, g, d, name, JoinShape{Way: "loops", Cmp: cmp}, false, draws(rng, 300, false, narrow), draws(rng, 1100, true, narrow))
			}
		}
	})
}

// More pairs than are wanted are counted, in 64 bits.
func TestJoinsCountMorePairsThanAreWanted(t *testing.T) {
	left, right := keyed{keys: make([]uint64, 70_000)}, keyed{keys: make([]uint64, 80_000)}
	gltest.Run(t, 0, func(gl *glctx.Context, g *pass.GL) {
		defer g.End()
		for _, way := range []string{"hash", "merge", "index"} {
			got, err := Join(g, compute.ProfileOf(gl.Caps()), JoinShape{Way: way, Cmp: expr.EQ, Pairs: 1 << 20}, left.side(false), right.side(false))
			if err != nil || got.N != 70_000*80_000 || !got.Left.None() {
				t.Errorf("%s: %d pairs, %v", way, got.N, err)
			}
		}
	})
}

// A join whose n-th call of the device fails says so, whichever that is, and the next one is right.
func TestJoinsReturnErrorsOfPasses(t *testing.T) {
	rng := rand.New(rand.NewPCG(11, 12))
	key := func() uint64 { return rng.Uint64N(40) << 31 }
	at := uint64(0)
	left, right := draws(rng, 1800, true, func() uint64 { return key() / 20 }), draws(rng, 1700, false, key)
	drawn, serial := draws(rng, 1800, true, func() uint64 { return rng.Uint64N(900) }), draws(rng, 800, false, func() uint64 { at++; return at })
	stop := errors.New("stop")
	gltest.Run(t, 0, func(gl *glctx.Context, g *pass.GL) {
		d := compute.ProfileOf(gl.Caps())
		for _, way := range JoinWays {
			left, right := left, right
			shape, wide := JoinShape{Way: way, Cmp: expr.EQ, Pairs: 1 << 24}, true
			if way == "perfect" {
				left, right, wide, shape.Bits = drawn, serial, false, 10
			}
			for at := 0; ; at++ {
				run := &pass.Failer{Runner: g, At: at, Err: stop}
				_, err := Join(run, d, shape, left.side(wide), right.side(wide))
				g.End()
				if run.Calls <= at {
					if err != nil || at < 5 {
						t.Errorf("%s: %v after %d calls", way, err, at)
					}
					break
				}
				if !errors.Is(err, stop) {
					t.Fatalf("%s: %v where call %d fails", way, err, at)
				}
			}
			checkJoin(t, g, d, "after failures", shape, wide, left, right)
		}
	})
}

// A perfect hash join is taken where the keys of a side are dense and there once. It may be either side, and
// the range may have any size.
func TestPerfectJoinsOfDenseUniqueKeys(t *testing.T) {
	rng := rand.New(rand.NewPCG(15, 16))
	unique := func(n int, of uint64, ids bool) keyed {
		k := draws(rng, n, ids, func() uint64 { return 0 })
		for i, at := range rng.Perm(int(of))[:n] {
			k.keys[i] = uint64(at)
		}
		return k
	}
	drawn := func(n int, of uint64, ids bool) keyed {
		return draws(rng, n, ids, func() uint64 { return rng.Uint64N(of) })
	}
	gltest.Run(t, 0, func(gl *glctx.Context, g *pass.GL) {
		for kind, d := range joinDevices(gl) {
			for _, c := range []struct {
				name        string
				left, right keyed
				bits        int
				way         string
			}{
				{"every code", drawn(20_000, 1<<14, true), unique(1<<14, 1<<14, false), 14, "perfect"},
				{"on the left", unique(9000, 1<<14, false), drawn(25_000, 1<<14, true), 14, "perfect"},
				{"the larger side", unique(30_000, 1<<15, true), drawn(9000, 1<<10, false), 15, "perfect"},
				{"few of many codes", drawn(8193, 1<<20, false), unique(700, 1<<20, true), 22, "perfect"},
				{"one code", drawn(8192, 1, true), unique(1, 1, true), 1, "perfect"},
				{"both sides twice", drawn(9000, 1<<12, false), drawn(8000, 1<<12, true), 12, "hash"},
				{"sparse", drawn(9000, 1<<20, true), unique(8000, 1<<20, false), 24, "hash"},
			} {
				shape := JoinShape{Way: "perfect", Cmp: expr.EQ, Bits: c.bits}
				checkJoin(t, g, d, kind+", "+c.name, shape, false, c.left, c.right)
				got, err := Join(g, d, shape, c.left.side(false), c.right.side(false))
				g.End()
				if err != nil || got.Way != c.way {
					t.Errorf("%s, %s: by %s, %v", kind, c.name, got.Way, err)
				}
				shape.Exists = true // keys may be there twice
				got, err = Join(g, d, shape, c.left.side(false), c.right.side(false))
				g.End()
				if dense := c.name != "sparse"; err != nil || dense != (got.Way == "perfect") {
					t.Errorf("%s, %s: which rows have partners by %s, %v", kind, c.name, got.Way, err)
				}
			}
		}
	})
}
