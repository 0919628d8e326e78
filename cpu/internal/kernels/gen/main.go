// Command gen writes the AVX2 kernels of package kernels: run `go generate` in its
// folder. It is a module of its own, so that avo is no dependency of the database.
//
// Every kernel works on words of 64 rows: 64 codes beside one word of a bitmap.
// Operands stand in the order of Go's assembler, destination last.
package main

import (
	"fmt"

	"github.com/mmcloughlin/avo/attr"
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	. "github.com/mmcloughlin/avo/reg"
)

// width is the size of a code in bytes, with the instructions for its lanes.
type width struct {
	bytes                   int
	broadcast               func(ops ...Op)
	add, and, min, max, eql func(ops ...Op)
}

// lanes is the number of codes in a vector, vectors that of vectors in a word.
func (w width) lanes() int   { return 32 / w.bytes }
func (w width) vectors() int { return 2 * w.bytes }
func (w width) bits() int    { return 8 * w.bytes }

var widths = []width{
	{bytes: 1, broadcast: VPBROADCASTB, add: VPADDB, min: VPMINUB, max: VPMAXUB, eql: VPCMPEQB},
	{bytes: 2, broadcast: VPBROADCASTW, add: VPADDW, min: VPMINUW, max: VPMAXUW, eql: VPCMPEQW},
	{bytes: 4, broadcast: VPBROADCASTD, add: VPADDD, min: VPMINUD, max: VPMAXUD, eql: VPCMPEQD},
	{bytes: 8, broadcast: VPBROADCASTQ, add: VPADDQ, eql: VPCMPEQQ},
}

func main() {
	for _, w := range widths {
		selectRange(w)
		sum(w)
		extremes(w)
	}
	for i, w := range widths {
		if i < 3 {
			multiplyAdd(w, widths[2])
		}
		multiplyAdd(w, widths[3])
	}
	Generate()
}

// kernel begins a function, %d in whose name and signature stands for the bits of a code.
func kernel(w width, name, signature string) {
	TEXT(fmt.Sprintf(name, w.bits()), attr.NOSPLIT, fmt.Sprintf(signature, w.bits()))
	Pragma("noescape")
}

// slice loads the address of a parameter's first element, length the number of them.
func slice(name string) Register  { return Load(Param(name).Base(), GP64()) }
func length(name string) Register { return Load(Param(name).Len(), GP64()) }

func vector(base Register, i int) Mem { return Mem{Base: base, Disp: 32 * i} }

// words loops over n words; body may jump to next() to leave one out.
func words(n Register, body func(next LabelRef), advance func()) {
	TESTQ(n, n)
	JZ(LabelRef("done"))
	Label("word")
	body(LabelRef("next"))
	Label("next")
	advance()
	DECQ(n)
	JNZ(LabelRef("word"))
	Label("done")
}

// rangeTest holds the constants of "code + add <= top".
type rangeTest struct {
	width
	add, top, order VecVirtual
}

func newRangeTest(w width) *rangeTest {
	r := &rangeTest{width: w, add: broadcastParam(w, "add"), top: broadcastParam(w, "top")}
	if w.bytes == 4 {
		r.order = YMM()
		VMOVDQU(laneOrder(), r.order)
	}
	return r
}

// broadcastParam fills all lanes with a parameter. It goes through a register, since
// vet knows no broadcast from memory.
func broadcastParam(w width, name string) VecVirtual {
	x, y := XMM(), YMM()
	if w.bytes == 8 {
		VMOVQ(Load(Param(name), GP64()), x)
	} else {
		gp := map[int]GPVirtual{1: GP8(), 2: GP16(), 4: GP32()}[w.bytes]
		Load(Param(name), gp)
		VMOVD(gp.As32(), x)
	}
	w.broadcast(x, y)
	return y
}

// vector tests the i-th vector of codes: lanes of ones where it holds, for codes
// of 64 bits where it does not. AVX2 compares 64-bit lanes as signed numbers:
// there add and top are 2^63 more.
func (r *rangeTest) vector(codes Register, i int) VecVirtual {
	x := YMM()
	r.width.add(vector(codes, i), r.add, x)
	if r.bytes == 8 {
		VPCMPGTQ(r.top, x, x)
		return x
	}
	t := YMM()
	r.min(r.top, x, t)
	r.eql(t, x, x)
	return x
}

