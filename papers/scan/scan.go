package scan

import (
	_ "embed"
	"fmt"
	"math/bits"

	"github.com/stencildb/stencildb/papers/lab"
	"github.com/stencildb/stencildb/pass"
	"github.com/stencildb/stencildb/primitives"
	"github.com/stencildb/stencildb/shaders"
	"github.com/stencildb/stencildb/textures"
)

var (
	//go:embed scan.comp
	scanText string
	//go:embed add.comp
	addText string
)

// Operator is an associative operator, which need not be commutative, on elements of a type of GLSL: "uint" (also ""), "int" or "float".
type Operator struct {
	primitives.Operator
	Type string
}

// Uint is an operator on uints.
func Uint(o primitives.Operator) Operator { return Operator{o, "uint"} }

// defines are those of a program over the operator.
func (o Operator) defines() []string {
	t, from, to := "uint", "(w)", "(v)"
	switch o.Type {
	case "int":
		t, from, to = "int", "int(w)", "uint(v)"
	case "float":
		t, from, to = "float", "uintBitsToFloat(w)", "floatBitsToUint(v)"
	}
	return []string{"T " + t, "FROM(w) " + from, "TO(v) " + to, "EXPR " + o.Expr, "IDENTITY " + o.Identity}
}

// Array is what is scanned, in place: N elements of a block, one every Stride words (0: each), from word At on.
type Array struct {
	Block      primitives.Vector
	N          int
	Stride, At int
	// Heads, when set, has a word for each element, which begins a segment where it is not 0.
	Heads primitives.Vector

	pairs bool // the flags stand behind the values, in the same block: sums of segments
}

// Over is the whole of a vector.
func Over(v primitives.Vector) Array { return Array{Block: v, N: v.N} }

// Scanner runs scans.
type Scanner struct {
	Run pass.Runner
	// Local is the largest number of threads of a work group, a power of two: max_local_size. A chunk has twice as many elements.
	Local     int
	MaxGroups int    // in one direction
	Paper     string // whose passes they are
}

// most is the largest work group of the text's devices.
const most = 512

// New is a scanner for a device, with work groups of 512 threads, as on the text's devices, if it has such.
func New(d *lab.Device, paper string) Scanner {
	local := int(d.Context.Caps().Limits["MAX_COMPUTE_WORK_GROUP_INVOCATIONS"])
	return Scanner{d.GL, min(most, 1<<(bits.Len(uint(local))-1)), d.Shapes.MaxGroups, paper}
}

// kind is which scan.
type kind string

const (
	reduce    kind = "REDUCE"
	inclusive kind = "INCLUSIVE"
	exclusive kind = "EXCLUSIVE"
	steps     kind = "STEPS"
)

var routines = map[kind]string{reduce: "reduction", inclusive: "inclusive scan", exclusive: "exclusive scan", steps: "Hillis-Steele scan"}

// Reduce is the reduction alone, of chunks and then of their sums: a word, the identity where there are no elements. It knows no segments.
func (s Scanner) Reduce(o Operator, a Array) (primitives.Vector, error) {
	if !a.Heads.None() {
		return primitives.Vector{}, fmt.Errorf("scan: a reduction has no segments: take the total of an inclusive scan")
	}
	for {
		sums, err := s.chunks(reduce, o, a, primitives.Vector{})
		if err != nil || sums.N == 1 {
			return sums, err
		}
		a = Over(sums)
	}
}

// Inclusive makes each element that of all up to and with it, and gives the total: a word, and for segments a second one.
func (s Scanner) Inclusive(o Operator, a Array) (total primitives.Vector, err error) {
	return s.scan(inclusive, o, a)
}

// Exclusive makes each element that of all before it, the identity for the first, and gives the total.
func (s Scanner) Exclusive(o Operator, a Array) (total primitives.Vector, err error) {
	return s.scan(exclusive, o, a)
}

// HillisSteele is Inclusive by the alternative version: a thread an element, two buffers.
func (s Scanner) HillisSteele(o Operator, a Array) (total primitives.Vector, err error) {
	return s.scan(steps, o, a)
}

// scan is listing 5.
func (s Scanner) scan(k kind, o Operator, a Array) (total primitives.Vector, err error) {
	var seen primitives.Vector
	if !a.Heads.None() {
		seen = primitives.New(max(a.N, 1))
	}
	sums, err := s.chunks(k, o, a, seen)
	width := a.sumWords()
	if err != nil || sums.N == width {
		return sums, err
	}
	above := Array{Block: sums, N: sums.N / width, Stride: width}
	if width == 2 {
		above.Heads, above.pairs = sums, true
	}
	if total, err = s.scan(exclusive, o, above); err != nil {
		return total, err
	}
	return total, s.add(k, o, a, sums, seen)
}

