package table

import (
	"math"
	"runtime"
	"sync/atomic"
	"unsafe"
)

// So an operator that reads many neighbouring rows keeps a copy of their texts in the order of rows. It takes the bytes of the texts and 4
// bytes a row. It belongs to the segment, and [Segment.Bytes] counts it. [Table.DropRowOrder] frees it.

// rowOrder is texts of a segment in the order of its rows, by pieces, which are made when they are first asked for.
type rowOrder struct {
	pieces []atomic.Pointer[rowPiece]
	bytes  atomic.Int64 // of all
}

// rowPiece is the texts of some rows, one behind the other; those of NULLs are empty.
type rowPiece struct {
	bytes  []byte   // has one more, so that an empty text behind the last begins in it
	starts []uint32 // where each begins, and the last ends
}

const (
	rowPieceShift = 13
	rowPieceRows  = 1 << rowPieceShift
	// fewWords is up to how many words a dictionary is near at hand as it is.
	fewWords = 1 << 13
)

// TextsInto is the texts of a block's rows, "" for NULL.
func (s *Segment) TextsInto(out []string, b Block) {
	of, from := s.Whole()
	if len(of.Dict) <= fewWords || 2*len(of.Dict) < of.Rows() {
		s.lookUp(out, b)
		return
	}
	o := of.rowOrder.Load()
	for o == nil {
		of.rowOrder.CompareAndSwap(nil, &rowOrder{pieces: make([]atomic.Pointer[rowPiece], (of.Rows()+rowPieceRows-1)>>rowPieceShift)})
		o = of.rowOrder.Load()
	}
	done := 0 // rows before it have their texts
	for i, n := 0, 0; i < len(out); i += n {
		at := (from + b.Row(i)) >> rowPieceShift
		if n = 1; b.Rows == nil { // rows in the piece
			n = min(len(out)-i, (at+1)<<rowPieceShift-from-b.Row(i))
		} else {
			for i+n < len(out) && (from+b.Row(i+n))>>rowPieceShift == at {
				n++
			}
		}
		p := o.pieces[at].Load()
		if p == nil && n > min(rowPieceRows, of.Rows()-at<<rowPieceShift)/4 {
			if p = of.rowPiece(at); p != nil && o.pieces[at].CompareAndSwap(nil, p) {
				o.bytes.Add(int64(cap(p.bytes) + 4*cap(p.starts)))
			}
		}
		if p != nil {
			s.lookUp(out[done:i], b.Cut(done, i))
			p.into(out[i:i+n], b.Cut(i, i+n), at<<rowPieceShift-from)
			done = i + n
		}
	}
	s.lookUp(out[done:], b.Cut(done, len(out)))
}

// lookUp is TextsInto by the dictionary.
func (s *Segment) lookUp(out []string, b Block) {
	if len(s.Dict) == 0 {
		clear(out)
		return
	}
	var codes [256]uint32
	all := byte(0)
	for i := 0; i < len(out); i += len(codes) {
		some := codes[:min(len(codes), len(out)-i)]
		GatherInto(some, s.Codes, b.Cut(i, i+len(some)), 0)
		for k, c := range some {
			out[i+k] = s.Dict[c]
		}
		for _, t := range out[i : i+len(some)] { // the machine fetches those of many at the same time, where what is computed of a text would wait for each
			if t != "" {
				all |= t[0]
			}
		}
	}
	runtime.KeepAlive(all)
	if s.Nulls == 0 {
		return
	}
	for i := range out {
		if s.IsNull(b.Row(i)) {
			out[i] = ""
		}
	}
}

// rowPiece makes a piece; nil where its texts are too long for one.
func (s *Segment) rowPiece(at int) *rowPiece {
	b := Block{First: at << rowPieceShift}
	b.N = min(rowPieceRows, s.Rows()-b.First)
	texts, n := make([]string, b.N), 1
	s.lookUp(texts, b)
	p := &rowPiece{starts: make([]uint32, b.N+1)}
	for _, t := range texts {
		n += len(t)
	}
	if n > math.MaxUint32 {
		return nil
	}
	p.bytes = make([]byte, 0, n)
	for i, t := range texts {
		p.bytes = append(p.bytes, t...)
		p.starts[i+1] = uint32(len(p.bytes))
	}
	p.bytes = p.bytes[:n]
	return p
}

// into is the texts of rows of the piece, whose first row is in their chunk as it is said.
func (p *rowPiece) into(out []string, b Block, first int) {
	base := unsafe.Pointer(unsafe.SliceData(p.bytes))
	if b.Rows == nil {
		starts := p.starts[b.First-first:][:len(out)+1]
		from := starts[0]
		for i, to := range starts[1:] {
			out[i] = unsafe.String((*byte)(unsafe.Add(base, from)), to-from)
			from = to
		}
		return
	}
	for i, row := range b.Rows {
		k := int(row) - first
		from, to := p.starts[k], p.starts[k+1]
		out[i] = unsafe.String((*byte)(unsafe.Add(base, from)), to-from)
	}
}

// DropRowOrder frees the copies of texts in the order of rows, and returns how many bytes they took. They are made again when they are
// needed.
func (t *Table) DropRowOrder() (n int64) {
	for _, c := range t.Chunks {
		for _, s := range c.Segments {
			if s != nil {
				of, _ := s.Whole()
				n += int64(of.rowOrderBytes())
				of.rowOrder.Store(nil)
			}
		}
	}
	return n
}

// rowOrderBytes is what they take.
func (s *Segment) rowOrderBytes() int {
	if o := s.rowOrder.Load(); o != nil {
		return int(o.bytes.Load()) + 8*len(o.pieces)
	}
	return 0
}