// word returns the bits of the 64 codes.
func (r *rangeTest) word(codes Register) GPVirtual {
	m := GP64()
	switch r.bytes {
	case 1:
		m = join(32, mask32(r.vector(codes, 0)), mask32(r.vector(codes, 1)))
	case 2:
		m = join(32, mask32(r.words16(codes, 0)), mask32(r.words16(codes, 2)))
	case 4:
		m = join(32, mask32(r.words32(codes, 0)), mask32(r.words32(codes, 4)))
	case 8:
		m = join(32, r.words64(codes, 0), r.words64(codes, 8))
		NOTQ(m)
	}
	return m
}

func mask32(v VecVirtual) GPVirtual {
	m := GP64()
	VPMOVMSKB(v, m.As32())
	return m
}

// join returns high << n | low.
func join(n uint8, low, high GPVirtual) GPVirtual {
	SHLQ(U8(n), high)
	ORQ(high, low)
	return low
}

// words16 packs the tests of two vectors of 16 codes into bytes.
func (r *rangeTest) words16(codes Register, i int) VecVirtual {
	a, b := r.vector(codes, i), r.vector(codes, i+1)
	VPACKSSWB(b, a, a)
	VPERMQ(U8(0b11_01_10_00), a, a)
	return a
}

// words32 packs the tests of four vectors of 8 codes into bytes. The packs work
// within 128 bits and leave groups of four codes in the order 0 2 4 6 1 3 5 7.
func (r *rangeTest) words32(codes Register, i int) VecVirtual {
	a, b := r.vector(codes, i), r.vector(codes, i+1)
	VPACKSSDW(b, a, a)
	c, d := r.vector(codes, i+2), r.vector(codes, i+3)
	VPACKSSDW(d, c, c)
	VPACKSSWB(c, a, a)
	VPERMD(a, r.order, a)
	return a
}

// words64 packs the tests of eight vectors of 4 codes into 32 bits: as words32,
// then interleaves the pairs of codes of both halves.
func (r *rangeTest) words64(codes Register, i int) GPVirtual {
	pair := func(i int) VecVirtual {
		a, b := r.vector(codes, i), r.vector(codes, i+1)
		VSHUFPS(U8(0b10_00_10_00), b, a, a)
		return a
	}
	a, b := pair(i), pair(i+2)
	VPACKSSDW(b, a, a)
	c, d := pair(i+4), pair(i+6)
	VPACKSSDW(d, c, c)
	VPACKSSWB(c, a, a)
	upper, low, high := XMM(), XMM(), XMM()
	VEXTRACTI128(U8(1), a, upper)
	VPUNPCKLWD(upper, a.AsX(), low)
	VPUNPCKHWD(upper, a.AsX(), high)
	l, h := GP64(), GP64()
	VPMOVMSKB(low, l.As32())
	VPMOVMSKB(high, h.As32())
	return join(16, l, h)
}

// laneOrder undoes the order that words32's packs leave.
func laneOrder() Mem {
	return constant("laneOrder", []uint64{4 << 32, 5<<32 | 1, 6<<32 | 2, 7<<32 | 3})
}

// selectRange: dst = among & test.
func selectRange(w width) {
	kernel(w, "select%d", "func(dst, among []uint64, codes []uint%d, add, top uint%[1]d)")
	dst, among, codes, n := slice("dst"), slice("among"), slice("codes"), length("dst")
	r := newRangeTest(w)
	words(n, func(next LabelRef) {
		m := GP64()
		MOVQ(Mem{Base: among}, m)
		TESTQ(m, m)
		JZ(LabelRef("store"))
		ANDQ(r.word(codes), m)
		Label("store")
		MOVQ(m, Mem{Base: dst})
	}, func() {
		ADDQ(U8(8), dst)
		ADDQ(U8(8), among)
		ADDQ(I32(64*w.bytes), codes)
	})
	finish()
}

func finish() {
	VZEROUPPER()
	RET()
}

