package wisconsin

import (
	"context"
	_ "embed"

	"github.com/stencildb/stencildb/papers/scan"
	"github.com/stencildb/stencildb/primitives"
	"github.com/stencildb/stencildb/shaders"
)

//go:embed selection.comp
var selectionText string

// Criteria are those of a selection: in GLSL, of att0, att1 and att2 (unique1, unique2, two), to int res, and in Go.
type Criteria struct {
	Name, Expr string
	Go         func(t *Table, i int) bool
	// Constants are uniforms c0, c1.
	Constants [2]int
}

// selects reports whether listing 8 selects tuple i.
func (t *Table) selects(i int) bool { return t.between(i, 1000, 6000) && t.even(i) }

func (t *Table) between(i int, lo, hi int32) bool {
	return t.number(i, Unique1) > lo && t.number(i, Unique1) < hi
}

func (t *Table) even(i int) bool { return t.number(i, Unique2)%2 == 0 && t.number(i, Two) == 0 }

// Listing8 is the published query's criteria; the bounds are 1000 and 6000, or others.
func Listing8(lo, hi int) Criteria {
	return Criteria{"listing 8", "res &= int(att0 > c0); res &= int(att0 < c1); res &= int(att1 % 2 == 0); res &= int(att2 == 0)",
		func(t *Table, i int) bool { return t.between(i, int32(lo), int32(hi)) && t.even(i) }, [2]int{lo, hi}}
}

// Listing13 is the selection of the integrated query, on the larger table.
func Listing13() Criteria {
	return Criteria{"listing 13", "res &= int(att0 > c0); res &= int(att0 < c1)", func(t *Table, i int) bool { return t.between(i, 1000, 6000) }, [2]int{1000, 6000}}
}

// Constant is listing 8 at a selectivity of 12.5 %, which the published query has over 10,000 tuples: the bounds grow with the table.
func Constant(n int) Criteria { return Listing8(n/10, n/10+max(1, n/2)) }

// Form is how the mask of a selection is kept.
type Form int

// The forms of section 4.4: an array of ints with a copy, which is how the text measured, or one of vectors of two.
const (
	Copied Form = iota
	Vectors
)

// selection is one on the device, between its sections.
type selection struct {
	*GPU
	in                     Input
	c                      Criteria
	form                   Form
	init, masking, finish  kernel
	source, mask, unmasked primitives.Vector
	n                      int // of the result
	out                    primitives.Vector
}

func (g *GPU) newSelection(in Input, c Criteria, form Form) *selection {
	defines := append(in.defines(), "CRITERIA "+c.Expr)
	if form == Vectors {
		defines = append(defines, "VECTOR")
	}
	k := func(step string) kernel {
		return kernel{name: "selection.comp", text: "uniform int c0, c1;\n" + selectionText, defines: append(defines[:len(defines):len(defines)], step)}
	}
	return &selection{GPU: g, in: in, c: c, form: form, init: k("INIT"), masking: k("MASK"), finish: k("FINISH")}
}

func (s *selection) constants() []shaders.Uniform {
	return []shaders.Uniform{shaders.Int("c0", int32(s.c.Constants[0])), shaders.Int("c1", int32(s.c.Constants[1]))}
}

// mark fills the mask.
func (s *selection) mark() error {
	if err := s.copyTo(s.in, s.source); err != nil {
		return err
	}
	return s.launch(s.init, op("select_init", s.in.N), s.in.N, s.constants(), s.source, s.mask)
}

// The parts of the scan of figure 12.
const (
	copyOfMask = "copy of the mask"
	prefixSum  = "prefix sum"
	maskSum    = "mask of the sums"
)

