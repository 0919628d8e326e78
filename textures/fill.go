package textures

import (
	"math/bits"
	"unsafe"

	"github.com/stencildb/stencildb/table"
)

// fill writes the texels of rows from..to-1 of a float texture. They are put
// together in a buffer that the core's cache holds, for the ring's memory is not
// to be written in patches.
func (r Ref) fill(out []float32, from, to int) {
	var texels [4096]float32
	ch := r.channels()
	step := len(texels) / ch
	for a := from; a < to; a += step {
		b := min(a+step, to)
		some := texels[:(b-a)*ch]
		if r.Packed {
			r.pack(some, a, b)
		} else {
			r.limbs(some, ch, a, b)
		}
		copy(out[(a-from)*ch:], some)
	}
}

// limbs writes one limb or two of each row.
func (r Ref) limbs(out []float32, ch, from, to int) {
	seg := r.Chunk.Segments[r.Cols[0]]
	switch c := seg.Codes; {
	case c.U8 != nil:
		floats(out, c.U8[from:to])
	case c.U16 != nil:
		floats(out, c.U16[from:to])
	case c.U32 != nil && ch == 1:
		floats(out, c.U32[from:to])
	case c.U32 != nil:
		for i, v := range c.U32[from:to] {
			o := out[2*i : 2*i+2]
			o[0], o[1] = float32(int32(v&limbMask)), float32(int32(v>>LimbBits))
		}
	case r.High:
		out = out[:to-from]
		for i, v := range c.U64[from:to] {
			out[i] = float32(int32(v >> (2 * LimbBits)))
		}
	case ch == 1:
		floats(out, c.U64[from:to])
	default:
		for i, v := range c.U64[from:to] {
			o := out[2*i : 2*i+2]
			o[0], o[1] = float32(int32(v&limbMask)), float32(int32(v>>LimbBits&limbMask))
		}
	}
	eachNull(seg, from, to, func(i int) {
		for c := range ch {
			out[i*ch+c] = NullLimb
		}
	})
}

const limbMask = 1<<LimbBits - 1

// floats converts codes of one limb.
func floats[T uint8 | uint16 | uint32 | uint64](out []float32, codes []T) {
	out = out[:len(codes)]
	for i, c := range codes {
		out[i] = float32(int32(c))
	}
}

// pack writes four channels of one limb each.
func (r Ref) pack(out []float32, from, to int) {
	for ch, col := range r.Cols {
		out := out[ch:]
		if col < 0 {
			for i := 0; i < len(out); i += 4 {
				out[i] = 0
			}
			continue
		}
		seg := r.Chunk.Segments[col]
		switch c := seg.Codes; {
		case c.U8 != nil:
			every4th(out, c.U8[from:to])
		case c.U16 != nil:
			every4th(out, c.U16[from:to])
		case c.U32 != nil:
			every4th(out, c.U32[from:to])
		default:
			every4th(out, c.U64[from:to])
		}
		eachNull(seg, from, to, func(i int) { out[4*i] = NullLimb })
	}
}

func every4th[T uint8 | uint16 | uint32 | uint64](out []float32, codes []T) {
	for i, c := range codes {
		out[4*i] = float32(int32(c))
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
	if b.Content == Validity {
		words := seg.Valid[from/64 : (to+63)/64]
		copy(unsafe.Slice((*uint64)(out), len(words)), words)
		return
	}
	n := to - from
	switch c := seg.Codes; {
	case c.U8 != nil:
		copy(unsafe.Slice((*uint8)(out), n), c.U8[from:to])
	case c.U16 != nil:
		copy(unsafe.Slice((*uint16)(out), n), c.U16[from:to])
	case c.U32 != nil:
		copy(unsafe.Slice((*uint32)(out), n), c.U32[from:to])
	default:
		words, shift := unsafe.Slice((*uint32)(out), n), PartBits*b.Part&63
		for i, v := range c.U64[from:to] {
			words[i] = uint32(v >> shift)
		}
	}
}
