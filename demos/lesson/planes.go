package lesson

import (
	"fmt"

	"github.com/stencildb/stencildb/textures"
)

// Planes are the bit planes of an attribute, read back from the device. Words of the
// same index, of planes and of other bitmaps, are of the same 32 records.
type Planes struct {
	Column
	Min  int64
	Bits [][]uint32 // plane i has bit i of the codes
	Rows []uint32   // set where there is a record: the last group of them is partly filled
	Kept int        // words that the device keeps of a plane: whole runs

	records int
}

// Planes makes the bit planes of an attribute on the device and reads them back.
func (s *Stage) Planes(c Column) Planes {
	n := s.Table.Rows()
	units := textures.Units(n)
	p := Planes{Column: c, Min: c.Min(), Bits: make([][]uint32, c.Segment.Bits), Rows: make([]uint32, 4*units), records: n}
	for r := range n {
		unit, component, bit := textures.PlaneBit(r)
		p.Rows[4*unit+component] |= 1 << bit
	}
	b := textures.Block{Chunk: s.Table.Chunks[0], Col: c.Index, Content: textures.Planes, Window: textures.Window{Rows: n}}
	words := make([]uint32, b.Bytes()/4)
	if all := uint32(1)<<c.Segment.Bits - 1; b.Stored() != all {
		s.Fail(fmt.Errorf("lesson: of the planes of %s only %b are stored", c.Name, b.Stored()))
	}
	s.try(func() error { return s.Runner.Store().Reside(b) })
	s.try(func() error { return s.Runner.Read(b, words) })
	p.Kept = len(words) / len(p.Bits)
	for i := range p.Bits {
		p.Bits[i] = make([]uint32, 4*units)
		for u := range units {
			copy(p.Bits[i][4*u:4*u+4], words[textures.PlaneWord(u, i, len(p.Bits)):])
		}
	}
	return p
}

// Records returns a bitmap as one truth value a record.
func (p Planes) Records(bitmap []uint32) []bool {
	out := make([]bool, p.records)
	for r := range out {
		unit, component, bit := textures.PlaneBit(r)
		out[r] = bitmap[4*unit+component]>>bit&1 == 1
	}
	return out
}
