// Package sort is lesson 11: a sort, from the network to radix.
package sort

import (
	"fmt"
	"math/bits"
	"slices"

	"github.com/stencildb/stencildb/demos/draw"
	"github.com/stencildb/stencildb/demos/lesson"
	"github.com/stencildb/stencildb/internal/numbers"
	"github.com/stencildb/stencildb/pass"
	"github.com/stencildb/stencildb/shaders"
	"github.com/stencildb/stencildb/textures"
)

// keyOf is the part of the program of Pairs that the engine writes for `ORDER BY column`.
const keyOf = `layout(binding = 0) uniform sampler2D codes;
bool selected(uint row) { return true; }
uvec3 keysOf(uint row) { return uvec3(texelFetch(codes, at(row, textureSize(codes, 0).x), 0).r, 0u, 0u); }
`

// network sorts the records by a column of one limb, as classic does. It calls look with the texels after the
// pairs are drawn (runs of 1), and each time that longer runs are sorted. A texel has four words, the first
// the code, the last the row. It returns how many passes exchanged.
func network(s *lesson.Stage, c lesson.Column, look func(run int, texels []uint32)) (passes int) {
	n := s.Table.Rows()
	all := bits.Len(uint(n - 1))
	line := (all + 1) / 2
	from, to := &textures.Temp{Width: 1 << line, Height: 1 << (all - line), Words: 4}, &textures.Temp{Width: 1 << line, Height: 1 << (all - line), Words: 4}
	draw := func(op pass.Op, program shaders.Source, ref textures.Ref, uniforms ...shaders.Uniform) {
		s.Run(&pass.Pass{Op: op, Window: textures.Window{Rows: n}, Color: to, Program: program, Textures: []textures.Ref{ref}, Uniforms: uniforms})
		from, to = to, from
	}
	texels := make([]uint32, 4<<all)
	read := func(run int) {
		s.Fail(s.Runner.ReadTexels(from, texels))
		look(run, texels)
	}
	draw(pass.Pairs{Keys: c.Name}, shaders.Compose("keys.frag", []string{"pairs.frag"}, keyOf), c.Texture,
		shaders.Uint("rows", uint32(n)), shaders.Uint("line", 1<<line))
	read(1)
	for run := 2; run <= 1<<all; run *= 2 {
		for apart := run / 2; apart > 0; apart /= 2 {
			draw(pass.CompareExchange{Run: run, Distance: apart, Records: 1 << all}, shaders.Load("exchange.frag"), textures.Ref{Temp: from},
				shaders.Uint("line", uint32(line)), shaders.Uint("run", uint32(run)), shaders.Uint("apart", uint32(apart)))
			passes++
		}
		read(run)
	}
	return passes
}

// digits is how many bits a radix pass looks at.
const digits = 7

// radix is one pass of a radix sort. It counts the digits, and makes of the counts the place where each digit
// begins. It moves the rows there; those of one digit keep their order.
func radix(codes []uint64, rows []uint32, low int) (out []uint32, first [1 << digits]int) {
	digit := func(row uint32) uint64 { return codes[row] >> low & (1<<digits - 1) }
	for _, row := range rows {
		first[digit(row)]++
	}
	sum := 0
	for d, n := range first { // n is the histogram's count, first the exclusive prefix sum
		first[d] = sum
		sum += n
	}
	out, next := make([]uint32, len(rows)), first
	for _, row := range rows {
		d := digit(row)
		out[next[d]] = row
		next[d]++
	}
	return out, first
}

// byRadix sorts all records by a column.
func byRadix(c lesson.Column, look func(low int, rows []uint32, first [1 << digits]int)) []uint32 {
	codes := c.Codes()
	rows := make([]uint32, len(codes))
	for i := range rows {
		rows[i] = uint32(i)
	}
	for low := 0; low < c.Segment.Bits; low += digits {
		var first [1 << digits]int
		rows, first = radix(codes, rows, low)
		look(low, rows, first)
	}
	return rows
}

