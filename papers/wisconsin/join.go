package wisconsin

import (
	"context"
	_ "embed"
	"fmt"
	"math"

	"github.com/stencildb/stencildb/papers/scan"
	"github.com/stencildb/stencildb/primitives"
	"github.com/stencildb/stencildb/shaders"
)

//go:embed join.comp
var joinText string

// Keys are the numbers of the attributes of an equi-join: listing 11 joins on unique1 of both tables, listing 13 on unique1 and unique2.
type Keys struct{ First, Second int }

// The published joins.
var (
	Listing11    = Keys{Unique1, Unique1}
	integratedOn = Keys{Unique1, Unique2}
)

// relation is a table on the device.
type relation struct {
	tuples primitives.Vector
	n      int
}

// join is one on the device, between its sections.
type join struct {
	*GPU
	layout                Layout
	on                    Keys
	first, second         relation
	probe, blocks, finish kernel
	mask                  primitives.Vector
	n                     int // pairs
	out                   primitives.Vector
	table                 *Cuckoo
}

func (g *GPU) newJoin(l Layout, on Keys) *join {
	k := func(define string) kernel {
		return kernel{name: "join.comp", text: hashText + joinText, defines: append(l.defines(), define)}
	}
	return &join{GPU: g, layout: l, on: on, probe: k("PROBE"), blocks: k("BLOCKS"), finish: k("FINISH")}
}

// larger is the number of tuples of the larger table, and of the mask.
func (j *join) larger() int { return max(j.first.n, j.second.n) }

func (j *join) uniforms(more ...shaders.Uniform) []shaders.Uniform {
	return append(more, shaders.Uint("number1", uint32(j.on.First)), shaders.Uint("number2", uint32(j.on.Second)))
}

// build makes the hash table of the smaller table.
func (j *join) build() (err error) {
	small, attribute := j.second, j.on.Second
	if j.first.n < j.second.n {
		small, attribute = j.first, j.on.First
		j.probe.defines = append(j.probe.defines[:len(j.probe.defines):len(j.probe.defines)], "BUILD_FIRST")
	}
	j.table, err = j.Cuckoo(j.layout, small.tuples, small.n, attribute, BucketsOf(small.n))
	return err
}

// match fills the mask by the hash table.
func (j *join) match() error {
	return j.launch(j.probe, op("join_init", j.larger()), j.larger(), j.uniforms(shaders.Uint("buckets", uint32(j.table.Buckets))), j.first.tuples, j.second.tuples, j.mask,
		j.table.State, j.table.Slots)
}

// compare fills the mask by listing 12: n steps, in each of which n threads compare a block of either table.
func (j *join) compare(n int) error {
	if turns := ((j.first.n + n - 1) / n) * ((j.second.n + n - 1) / n); j.Context.Caps().Software && turns > shaders.MaxTurns {
		return fmt.Errorf("wisconsin: two blocks have %d pairs of tuples, and a loop of a software rasteriser %d turns: take more than %d blocks", turns, shaders.MaxTurns, n)
	}
	size := func(name string, rows int) shaders.Uniform { return shaders.Uint(name, uint32((rows+n-1)/n)) }
	size1, size2 := size("size1", j.first.n), size("size2", j.second.n)
	for shift := range n {
		if err := j.launch(j.blocks, op("compare_partitions", j.larger()), n, j.uniforms(size1, size2, shaders.Uint("shift", uint32(shift)), shaders.Uint("n1", uint32(j.first.n)),
			shaders.Uint("n2", uint32(j.second.n))), j.first.tuples, j.second.tuples, j.mask); err != nil {
			return err
		}
	}
	return nil
}

// place makes places of the mask's first component and gives the number of pairs.
func (j *join) place() error {
	total, err := j.scanner().Exclusive(scan.Uint(primitives.Add), scan.Array{Block: j.mask, N: j.larger(), Stride: 4})
	if err != nil {
		return err
	}
	word, err := j.word(total)
	j.n = int(word)
	return err
}

// allocate makes room for the pairs.
func (j *join) allocate() error {
	words := 2 * j.layout.Words * j.n
	if err := j.fits("the join", words); err != nil {
		return err
	}
	j.out = primitives.New(max(1, words))
	if j.out.N = words; j.n == 0 {
		return nil
	}
	return j.reside(j.out)
}

// fill merges the tuples.
func (j *join) fill() error {
	if j.n == 0 {
		return nil
	}
	return j.launch(j.finish, op("join_finish", j.larger()), j.larger(), j.uniforms(), j.first.tuples, j.second.tuples, j.mask, j.out)
}

// newMask makes the mask: empty where blocks fill it.
func (j *join) newMask(zero bool) error {
	if err := j.fits("the mask of the join", 4*j.larger()); err != nil {
		return err
	}
	if j.mask = primitives.New(max(4, 4*j.larger())); zero {
		j.mask = primitives.Zeros(max(4, 4*j.larger()))
	}
	j.mask.N = 4 * j.larger()
	return j.reside(j.mask)
}

// HashJoin is section 4.6: the pairs of tuples, merged, in the order of the larger table, in host memory. With resident inputs the pairs
// stay on the device, and take, when set, gets them. builds gets the hash table.
func (g *GPU) HashJoin(ctx context.Context, first, second Input, on Keys, take func(primitives.Vector) error, builds func(*Cuckoo) error) ([]uint32, error) {
	return g.join(ctx, first, second, on, take, func(j *join) error {
		partition, build := cuckooKernels(j.layout)
		return inTurn(
			func() error { return j.prepare(partition, build, j.finish) },
			func() error { return j.load(first, second, false) },
			func() error { return j.part(partitioning, j.build) },
			func() error {
				if builds == nil {
					return nil
				}
				return builds(j.table)
			},
			func() error { return j.part(initPass, j.match) },
		)
	})
}

