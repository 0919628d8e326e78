// Package sum is lesson 9: SUM bit by bit, and why that was slow.
package sum

import (
	"fmt"
	"time"

	"github.com/stencildb/stencildb/demos/draw"
	"github.com/stencildb/stencildb/demos/lesson"
	"github.com/stencildb/stencildb/internal/numbers"
	"github.com/stencildb/stencildb/pass"
	"github.com/stencildb/stencildb/shaders"
	"github.com/stencildb/stencildb/textures"
)

// testBit counts the records whose code has bit i set, among those that pass a
// stencil test. The fragment program discards the others.
func testBit(s *lesson.Stage, c lesson.Column, i int, test pass.Stencil) *pass.Pass {
	return &pass.Pass{Op: pass.TestBit{Attribute: pass.Attribute{Name: c.Name, Col: c.Index}, Bit: i}, Target: s.Target,
		Program:  shaders.Load("testbit.frag", "CHANNEL r"),
		Textures: []textures.Ref{c.Texture},
		Uniforms: []shaders.Uniform{shaders.Float("scale", 1/float32(uint64(2)<<i))},
		Stencil:  test,
		Count:    true}
}

// accumulator is the paper's routine 4.6. The sum of the codes is the sum of count(bit i) * 2^i, and each of
// the n records has its code plus Min. No count depends on another, so all are in flight before the first is
// waited for.
func accumulator(s *lesson.Stage, c lesson.Column, n uint64, test pass.Stencil, look func(i int, count uint64)) uint64 {
	counts := make([]pass.Count, c.Segment.Bits)
	for i := range counts {
		counts[i] = s.Start(testBit(s, c, i, test))
	}
	sum := n * uint64(c.Min())
	for i, f := range counts {
		count := s.Wait(f)
		look(i, count)
		sum += count << i
	}
	return sum
}

// Run is the program of the lesson.
func Run(s *lesson.Stage) {
	distance := s.Column("distance")
	rows := uint64(s.Table.Rows())
	s.Say("Nothing on the graphics pipeline of 2004 adds up fragments; it can only count them. But a number is a sum of bits. This fragment program keeps the records that have bit i:")
	s.Program(testBit(s, distance, 0, pass.Stencil{}))
	s.Say("Codes of distance have %d bits: %d passes. Each count is worth 2^i:", distance.Segment.Bits, distance.Segment.Bits)
	s.Row("bit   flights that have it     count * 2^i")
	var bars draw.Bars
	sum := accumulator(s, distance, rows, pass.Stencil{}, func(i int, count uint64) {
		s.Row("%3d %22s %15s", i, numbers.Grouped(count), numbers.Grouped(count<<i))
		bars = append(bars, draw.Bar{Label: fmt.Sprintf("bit %d", i), To: float64(count << i), Text: fmt.Sprintf("%s x %d", numbers.Grouped(count), 1<<i)})
	})
	s.Row("and %s records times the smallest distance, %d: %s in all", numbers.Grouped(rows), distance.Min(), numbers.Grouped(sum))
	s.Agree(sum, "SELECT SUM(distance) FROM flights")

	s.Say("How long does that take, and how long does an addition? The paper measured 20 times as long on its GPU as on its CPU. Here (%s):", s.Device())
	codes := make([]uint16, rows)
	for i, c := range distance.Codes() {
		codes[i] = uint16(c)
	}
	var loop uint64
	took := s.Times(func() { accumulator(s, distance, rows, pass.Stencil{}, func(int, uint64) {}) }, func() { loop = add(codes) })
	bitByBit, plain := took[0].Median, took[1].Median
	table := func(what string, passes int, took time.Duration) {
		s.Row("%-46s %6d %12s %14.0f", what, passes, lesson.Milliseconds(took), float64(bitByBit)/float64(max(took, 1)))
	}
	s.Row("%-46s %6s %12s %14s", "", "passes", "time", "times as fast")
	table("TestBit, a pass a bit", distance.Segment.Bits, bitByBit)
	table("a loop in Go, one addition a record", 0, plain)
	if want := sum - rows*uint64(distance.Min()); loop != want {
		s.Fail(fmt.Errorf("the loop adds up to %d, the passes to %d", loop, want))
	}
	for _, b := range []struct{ name, what string }{
		{"cpu", "vector instructions, all cores"}, {"fused", "a fragment adds up many records"}, {"compute", "popcount on bit planes"}} {
		a := s.Backend(b.name, "SELECT SUM(distance) FROM flights")[0]
		table("backend "+b.name+": "+b.what, a.Passes, a.Took)
		if a.N != sum {
			s.Fail(fmt.Errorf("backend %s adds up to %d, the passes to %d", b.name, a.N, sum))
		}
	}
	bits := distance.Segment.Bits
	s.Say("Count the work. TestBit reads every texel once a bit: %d * %s texels of 4 bytes are %.1f MB, with a multiplication, a fraction, a comparison and a discard for each of %s fragments. "+
		"The loop reads 2 bytes a record, once: %.1f MB and %s additions, of which a vector instruction does 16 at a time.",
		bits, numbers.Grouped(rows), float64(bits)*float64(rows)*4/1e6, numbers.Grouped(uint64(bits)*rows), float64(rows)*2/1e6, numbers.Grouped(rows))
	s.Say("Look at the picture: bit 9 alone makes a quarter of the sum, bit 0 less than a thousandth. Each costs a pass over every record.")
	s.Picture("shares", &draw.Sheet{Title: "SUM(distance) as a sum of counts", Columns: 1, Width: 900, Panels: []draw.Panel{
		{Title: "What each bit adds", Draw: bars, Note: fmt.Sprintf("The rest is %s times %d, the smallest distance.", numbers.Grouped(rows), distance.Min())}}})
}

// add is the addition that the paper compares with.
func add(codes []uint16) (sum uint64) {
	for _, c := range codes {
		sum += uint64(c)
	}
	return sum
}