// Run is the program of the lesson.
func Run(s *lesson.Stage) {
	distance := s.Column("distance")
	n := s.Table.Rows()
	s.Say("A fragment program says what its own texel becomes; it cannot say where. So it cannot move a record, but it can fetch the record at a distance and keep one of the two. This program does:")
	s.Program(&pass.Pass{Program: shaders.Load("exchange.frag")})
	s.Say("Each texel is a code of distance and the row that has it. Runs of 1 are sorted; passes at the distances r/2, r/4, ... 1 make runs of r of them:")
	var panels []draw.Panel
	var byNetwork []uint32
	passes := network(s, distance, func(run int, texels []uint32) {
		var codes []uint64
		var rows []uint32
		for i := 0; i < len(texels); i += 4 {
			codes, rows = append(codes, uint64(texels[i])), append(rows, texels[i+3])
		}
		byNetwork = rows[:n]
		if j := bits.Len(uint(run)) - 1; j%6 == 0 {
			s.Row("runs of %7s: %2d passes, %3d so far", numbers.Grouped(run), j, j*(j+1)/2)
		}
		if slices.Contains([]int{1, 1 << 14, 1 << 16, 1 << 18}, run) {
			panels = append(panels, draw.Panel{Title: fmt.Sprintf("runs of %s", numbers.Grouped(run)),
				Draw: draw.Records{Shape: textures.Shape{Width: 512, Height: len(codes) / 512, Rows: len(codes)}, Colors: draw.Ramp(codes)}})
		}
	})
	s.Row("Drawn: %d passes over %s texels.", passes, numbers.Grouped(1<<bits.Len(uint(n-1))))
	at := func(rows []uint32, k int) uint64 {
		return uint64(int64(distance.Segment.Codes.At(int(rows[k]))) + distance.Min())
	}
	s.Say("The 100th from the end is the 100th largest:")
	s.Agree(at(byNetwork, n-100), "SELECT kth_largest(distance, 100) FROM flights")
	s.Say("Values alone need no program that compares. Blending keeps the smaller (MIN) or the larger (MAX) of a texel and what is drawn over it, in four components at once. All that a program does is to fetch the partner:")
	s.Program(&pass.Pass{Program: shaders.Load("partner.frag")})
	s.Agree(s.Backend("classic", "SELECT distance FROM flights ORDER BY distance DESC LIMIT 1 OFFSET 99")[0].N, "SELECT kth_largest(distance, 100) FROM flights")
	s.Say("A compute shader may write anywhere: scatter. Codes have %d bits, so two radix passes of up to %d bits do. Each counts the digits, adds the counts up to where each digit begins, and moves:", distance.Segment.Bits, digits)
	sorted := byRadix(distance, func(low int, _ []uint32, first [1 << digits]int) {
		s.Row("bits %2d and up: digits 0, 1, 2, 3 begin at %s, %s, %s, %s", low, numbers.Grouped(first[0]), numbers.Grouped(first[1]), numbers.Grouped(first[2]), numbers.Grouped(first[3]))
	})
	s.Agree(at(sorted, n-100), "SELECT kth_largest(distance, 100) FROM flights")
	if !slices.Equal(sorted, byNetwork) {
		s.Fail(fmt.Errorf("the network and the radix sort order rows differently"))
	}
	s.Row("and all %s rows lie in the order of the network", numbers.Grouped(n))
	s.Say("The same in SQL (%s). Of distance alone classic sorts the values by blending, with delay pairs of key and row. For the first rows nothing else is sorted by compute: it finds the 100th value (lesson 10), and sorts the rows up to it.", s.Device())
	s.Row("%-56s %18s %18s", "", "classic", "compute")
	s.Row("%-56s %6s %11s %6s %11s", "", "passes", "time", "passes", "time")
	queries := []string{"SELECT distance, delay FROM flights ORDER BY distance", "SELECT distance FROM flights ORDER BY distance", "SELECT distance FROM flights ORDER BY distance LIMIT 100"}
	classic, compute := s.Backend("classic", queries...), s.Backend("compute", queries...)
	for i, q := range queries {
		a, b := classic[i], compute[i]
		s.Row("%-56s %6d %11s %6d %11s", q, a.Passes, lesson.Milliseconds(a.Took), b.Passes, lesson.Milliseconds(b.Took))
		if a.N != b.N {
			s.Fail(fmt.Errorf("%s: classic begins with %d, compute with %d", q, a.N, b.N))
		}
	}
	s.Say("Look at the picture: dark is near, light is far. Every other run is sorted the other way round. The last %s texels are filled up: they come behind all flights.", numbers.Grouped(1<<bits.Len(uint(n-1))-n))
	s.Picture("runs", &draw.Sheet{Title: "The network at work: 512 texels a line", Columns: 4, Width: 256, Panels: panels})
}