// unselected makes, from the word of a selection at sel, lanes of ones for the
// rows of vector i that are not selected.
func unselected(w width, sel Register, i int, zero VecVirtual) VecVirtual {
	m := YMM()
	switch w.bytes {
	case 1:
		VPBROADCASTD(Mem{Base: sel, Disp: 4 * i}, m)
		VPSHUFB(byteOfLane(), m, m)
		VPAND(bitOfLane(w, 0), m, m)
	case 2:
		VPBROADCASTW(Mem{Base: sel, Disp: 2 * i}, m)
		VPAND(bitOfLane(w, 0), m, m)
	case 4:
		VPBROADCASTD(Mem{Base: sel, Disp: 4 * (i / 4)}, m)
		VPAND(bitOfLane(w, i%4), m, m)
	case 8:
		VPBROADCASTQ(Mem{Base: sel}, m)
		VPAND(bitOfLane(w, i), m, m)
	}
	w.eql(zero, m, m)
	return m
}

var constants = map[string]Mem{}

// constant is read-only data of 64-bit words, made once.
func constant(name string, data []uint64) Mem {
	m, ok := constants[name]
	if !ok {
		m = GLOBL(name, attr.RODATA|attr.NOPTR)
		for i, d := range data {
			DATA(8*i, U64(d))
		}
		constants[name] = m
	}
	return m
}

// byteOfLane copies the byte of a broadcast 32-bit word that holds a lane's bit.
func byteOfLane() Mem {
	return constant("byteOfLane", []uint64{0, 0x0101010101010101, 0x0202020202020202, 0x0303030303030303})
}

// bitOfLane is the bit of each lane of vector i within the broadcast element.
func bitOfLane(w width, i int) Mem {
	const bytes = 0x8040201008040201
	if w.bytes == 1 {
		return constant("bitOfLane8", []uint64{bytes, bytes, bytes, bytes})
	}
	vectors := min(w.bits()/w.lanes(), w.vectors())
	var data []uint64
	for lane := 0; lane < vectors*w.lanes(); lane += 8 / w.bytes {
		var d uint64
		for k := range 8 / w.bytes {
			d |= 1 << (lane + k) << (k * w.bits() % 64)
		}
		data = append(data, d)
	}
	m := constant(fmt.Sprintf("bitOfLane%d", w.bits()), data)
	m.Disp += 32 * max(i, 0)
	return m
}

// overSelected loops over the words of a selection: none, all and some rows
// selected apart.
func overSelected(w width, sel, codes, n Register, vectorOf func(x VecVirtual, skip *VecVirtual)) {
	zero := YMM()
	VPXOR(zero, zero, zero)
	words(n, func(next LabelRef) {
		m := GP64()
		MOVQ(Mem{Base: sel}, m)
		TESTQ(m, m)
		JZ(next)
		CMPQ(m, I8(-1))
		JNE(LabelRef("some"))
		for i := range w.vectors() {
			x := YMM()
			VMOVDQU(vector(codes, i), x)
			vectorOf(x, nil)
		}
		JMP(next)
		Label("some")
		for i := range w.vectors() {
			x := YMM()
			VMOVDQU(vector(codes, i), x)
			skip := unselected(w, sel, i, zero)
			vectorOf(x, &skip)
		}
	}, func() {
		ADDQ(U8(8), sel)
		ADDQ(I32(64*w.bytes), codes)
	})
}

// sum adds the codes in eight lanes: for 16 bits the first four hold low bytes and the
// others high bytes, for 64 bits low and high halves; for 8 and 32 bits all count alike.
func sum(w width) {
	kernel(w, "sum%d", "func(codes []uint%d, sel []uint64, sums *[8]uint64)")
	codes, sel, n := slice("codes"), slice("sel"), length("sel")
	a, b, zero, low := YMM(), YMM(), YMM(), YMM()
	for _, v := range []VecVirtual{a, b, zero} {
		VPXOR(v, v, v)
	}
	if w.bytes == 2 { // the low byte of each lane
		VPCMPEQD(low, low, low)
		VPSRLW(U8(8), low, low)
	}
	overSelected(w, sel, codes, n, func(x VecVirtual, skip *VecVirtual) {
		if skip != nil {
			VPANDN(x, *skip, x)
		}
		y := YMM()
		switch w.bytes {
		case 1:
			VPSADBW(zero, x, x)
			VPADDQ(x, a, a)
			return
		case 2:
			VPSRLW(U8(8), x, y)
			VPAND(low, x, x)
			VPSADBW(zero, x, x)
			VPSADBW(zero, y, y)
		default:
			VPSRLQ(U8(32), x, y)
			VPBLENDD(U8(0b1010_1010), zero, x, x)
		}
		VPADDQ(x, a, a)
		VPADDQ(y, b, b)
	})
	out := Load(Param("sums"), GP64())
	VMOVDQU(a, vector(out, 0))
	VMOVDQU(b, vector(out, 1))
	finish()
}

