package predicates

import (
	"fmt"
	"math/bits"
	"slices"

	"github.com/stencildb/stencildb/pass"
	"github.com/stencildb/stencildb/plan/predicate"
	"github.com/stencildb/stencildb/table"
	"github.com/stencildb/stencildb/textures"
)

// DepthBoundsExact checks on the device at hand that the depth bounds test counts
// ranges exactly at the boundaries where depth formats round. These are around every power of
// two, up to the widest code of each format. Where it does not, Range has to be two
// comparisons (Limits.DepthBounds false).
func DepthBoundsExact(run pass.Runner, device Limits) (bool, error) {
	device.DepthBounds = true
	for _, format := range []textures.Format{textures.D24S8, textures.D32FS8} {
		codes := boundaryCodes(format.ExactBits())
		top := uint64(codes[len(codes)-1])
		seg := &table.Segment{Type: table.Type{Kind: table.BigInt}, Max: top, Bits: bits.Len64(top), Codes: table.Codes{U32: codes}}
		t := &table.Table{Name: "self-check", Fields: []table.Field{{Name: "x", Type: seg.Type}},
			Chunks: []*table.Chunk{{Rows: len(codes), Segments: []*table.Segment{seg}}}}
		e := New(run, device, t, 0, format, 0, NewSlots())
		for i := range codes {
			lo, hi := i, (7*i+3)%len(codes)
			if lo > hi {
				lo, hi = hi, lo
			}
			ok, err := rangeCounts(e, uint64(codes[lo]), uint64(codes[hi]), uint64(hi-lo+1))
			if err != nil || !ok {
				return false, err
			}
		}
	}
	return true, nil
}

// boundaryCodes lists codes of at most b bits at and beside the powers of two,
// ascending.
func boundaryCodes(b int) []uint32 {
	var list []uint32
	for k := range b + 1 {
		for d := -2; d <= 2; d++ {
			if c := 1<<k + d; c >= 0 && c < 1<<b {
				list = append(list, uint32(c))
			}
		}
	}
	slices.Sort(list)
	return slices.Compact(list)
}

func rangeCounts(e *Evaluator, lo, hi, want uint64) (bool, error) {
	if lo == hi || lo == 0 && hi == e.Segment(0).Max {
		return true, nil // never a Range
	}
	r := &predicate.Range{Col: 0, Lo: lo, Hi: hi, Text: fmt.Sprintf("x BETWEEN %d AND %d", lo, hi)}
	n, err := e.Select(leafOf(r), false).Wait()
	return n == want, err
}
