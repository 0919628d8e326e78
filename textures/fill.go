package textures

import (
	"math/bits"
	"unsafe"

	"github.com/stencildb/stencildb/table"
)

// fill returns what writes the texels from..to-1 of an image, of so many records and words; several goroutines call it.
func (r Ref) fill(records, words int) func(out unsafe.Pointer, from, to int) {
	for _, col := range r.Cols {
		if col >= 0 {
			r.Chunk.Segments[col].AwaitCodes()
		}
	}
	seg := r.Chunk.Segments[max(0, r.Cols[0])]
	switch r.Form {
	case LowWords, HighWords:
		part := int(r.Form - LowWords)
		return func(out unsafe.Pointer, from, to int) {
			copyCodes(out, seg, part, records*from, min(records*to, r.Chunk.Rows))
		}
	case ValidBits: // a line of fewer than 32 records is a texel; its records lie in one word of the bitmap
		return func(out unsafe.Pointer, from, to int) {
			for i, bits := 0, unsafe.Slice((*uint32)(out), to-from); i < len(bits); i++ {
				row := (from + i) * records
				bits[i] = uint32(seg.Valid[row/64] >> (row % 64))
			}
		}
	}
	// Floats are put together in a buffer that the core's cache holds, for the ring's
	// memory is not to be written in patches.
	return func(out unsafe.Pointer, from, to int) {
		var texels [4096]float32
		all := unsafe.Slice((*float32)(out), (to-from)*words)
		for a, step := from, len(texels)/words; a < to; a += step {
			b := min(a+step, to)
			some := texels[:(b-a)*words]
			for w := range words {
				r.word(some, w, words, a, b)
			}
			copy(all[(a-from)*words:], some)
		}
	}
}

// word writes one limb of rows from..to-1, which is word w of each texel of so many.
func (r Ref) word(out []float32, w, words, from, to int) {
	col, limb := r.Cols[0], w
	switch {
	case r.Packed:
		col, limb = r.Cols[w], 0
	case r.High:
		limb = 2
	}
	if out = out[w:]; col < 0 {
		for i := 0; i < len(out); i += words {
			out[i] = 0
		}
		return
	}
	seg := r.Chunk.Segments[col]
	switch c := seg.Codes; {
	case c.U8 != nil:
		limbs(out, words, c.U8[from:to], limb)
	case c.U16 != nil:
		limbs(out, words, c.U16[from:to], limb)
	case c.U32 != nil:
		limbs(out, words, c.U32[from:to], limb)
	default:
		limbs(out, words, c.U64[from:to], limb)
	}
	eachNull(seg, from, to, func(i int) { out[words*i] = NullLimb })
}

// limbs converts a limb of each code.
func limbs[T uint8 | uint16 | uint32 | uint64](out []float32, step int, codes []T, limb int) {
	if step == 1 && limb == 0 {
		out = out[:len(codes)]
		for i, c := range codes {
			out[i] = float32(int32(uint32(c) & limbMask))
		}
		return
	}
	shift := LimbBits * limb
	for i, c := range codes {
		out[i*step] = float32(int32(uint64(c) >> shift & limbMask))
	}
}

const limbMask = 1<<LimbBits - 1

// fill writes the depths of rows from..to-1, above a stencil value of 0.
func (t TargetRef) fill(out unsafe.Pointer, from, to int) {
	seg := t.Chunk.Segments[t.Col]
	seg.AwaitCodes()
	words, one := unsafe.Slice((*uint32)(out), to-from), uint32(DepthOfCode(seg, 0))
	switch c := seg.Codes; {
	case c.U8 != nil:
		depths(words, c.U8[from:to], one)
	case c.U16 != nil:
		depths(words, c.U16[from:to], one)
	case c.U32 != nil:
		depths(words, c.U32[from:to], one)
	default:
		depths(words, c.U64[from:to], one)
	}
	eachNull(seg, from, to, func(i int) { words[i] = 0 })
}

func depths[T uint8 | uint16 | uint32 | uint64](out []uint32, codes []T, one uint32) {
	for i, c := range codes {
		out[i] = (uint32(c) + one) << 8
	}
}

// eachNull calls f with the place, counted from row from, of each NULL in rows
// from..to-1.
func eachNull(s *table.Segment, from, to int, f func(i int)) {
	if s.Valid == nil {
		return
	}
	for at := from; at < to; {
		n := min(64-at%64, to-at) // rows in this word
		missing := ^s.Valid[at/64] >> (at % 64) & (^uint64(0) >> (64 - n))
		for ; missing != 0; missing &= missing - 1 {
			f(at - from + bits.TrailingZeros64(missing))
		}
		at += n
	}
}

// fill writes codes or validity bits of rows from..to-1 of the chunk.
func (b Block) fill(out unsafe.Pointer, from, to int) {
	seg := b.Chunk.Segments[b.Col]
	seg.AwaitCodes()
	if b.Content == Validity {
		words := seg.Valid[from/64 : (to+63)/64]
		copy(unsafe.Slice((*uint64)(out), len(words)), words)
		return
	}
	copyCodes(out, seg, b.Part, from, to)
}

// copyCodes writes the codes of rows from..to-1 as they are stored, of those of 64 bits a
// part of 32.
func copyCodes(out unsafe.Pointer, seg *table.Segment, part, from, to int) {
	n := to - from
	switch c := seg.Codes; {
	case c.U8 != nil:
		copy(unsafe.Slice((*uint8)(out), n), c.U8[from:to])
	case c.U16 != nil:
		copy(unsafe.Slice((*uint16)(out), n), c.U16[from:to])
	case c.U32 != nil:
		copy(unsafe.Slice((*uint32)(out), n), c.U32[from:to])
	default:
		words, shift := unsafe.Slice((*uint32)(out), n), PartBits*part&63
		for i, v := range c.U64[from:to] {
			words[i] = uint32(v >> shift)
		}
	}
}