// extremes keeps the smallest and the largest code of each lane. It compares codes
// of 64 bits as signed numbers, 2^63 less.
func extremes(w width) {
	kernel(w, "extremes%d", "func(codes []uint%d, sel []uint64, lo, hi *uint%[1]d)")
	codes, sel, n := slice("codes"), slice("sel"), length("sel")
	lo, hi, sign := YMM(), YMM(), YMM()
	VPCMPEQD(lo, lo, lo)
	VPXOR(hi, hi, hi)
	if w.bytes == 8 {
		VPSLLQ(U8(63), lo, sign)
		VPXOR(sign, lo, lo)
		VPXOR(sign, hi, hi)
	}
	overSelected(w, sel, codes, n, func(x VecVirtual, skip *VecVirtual) {
		least, most := x, x
		if w.bytes == 8 {
			VPXOR(sign, x, x)
		}
		if skip != nil {
			least, most = YMM(), YMM()
			if w.bytes == 8 {
				VPBLENDVB(*skip, lo, x, least)
				VPBLENDVB(*skip, hi, x, most)
			} else {
				VPOR(*skip, x, least)
				VPANDN(x, *skip, most)
			}
		}
		if w.bytes < 8 {
			w.min(least, lo, lo)
			w.max(most, hi, hi)
			return
		}
		t := YMM()
		VPCMPGTQ(least, lo, t)
		VPBLENDVB(t, least, lo, lo)
		VPCMPGTQ(hi, most, t)
		VPBLENDVB(t, most, hi, hi)
	})
	if w.bytes == 8 {
		VPXOR(sign, lo, lo)
		VPXOR(sign, hi, hi)
	}
	VMOVDQU(lo, vector(Load(Param("lo"), GP64()), 0))
	VMOVDQU(hi, vector(Load(Param("hi"), GP64()), 0))
	finish()
}

// widen loads codes into lanes of 4 or 8 bytes: by the bytes of a code and of a lane.
var widen = map[[2]int]func(ops ...Op){
	{1, 4}: VPMOVZXBD, {2, 4}: VPMOVZXWD, {4, 4}: same,
	{1, 8}: VPMOVZXBQ, {2, 8}: VPMOVZXWQ, {4, 8}: VPMOVZXDQ, {8, 8}: same,
}

func same(ops ...Op) { VMOVDQU(ops[0], ops[1]) }

// multiplyAdd: acc += coef * code, modulo 2^32 or 2^64, the latter from products of 32-bit
// halves.
func multiplyAdd(w, sums width) {
	kernel(w, fmt.Sprintf("multiplyAdd%dx%%d", sums.bits()),
		fmt.Sprintf("func(acc []uint%d, codes []uint%%d, words int, coef uint%[1]d)", sums.bits()))
	acc, codes, n := slice("acc"), slice("codes"), Load(Param("words"), GP64())
	coef, upper := broadcastParam(sums, "coef"), YMM()
	if sums.bytes == 8 {
		VPSRLQ(U8(32), coef, upper)
	}
	words(n, func(LabelRef) {
		for i := range sums.vectors() {
			x, low, mid := YMM(), YMM(), YMM()
			widen[[2]int{w.bytes, sums.bytes}](Mem{Base: codes, Disp: sums.lanes() * w.bytes * i}, x)
			if sums.bytes == 4 {
				VPMULLD(coef, x, low)
			} else {
				VPMULUDQ(coef, x, low)
				VPMULUDQ(upper, x, mid)
				if w.bytes == 8 {
					VPSRLQ(U8(32), x, x)
					VPMULUDQ(coef, x, x)
					VPADDQ(x, mid, mid)
				}
				VPSLLQ(U8(32), mid, mid)
				VPADDQ(mid, low, low)
			}
			sums.add(vector(acc, i), low, low)
			VMOVDQU(low, vector(acc, i))
		}
	}, func() {
		ADDQ(I32(64*sums.bytes), acc)
		ADDQ(I32(64*w.bytes), codes)
	})
	finish()
}