// place makes places of the mask and gives the number of tuples.
func (s *selection) place() (err error) {
	n := s.in.N
	array := scan.Array{Block: s.mask, N: n}
	if s.form == Vectors {
		array = scan.Array{Block: s.mask, N: n, Stride: 2, At: 1}
	} else if err := s.part(copyOfMask, func() error {
		if n == 0 {
			return nil
		}
		return s.Store.Copy(s.unmasked.Block, s.mask.Block)
	}); err != nil {
		return err
	}
	var total primitives.Vector
	if err := s.part(prefixSum, func() (err error) {
		total, err = s.scanner().Inclusive(scan.Uint(primitives.Add), array)
		return err
	}); err != nil {
		return err
	}
	if s.form == Copied {
		if err := s.part(maskSum, func() error {
			return s.launch(s.masking, op("mask", n), n, s.constants(), s.source, s.mask, s.unmasked)
		}); err != nil {
			return err
		}
	}
	word, err := s.word(total)
	s.n = int(word)
	return err
}

// allocate makes room for the result.
func (s *selection) allocate() error {
	words := s.n * s.in.Layout.Words
	if err := s.fits("the result", words); err != nil {
		return err
	}
	s.out = primitives.New(max(1, words))
	if s.out.N = words; s.n == 0 {
		return nil
	}
	return s.reside(s.out)
}

// fill copies the tuples.
func (s *selection) fill() error {
	if s.n == 0 {
		return nil
	}
	return s.launch(s.finish, op("select_finish", s.in.N), s.in.N, s.constants(), s.source, s.mask, s.out)
}

// run runs the sections: set makes the place of the result in host memory, read copies it there.
func (s *selection) run(set func(n int) error, read func() error) error {
	kernels := []kernel{s.init, s.finish}
	if s.form == Copied {
		kernels = append(kernels, s.masking)
	}
	if err := s.prepare(kernels...); err != nil {
		return err
	}
	width := 1 + int(s.form)
	if err := firstOf(s.fits("the table", max(len(s.in.Words), s.in.Resident.N)), s.fits("the mask", width*s.in.N)); err != nil {
		return err
	}
	s.source, s.mask, s.unmasked = s.memory(s.in), primitives.New(max(1, width*s.in.N)), primitives.New(max(1, s.in.N))
	return inTurn(
		func() error {
			return s.part(initMemory, func() error {
				if s.form == Vectors {
					return s.reside(s.source, s.mask)
				}
				return s.reside(s.source, s.mask, s.unmasked)
			})
		},
		func() error { return s.part(initPass, s.mark) },
		func() error { return s.part(scanning, s.place) },
		func() error { return s.part(resultSet, func() error { return set(s.n) }) },
		func() error { return s.part(resultMemory, s.allocate) },
		func() error { return s.part(finishPass, func() error { return inTurn(s.fill, read) }) },
	)
}

// inTurn runs steps up to the first that fails.
func inTurn(steps ...func() error) error {
	for _, f := range steps {
		if err := f(); err != nil {
			return err
		}
	}
	return nil
}

// Selection is section 4.4: the tuples that meet the criteria, in their order, in host memory. With a resident input they stay on the
// device, and take, when set, gets them. A table larger than a storage block comes in parts, each of which is a selection.
func (g *GPU) Selection(ctx context.Context, in Input, c Criteria, form Form, take func(primitives.Vector) error) (result []uint32, err error) {
	err = g.query(ctx, func() error {
		return g.parts(in, max(in.Layout.Words, 1+int(form)), func(_ int, part Input) error {
			s, from := g.newSelection(part, c, form), len(result)
			if err := s.run(func(n int) error {
				if in.Resident.None() {
					result = append(result, make([]uint32, n*in.Layout.Words)...)
				}
				return nil
			}, func() error {
				if len(result) == from {
					return nil
				}
				return g.GL.Read(s.out.Block, result[from:])
			}); err != nil {
				return err
			}
			return g.hand(take, s.out)
		})
	})
	return result, err
}

// Selection is its sequential form: a mask, the size of the result, then the tuples by a counter.
func (t *Table) Selection(c Criteria) []uint32 {
	mask, n := make([]int32, t.N), 0
	for i := range mask {
		if c.Go(t, i) {
			mask[i] = 1
			n++
		}
	}
	result, at := make([]uint32, n*t.Layout.Words), 0
	for i, m := range mask {
		if m != 0 {
			copy(result[at:], t.tuple(i))
			at += t.Layout.Words
		}
	}
	return result
}
