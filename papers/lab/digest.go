package lab

import (
	"fmt"

	"github.com/stencildb/stencildb/pass"
	"github.com/stencildb/stencildb/primitives"
)

// Digest stands for an output: two sums of mixed words. Outputs that differ hardly ever have the same.
type Digest [2]uint32

func (d Digest) String() string { return fmt.Sprintf("%08x%08x", d[0], d[1]) }

// The constants of the mixing: those of MurmurHash3's 32-bit finaliser and of the golden ratio.
const (
	golden = 0x9e3779b9
	first  = 0x85ebca6b
	second = 0xc2b2ae35
)

// Ordered is the digest of words in their order.
func Ordered(words []uint32) (d Digest) { return digest(words, golden) }

// Unordered is the digest of words in any order.
func Unordered(words []uint32) (d Digest) { return digest(words, 0) }

func digest(words []uint32, place uint32) (d Digest) {
	for i, x := range words {
		y := x + uint32(i+1)*place
		d[0] += (y ^ y>>16) * first
		d[1] += (y^y>>13)*second ^ y>>7
	}
	return d
}

// DigestOf is the digest of a vector on the device, [Ordered] or [Unordered]; it is to be called on the GL thread.
func DigestOf(r pass.Runner, shapes primitives.Shapes, v primitives.Vector, ordered bool) (d Digest, err error) {
	y := "x"
	if ordered {
		y = fmt.Sprintf("(x + (i + 1u) * %du)", uint32(golden))
	}
	mixed := primitives.New(v.N)
	for half, expr := range []string{fmt.Sprintf("(%s ^ %[1]s >> 16) * %du", y, uint32(first)), fmt.Sprintf("(%s ^ %[1]s >> 13) * %du ^ %[1]s >> 7", y, uint32(second))} {
		sum := primitives.New(1)
		if err := primitives.Map(r, shapes, primitives.Expr(expr), mixed, v); err != nil {
			return d, err
		}
		if err := primitives.Reduce(r, shapes, primitives.Add, mixed, sum); err != nil {
			return d, err
		}
		words, err := sum.Read(r)
		if err != nil {
			return d, err
		}
		d[half] = words[0]
	}
	return d, nil
}
