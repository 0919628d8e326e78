package textures

import (
	"testing"

	"github.com/stencildb/stencildb/table"
)

// BenchmarkPackRun makes the planes of codes of 19 bits in 32, on one core.
func BenchmarkPackRun(b *testing.B) {
	codes := make([]uint32, 32*runRows)
	for i := range codes {
		codes[i] = uint32(i) * 2654435761 >> 13
	}
	seg := &table.Segment{Codes: table.Codes{U32: codes}, Max: 1<<19 - 1, Bits: 19}
	p := &packed{seg: seg, stored: [2]uint32{1<<19 - 1}}
	p.planes[0] = make([]uint32, planeBytes(len(codes), 19)/4)
	for b.Loop() {
		for run := range 32 {
			p.pack(run)
		}
	}
	b.ReportMetric(float64(len(codes))*float64(b.N)/b.Elapsed().Seconds()/1e9, "G-codes/s")
}

// Of a segment whose lower halves are all the same, the upper ones alone are packed, whatever of it is expected.
func TestPackedHalf(t *testing.T) {
	codes := make([]uint64, 2*runRows)
	for i := range codes {
		codes[i] = uint64(i) << 40
	}
	c := &table.Chunk{Rows: len(codes), Segments: []*table.Segment{{Codes: table.Codes{U64: codes}, Max: codes[len(codes)-1], Bits: 56}}}
	s := &Store{Pack: func(int64) bool { return true }, visit: &visit{}, packs: map[*table.Segment]*packed{}}
	for sweep, want := range []bool{false, true, true} {
		for part := range 2 {
			p, _ := s.packedOf(Block{Chunk: c, Part: part, Window: Window{0, len(codes)}}, 0, true)
			if got := p != nil; got != (want && part == 1) {
				t.Errorf("sweep %d: part %d is packed: %v", sweep, part, got)
			}
		}
	}
}
