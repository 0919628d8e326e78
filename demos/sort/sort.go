// Package sort is lesson 11: from a sorting network to a radix sort.
package sort

import (
	"fmt"
	"math/bits"
	"slices"

	"github.com/stencildb/stencildb/demos/draw"
	"github.com/stencildb/stencildb/demos/lesson"
	"github.com/stencildb/stencildb/internal/numbers"
)

// exchange is one pass of Batcher's bitonic network: each code looks at its partner, at the distance of one bit, and of the
// two the smaller one stays in front; in every other run of the given length the larger one does.
func exchange(codes []uint64, run, distance int) {
	for i := range codes {
		if j := i ^ distance; i < j && (codes[i] > codes[j]) == (i&run == 0) {
			codes[i], codes[j] = codes[j], codes[i]
		}
	}
}

// network sorts codes, as many as a power of two; level is told of each length of sorted runs.
func network(codes []uint64, level func(run, passes int)) {
	passes := 0
	for run := 2; run <= len(codes); run *= 2 {
		for distance := run / 2; distance > 0; distance /= 2 {
			exchange(codes, run, distance)
			passes++
		}
		level(run, passes)
	}
}

// digitBits is the width of a digit here; backend compute takes 8 bits.
const digitBits = 4

// split is one pass of a radix sort: it counts the codes by a digit, adds the counts up, and puts each code
// behind those with smaller digits, in the order in which they came.
func split(codes []uint64, digit int) (out []uint64, counts [1 << digitBits]int) {
	of := func(c uint64) uint64 { return c >> (digit * digitBits) % (1 << digitBits) }
	for _, c := range codes {
		counts[of(c)]++
	}
	var next [1 << digitBits]int
	for d := 1; d < len(next); d++ {
		next[d] = next[d-1] + counts[d-1]
	}
	out = make([]uint64, len(codes))
	for _, c := range codes {
		out[next[of(c)]] = c
		next[of(c)]++
	}
	return out, counts
}

// descents is how many codes are smaller than the one before them: 0 where all are in order.
func descents(codes []uint64) (n int) {
	for i := 1; i < len(codes); i++ {
		if codes[i] < codes[i-1] {
			n++
		}
	}
	return n
}

// Run is the program of the lesson.
func Run(s *lesson.Stage) {
	distance := s.Column("distance")
	codes := distance.Codes()
	size := 1 << bits.Len(uint(len(codes)-1))
	padded := append(slices.Clone(codes), slices.Repeat([]uint64{1 << distance.Segment.Bits}, size-len(codes))...)
	s.Say("A network. A fragment program writes its own texel and no other, so a pass cannot send a record anywhere. But it can fetch a partner and keep the smaller or the larger of the two. "+
		"%s codes of distance, filled up to %s, go through such passes; each level makes runs twice as long:", numbers.Grouped(len(codes)), numbers.Grouped(size))
	steps := []step{{"before", slices.Clone(codes)}}
	level := 0
	network(padded, func(run, passes int) {
		if level++; level%3 == 0 || run == size {
			s.Row("level %2d, %3d passes: runs of %7s, %7s descents", level, passes, numbers.Grouped(run), numbers.Grouped(descents(padded)))
		}
		if run == 1<<15 || run == size {
			steps = append(steps, step{fmt.Sprintf("network, %d passes", passes), slices.Clone(padded[:len(codes)])})
		}
	})
	s.Say("Level k has k passes, which makes %d * %d / 2, and each looks at every record. The record of a given place can be read off; lesson 8 found it without a sort:", level, level+1)
	s.Agree(padded[len(codes)-100]+uint64(distance.Min()), "SELECT kth_largest(distance, 100) FROM flights")

	s.Say("A radix sort. A compute shader may write anywhere, so a record can go straight to its place among the others, if it knows how many go before it. "+
		"That is a count and a prefix sum, digit by digit, the lowest first. Of %d bits each pass takes %d:", distance.Segment.Bits, digitBits)
	sorted := codes
	for digit := range (distance.Segment.Bits + digitBits - 1) / digitBits {
		var counts [1 << digitBits]int
		sorted, counts = split(sorted, digit)
		s.Row("digit %d: %2d different, the most frequent %7s times; %7s descents are left", digit, used(counts[:]), numbers.Grouped(slices.Max(counts[:])), numbers.Grouped(descents(sorted)))
		if digit == 1 {
			steps = append(steps, step{"radix, 2 passes", slices.Clone(sorted)})
		}
	}
	below, _ := slices.BinarySearch(sorted, distance.Code(1000))
	s.Say("What is in order answers by its places: as many records come before code %d as a predicate counts.", distance.Code(1000))
	s.Agree(uint64(below), "SELECT COUNT(*) FROM flights WHERE distance < 1000")

	s.Say("ORDER BY does both: backend classic the network, in fragment programs, with the number of each record beside its key; backend compute the radix sort, 8 bits a pass (%s):", s.Device())
	s.Row("%-66s %18s %18s", "", "classic", "compute")
	s.Row("%-66s %6s %11s %6s %11s", "", "passes", "time", "passes", "time")
	queries := []string{"SELECT distance FROM flights ORDER BY distance LIMIT 1 OFFSET 100000"}
	classic, compute := s.Backend("classic", queries...), s.Backend("compute", queries...)
	for i, q := range queries {
		a, b := classic[i], compute[i]
		s.Row("%-66s %6d %11s %6d %11s", q, a.Passes, lesson.Milliseconds(a.Took), b.Passes, lesson.Milliseconds(b.Took))
		if a.N != b.N || a.N != sorted[100_000]+uint64(distance.Min()) {
			s.Fail(fmt.Errorf("%s: classic has %d, compute %d, the program here %d", q, a.N, b.N, sorted[100_000]))
		}
	}
	s.Say("Look at the picture: the network's runs are stripes that go up and down until the last level merges them. After two digits of the radix sort nothing looks sorted, but records with the same upper digits are in order among themselves.")
	s.Picture("runs", picture(s, steps))
}

func used(counts []int) (n int) {
	for _, c := range counts {
		if c > 0 {
			n++
		}
	}
	return n
}

// step is the codes after some passes.
type step struct {
	title string
	codes []uint64
}

// picture shows codes where they lie, a pixel a record.
func picture(s *lesson.Stage, steps []step) *draw.Sheet {
	sheet := &draw.Sheet{Title: "Codes of distance on their way", Columns: 2, Width: 512}
	for _, st := range steps {
		sheet.Panels = append(sheet.Panels, draw.Panel{Title: st.title, Draw: draw.Records{Shape: s.Target.Shape, Colors: draw.Ramp(st.codes)},
			Legend: []draw.Entry{{Index: draw.Ink, Text: numbers.Grouped(descents(st.codes)) + " descents"}}})
	}
	return sheet
}
