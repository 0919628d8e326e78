package textures

import (
	"math/bits"
	"sync"
	"unsafe"

	"github.com/stencildb/stencildb/table"
)

// packed is the bit planes of a segment in host memory, in the order of blocks of all its rows. What does not fit a device is sent to it by
// each statement, or several times by one. From the second time on it is sent as many bits a row as vary, not as whole bytes.
type packed struct {
	seg    *table.Segment
	stored [2]uint32    // of each part: which planes
	planes [2][]uint32  // and these, those of a run of rows one after the other
	runs   []sync.Once  // which of them are made
	begun  bool         // some are, or will be
	sent   map[int]bool // before that: twice the rows from which on parts were sent, and the part
}

// packedOf is the packed form of a block's segment, and the block's first row there; nil where its codes are sent as they are. It notes
// what is sent now.
func (s *Store) packedOf(b Block, after int, now bool) (p *packed, first int) {
	if s.Pack == nil || s.visit == nil || b.Content == Validity || b.Plus != 0 {
		return nil, 0
	}
	seg, from := b.Chunk.Segments[b.Col].Whole()
	if first = from + b.Window.From + after; first%runRows != 0 {
		return nil, 0
	}
	p, known := s.packs[seg]
	if !known {
		p = &packed{seg: seg, sent: map[int]bool{}}
		planes, codes := seg.Varying(), 8*CodeBytes(seg)*Parts(seg)
		p.stored = [2]uint32{uint32(planes), uint32(planes >> PartBits)}
		n := bits.OnesCount64(planes) // halves of 64 bits are slower to take from the codes than planes to copy
		if codes < 64 && 4*n > 3*codes || !s.Pack(planeBytes(seg.Rows(), n)) {
			p = nil
		}
		s.packs[seg] = p
	}
	if p == nil || p.stored[b.Part] == 0 {
		return nil, 0
	}
	if at := 2*first + b.Part; !p.begun {
		if !p.sent[at] {
			p.sent[at] = now
			return nil, 0
		}
		p.begun, p.runs = true, make([]sync.Once, (seg.Rows()+runRows-1)/runRows)
		for part, stored := range p.stored {
			p.planes[part] = make([]uint32, planeBytes(seg.Rows(), bits.OnesCount32(stored))/4)
		}
	}
	return p, first
}

// sending is how the planes of a block go through the upload ring, from a row on that is the first of a run.
func (p *packed) sending(b Block, first, slot, after int) sending {
	run := int(planeBytes(runRows, bits.OnesCount32(p.stored[b.Part])))
	return sending{key: b.key(), after: after, rows: b.Window.Rows - after, step: slot / run * runRows, bits: bits.OnesCount32(p.stored[b.Part]), grain: runRows, packed: true,
		write: func(slot unsafe.Pointer, base, from, to int) {
			for ; from < to; from += runRows {
				r := (first + from) / runRows
				p.runs[r].Do(func() { p.pack(r) })
				copy(unsafe.Slice((*uint32)(unsafe.Add(slot, (from-base)/runRows*run)), run/4), p.planes[b.Part][r*run/4:])
			}
		}}
}

// pack makes a run of the planes.
func (p *packed) pack(run int) {
	p.seg.AwaitCodes()
	from := run * runRows
	to := min(from+runRows, p.seg.Rows())
	switch c := p.seg.Codes; {
	case c.U16 != nil:
		packRun(p, run, c.U16[from:to], 0)
	case c.U32 != nil:
		packRun(p, run, c.U32[from:to], 0)
	case c.U64 != nil:
		packRun(p, run, c.U64[from:to], 0)
		packRun(p, run, c.U64[from:to], 1)
	default:
		packRun(p, run, c.U8[from:to], 0)
	}
}

// packRun makes a part of a run, in the order of [PlaneRow]: a word has a bit of 32 rows, 256 from each other.
func packRun[T uint8 | uint16 | uint32 | uint64](p *packed, run int, codes []T, part int) {
	stored := p.stored[part]
	n := bits.OnesCount32(stored)
	if n == 0 {
		return
	}
	const words = 4 * UnitsPerRun // of a plane in a run
	out, shift := p.planes[part][run*n*words:][:n*words], PartBits*part
	var full [GroupRows]T
	for at := 0; at < len(codes); at += GroupRows {
		group := &full
		if len(codes)-at >= GroupRows {
			group = (*[GroupRows]T)(codes[at:])
		} else {
			clear(full[copy(full[:], codes[at:]):])
		}
		for r := 0; r < 256; r += 2 {
			var rows [32]uint64 // bits of two words
			for i := range rows {
				rows[i] = uint64(uint32(uint64(group[(i*256+r)%GroupRows])>>(shift&63))) | uint64(group[(i*256+r+1)%GroupRows])>>(shift&63)<<32
			}
			transpose(&rows)
			w := at/32 + r
			for rest := stored; rest != 0; rest &= rest - 1 {
				both := rows[bits.TrailingZeros32(rest)]
				out[w], out[w+1] = uint32(both), uint32(both>>32)
				w += words
			}
		}
	}
}

// transpose exchanges rows and columns of two matrices of 32 x 32 bits, in the lower and the upper halves of the words.
func transpose(m *[32]uint64) {
	for step, mask := 16, uint64(0x0000ffff0000ffff); step > 0; step, mask = step/2, mask^mask<<(step/2) {
		for i := 0; i < 32; i = (i + step + 1) &^ step {
			a, b := &m[i&31], &m[(i+step)&31] // without checks of bounds
			t := (*a>>(step&31) ^ *b) & mask
			*a, *b = *a^t<<(step&31), *b^t
		}
	}
}
