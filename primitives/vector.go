package primitives

import (
	"fmt"

	"github.com/stencildb/stencildb/pass"
	"github.com/stencildb/stencildb/shaders"
	"github.com/stencildb/stencildb/textures"
)

// Vector is the first N words (32-bit unsigned) of a storage block. The zero Vector
// is none.
type Vector struct {
	Block textures.Block
	N     int
}

// New returns a vector of n words of scratch memory, undefined at first.
func New(n int) Vector { return Of(&textures.Scratch{Words: n}, n) }

// Zeros returns a vector of n words of scratch memory that are 0 at first.
func Zeros(n int) Vector { return Of(&textures.Scratch{Words: n, Zero: true}, n) }

// FromSlice returns a vector of scratch memory that holds words; they are copied to
// the device when the vector is first used.
func FromSlice(words []uint32) Vector {
	return Of(&textures.Scratch{Words: len(words), Init: words}, len(words))
}

// Of returns the first n words of scratch memory.
func Of(s *textures.Scratch, n int) Vector { return Vector{textures.ScratchBlock(s), n} }

// First returns the first n elements of v.
func (v Vector) First(n int) Vector { return Vector{v.Block, n} }

// None reports the zero Vector.
func (v Vector) None() bool { return v.Block.None() }

// Read waits for the passes that write v and copies it back.
func (v Vector) Read(r pass.Runner) ([]uint32, error) {
	words := make([]uint32, v.N)
	return words, r.Read(v.Block, words)
}

// Operator is an associative operator on 32-bit words.
type Operator struct {
	Name string // for people
	// Expr is the operator applied to uints a and b, in GLSL: "a + b".
	Expr string
	// Identity is a constant with Identity op x = x op Identity = x: "0u".
	Identity string
	// Commutative says that a op b = b op a, which makes Reduce faster.
	Commutative bool
}

// Operators that are met often. Add wraps at 2^32.
var (
	Add = Operator{"add", "a + b", "0u", true}
	Min = Operator{"min", "min(a, b)", "0xffffffffu", true}
	Max = Operator{"max", "max(a, b)", "0u", true}
	Or  = Operator{"or", "a | b", "0u", true}
	And = Operator{"and", "a & b", "0xffffffffu", true}
)

// Func is a function of an element, in GLSL: of uint x, its value, and uint i, its
// index (from 0).
type Func struct {
	Expr string // "x >> c0 & 1u"
	// Constants are uints c0, c1, ... of the expression; changing them needs no new
	// program.
	Constants []uint32
}

// Expr is a Func without constants.
func Expr(text string) Func { return Func{Expr: text} }

// declare returns the #define CONSTANTS of functions that share constants.
func declare(constants []uint32) string {
	text := "CONSTANTS"
	for i := range constants {
		text += fmt.Sprintf(" uniform uint c%d;", i)
	}
	return text
}

func uniformsOf(constants []uint32) []shaders.Uniform {
	var u []shaders.Uniform
	for i, c := range constants {
		u = append(u, shaders.Uint(fmt.Sprintf("c%d", i), c))
	}
	return u
}

// when is a define, where it holds.
func when(holds bool, define string) []string {
	if holds {
		return []string{define}
	}
	return nil
}

// fits checks the sizes of a call's vectors: no longer than their blocks and what the
// device can bind.
func (d Shapes) fits(verb string, vectors ...Vector) error {
	for _, v := range vectors {
		switch {
		case v.N < 0 || 4*int64(v.N) > v.Block.Bytes():
			return fmt.Errorf("primitives: %s: a vector of %d words in a block of %d bytes", verb, v.N, v.Block.Bytes())
		case v.N > d.MaxWords:
			return fmt.Errorf("primitives: %s: a vector of %d words, a storage block of the device holds %d", verb, v.N, d.MaxWords)
		}
	}
	return nil
}

// atLeast checks that v holds n words.
func atLeast(verb, what string, v Vector, n int) error {
	if v.N < n {
		return fmt.Errorf("primitives: %s: %s has %d words, needed are %d", verb, what, v.N, n)
	}
	return nil
}

// Op is a dispatch of a primitive: the verb with its arguments, and what it goes over.
type Op struct{ Verb, Over string }

// String implements pass.Op.
func (o Op) String() string { return o.Verb }

// Counts implements pass.Op.
func (o Op) Counts() string { return o.Over }

// step is one dispatch of a primitive.
type step struct {
	name     string
	counts   string
	program  shaders.Source
	uniforms []shaders.Uniform
	groups   [2]int
	blocks   []textures.Block
}

func (s step) run(r pass.Runner) error {
	_, err := r.Run(&pass.Pass{Op: Op{s.name, s.counts}, Program: s.program, Uniforms: s.uniforms,
		Dispatch: &pass.Dispatch{Groups: s.groups, Blocks: s.blocks}})
	return err
}

// count is a uniform that holds a number of things.
func count(name string, n int) shaders.Uniform { return shaders.Uint(name, uint32(n)) }