// sumWords are the words of a sum: of segments there is a flag, too.
func (a Array) sumWords() int {
	if a.Heads.None() {
		return 1
	}
	return 2
}

// chunkOf is the size of a chunk: a power of two, twice the threads.
func (s Scanner) chunkOf(k kind, n int) (chunk, local int) {
	half := (n >> 1) + n&1
	local = min(1<<bits.Len(uint(max(half, 1)-1)), s.Local)
	if k == steps {
		return local, local
	}
	return 2 * local, local
}

// chunks scans each chunk by itself and gives the sums.
func (s Scanner) chunks(k kind, o Operator, a Array, seen primitives.Vector) (sums primitives.Vector, err error) {
	if err := s.check(a); err != nil {
		return sums, err
	}
	if a.N == 0 {
		a.Block = primitives.New(1)
	}
	chunk, local := s.chunkOf(k, a.N)
	n := max(1, (a.N+chunk-1)/chunk)
	sums = primitives.New(n * a.sumWords())
	defines := append(o.defines(), string(k), fmt.Sprintf("LOCAL %du", local), fmt.Sprintf("CHUNK %du", chunk), fmt.Sprintf("SUM %du", a.sumWords()))
	u := append(a.uniforms(), shaders.Uint("chunks", uint32(n)))
	if !a.Heads.None() {
		defines = append(defines, "SEGMENTED")
		if a.pairs {
			u = append(u, shaders.Uint("head_stride", 2), shaders.Uint("head_at", 1))
		} else {
			u = append(u, shaders.Uint("head_stride", 1), shaders.Uint("head_at", 0))
			if k == exclusive {
				defines = append(defines, "RESET")
			}
		}
	}
	return sums, s.run(routines[k], a.N, "scan.comp", scanText, defines, u, n, a.Block, sums, a.Heads, seen)
}

// add brings what precedes a chunk to its elements.
func (s Scanner) add(k kind, o Operator, a Array, sums, seen primitives.Vector) error {
	chunk, local := s.chunkOf(k, a.N)
	defines := append(o.defines(), fmt.Sprintf("LOCAL %du", local), fmt.Sprintf("SUM %du", a.sumWords()))
	if !a.Heads.None() {
		defines = append(defines, "SEGMENTED")
	}
	return s.run("add sums", a.N, "add.comp", addText, defines, append(a.uniforms(), shaders.Uint("chunk", uint32(chunk))), (a.N+local-1)/local, a.Block, sums, a.Heads, seen)
}

func (a Array) uniforms() []shaders.Uniform {
	return []shaders.Uniform{shaders.Uint("n", uint32(a.N)), shaders.Uint("stride", uint32(max(1, a.Stride))), shaders.Uint("at", uint32(a.At))}
}

// check refuses arrays that their blocks do not hold.
func (s Scanner) check(a Array) error {
	stride := max(1, a.Stride)
	switch {
	case s.Local < 1 || s.Local&(s.Local-1) != 0:
		return fmt.Errorf("scan: work groups of %d threads: the number is a power of two", s.Local)
	case a.N < 0 || a.At < 0 || a.At >= stride || a.N > 0 && (a.N-1)*stride+a.At >= a.Block.N:
		return fmt.Errorf("scan: %d elements, every %d words from word %d on, in a block of %d words", a.N, stride, a.At, a.Block.N)
	case !a.Heads.None() && a.Heads.N < a.N:
		return fmt.Errorf("scan: %d heads for %d elements", a.Heads.N, a.N)
	}
	return nil
}

// run runs a dispatch of so many work groups.
func (s Scanner) run(routine string, n int, name, text string, defines []string, u []shaders.Uniform, groups int, blocks ...primitives.Vector) error {
	size := [2]int{groups, 1}
	if groups > s.MaxGroups {
		size = [2]int{s.MaxGroups, (groups + s.MaxGroups - 1) / s.MaxGroups}
	}
	var list []textures.Block
	for _, v := range blocks {
		list = append(list, v.Block)
	}
	_, err := s.Run.Run(&pass.Pass{Op: lab.Op{Paper: s.Paper, Name: routine, Over: fmt.Sprintf("%d elements", n)}, Program: shaders.ComposeCompute(name, nil, defines, text),
		Uniforms: u, Dispatch: &pass.Dispatch{Groups: size, Blocks: list}})
	return err
}