// BlockJoin is listing 12, with so many blocks of either table. The text describes it and did not measure it.
func (g *GPU) BlockJoin(ctx context.Context, first, second Input, on Keys, blocks int, take func(primitives.Vector) error) ([]uint32, error) {
	if blocks < 1 {
		return nil, fmt.Errorf("wisconsin: a join of %d blocks", blocks)
	}
	return g.join(ctx, first, second, on, take, func(j *join) error {
		return inTurn(
			func() error { return j.prepare(j.blocks, j.finish) },
			func() error { return j.load(first, second, true) },
			func() error { return j.part(initPass, func() error { return j.compare(blocks) }) },
		)
	})
}

// load makes room for the tables and copies them.
func (j *join) load(first, second Input, zero bool) error {
	for _, in := range []Input{first, second} {
		if err := j.fits("a table", len(in.Words)); err != nil {
			return err
		}
	}
	j.first, j.second = relation{j.memory(first), first.N}, relation{j.memory(second), second.N}
	return j.part(initMemory, func() error {
		return inTurn(
			func() error { return j.reside(j.first.tuples, j.second.tuples) },
			func() error { return j.newMask(zero) },
			func() error { return j.copyTo(first, j.first.tuples) },
			func() error { return j.copyTo(second, j.second.tuples) },
		)
	})
}

// join is what all joins have in common: match fills the mask.
func (g *GPU) join(ctx context.Context, first, second Input, on Keys, take func(primitives.Vector) error, match func(*join) error) (result []uint32, err error) {
	if first.Layout != second.Layout {
		return nil, fmt.Errorf("wisconsin: tables of %s and of %s tuples are not joined", first.Layout.Name, second.Layout.Name)
	}
	err = g.query(ctx, func() error {
		j := g.newJoin(first.Layout, on)
		return inTurn(
			func() error { return match(j) },
			func() error { return j.part(scanning, j.place) },
			func() error {
				return j.part(resultSet, func() error {
					if first.Resident.None() && second.Resident.None() {
						result = make([]uint32, 2*j.layout.Words*j.n)
					}
					return nil
				})
			},
			func() error { return j.part(resultMemory, j.allocate) },
			func() error {
				return j.part(finishPass, func() error {
					if err := j.fill(); err != nil || len(result) == 0 {
						return err
					}
					return g.GL.Read(j.out.Block, result)
				})
			},
			func() error { return g.hand(take, j.out) },
		)
	})
	return result, err
}

// Join is its sequential form: a hash table of the smaller table, a mask over the larger one, then the pairs.
func (t *Table) Join(second *Table, on Keys) ([]uint32, error) {
	small, large, attribute := second, t, on.First
	if t.N < second.N {
		small, large, attribute = t, second, on.Second
	}
	table, err := newSequential(small, on.First+on.Second-attribute)
	if err != nil {
		return nil, err
	}
	mask, n := make([]int32, large.N), 0
	for i := range mask {
		if row, ok := table.find(uint32(large.number(i, attribute))); ok {
			mask[i] = int32(row) + 1
			n++
		}
	}
	width := t.Layout.Words
	result, at := make([]uint32, 2*width*n), 0
	for i, row := range mask {
		if row == 0 {
			continue
		}
		a, b := large.tuple(i), small.tuple(int(row-1))
		if large != t {
			a, b = b, a
		}
		copy(result[at:], a)
		copy(result[at+width:], b)
		at += 2 * width
	}
	return result, nil
}

// merged is the layout of joined tuples: attributes are those of the first table.
func merged(l Layout) Layout {
	l.Words *= 2
	return l
}

// Integrated is listing 13 as section 5.2.5 has it. It selects from the larger table, joins the result with the smaller one, and returns
// the maximum of [MaxInt] over the pairs. Without pairs it is the lowest int.
func (g *GPU) Integrated(ctx context.Context, first, second Input) (result float64, err error) {
	result = math.MinInt32
	err = g.query(ctx, func() error {
		s := g.newSelection(first, Listing13(), Copied)
		if err := s.run(func(int) error { return nil }, func() error { return nil }); err != nil {
			return err
		}
		j := g.newJoin(first.Layout, integratedOn)
		partition, build := cuckooKernels(j.layout)
		if err := inTurn(
			func() error { return j.prepare(partition, build, j.finish) },
			func() error {
				return j.load(Input{Table: &Table{Layout: first.Layout, N: s.n}, Resident: s.out}, second, false)
			},
			func() error { return j.part(partitioning, j.build) },
			func() error { return j.part(initPass, j.match) },
			func() error { return j.part(scanning, j.place) },
			func() error { return j.part(resultMemory, j.allocate) },
			func() error { return j.part(finishPass, j.fill) },
		); err != nil || j.n == 0 {
			return err
		}
		all := &Table{Layout: merged(j.layout), N: j.n}
		result, err = g.Aggregation(ctx, MaxInt, Input{Table: all, Resident: j.out})
		return err
	})
	return result, err
}

// Integrated is its sequential form.
func (t *Table) Integrated(second *Table) (float64, error) {
	selected := t.Selection(Listing13())
	pairs, err := (&Table{t.Layout, len(selected) / t.Layout.Words, selected}).Join(second, integratedOn)
	if err != nil {
		return 0, err
	}
	all := &Table{merged(t.Layout), len(pairs) / (2 * t.Layout.Words), pairs}
	return all.Aggregation(MaxInt), nil
}
