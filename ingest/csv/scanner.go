package csv

import (
	"bytes"
	"fmt"
	"math/bits"

	"github.com/stencildb/stencildb/ingest/inference"
	"github.com/stencildb/stencildb/ingest/record"
	"github.com/stencildb/stencildb/ingest/source"
)

// scanner cuts a block of CSV text into fields (RFC 4180), until its end or an error.
type scanner struct {
	buf    []byte // which is followed by window bytes of anything
	pos    int
	line   int  // of pos
	midway bool // the last field was followed by a delimiter
	cut    bool // the text goes on after buf, though no record ends in it
	quotes bool // there may be some
	lone   bool // there are carriage returns without a line feed
	err    error
	delim  byte

	behindQuote bool   // err is of what follows a closing quote
	base        int    // where the window is
	marks       uint64 // a bit for each byte of the window that ends an unquoted field or may not stand in it; none before pos
}

// look marks the window at base.
func (s *scanner) look() {
	w, d := (*[record.Window]byte)(s.buf[s.base:s.base+record.Window]), uint64(s.delim)*inference.LowestBits
	s.marks = marked(inference.LoadWord(w[:]), d) | marked(inference.LoadWord(w[8:]), d)<<8 | marked(inference.LoadWord(w[16:]), d)<<16 | marked(inference.LoadWord(w[24:]), d)<<24 |
		marked(inference.LoadWord(w[32:]), d)<<32 | marked(inference.LoadWord(w[40:]), d)<<40 | marked(inference.LoadWord(w[48:]), d)<<48 | marked(inference.LoadWord(w[56:]), d)<<56
	if left := len(s.buf) - s.base; left < record.Window {
		s.marks &= 1<<left - 1
	}
}

// seek goes to a place behind pos.
func (s *scanner) seek(pos int) {
	if s.pos = pos; pos >= s.base+record.Window {
		s.base = pos
		s.look()
	}
	s.marks &= ^uint64(0) << (pos - s.base)
}

// mark takes the next mark, and returns its place; without one, the end of the text.
func (s *scanner) mark() int {
	for s.marks == 0 {
		if s.base+record.Window >= len(s.buf) {
			return len(s.buf)
		}
		s.base += record.Window
		s.look()
	}
	i := s.base + bits.TrailingZeros64(s.marks)
	s.marks &= s.marks - 1
	return i
}

// fail ends the scanning with an error.
func (s *scanner) fail(format string, args ...any) bool {
	s.pos, s.midway, s.marks = len(s.buf), false, 0
	s.err = fmt.Errorf(format, args...)
	return false
}

// record reads fields of a record, as many as there are and have room, and returns how many;
// 0 after the last record.
func (s *scanner) record(fields []inference.Field) (n int) {
	for n < len(fields) {
		f := &fields[n]
		if i := s.base + bits.TrailingZeros64(s.marks); s.marks != 0 && i-s.pos < record.Window && s.buf[i] == s.delim && s.buf[s.pos] != '"' {
			// The commonest of what next reads.
			*f = inference.Field{From: s.pos, To: i, Line: s.line}
			s.marks &= s.marks - 1
			s.pos, s.midway = i+1, true
		} else if !s.next(f) {
			break
		}
		if n++; f.Last {
			break
		}
	}
	return n
}

// next reads a field into f; false after the last record and after an error.
func (s *scanner) next(f *inference.Field) bool {
	start := s.pos
	if f.Line, f.From = s.line, start; start == len(s.buf) {
		// The text may end after a delimiter: one more empty field.
		one := s.midway
		s.midway = false
		f.To, f.Quoted, f.Last = start, false, true
		return one
	}
	if s.buf[start] == '"' {
		return s.quoted(f)
	}
	i := s.mark()
	f.To, f.Quoted = i, false
	switch {
	case i-start > record.MaxField:
		return s.fail("line %d: a field longer than %s: is a quote missing?", s.line, source.ShowSize(int64(record.MaxField)))
	case i < len(s.buf) && s.buf[i] == s.delim: // the commonest ending
		s.pos, s.midway, f.Last = i+1, true, false
		return true
	case i < len(s.buf) && s.buf[i] == '"':
		return s.fail("line %d: a quote inside a field that does not start with one: quote the whole field and double the quotes in it", s.line)
	}
	return s.terminator(f, i)
}

// skip goes to the end of the record that f is a field of. If the text has no quotes and no lone carriage returns, that is
// the end of the line.
func (s *scanner) skip(f inference.Field) {
	slow := s.quotes || s.lone
	for slow && !f.Last && s.next(&f) {
	}
	if slow || f.Last {
		return
	}
	feed := bytes.IndexByte(s.buf[s.pos:], '\n')
	if feed < 0 {
		feed = len(s.buf) - 1 - s.pos
	}
	s.line++
	s.midway = false
	s.seek(s.pos + feed + 1)
}

// terminator passes over what follows a field: a delimiter, a line feed, a carriage return with or without one, or the end of the text.
func (s *scanner) terminator(f *inference.Field, i int) bool {
	if i+1 < len(s.buf) && s.buf[i] == '\r' && s.buf[i+1] == '\n' {
		i++
	}
	s.midway, f.Last = false, true
	switch {
	case i == len(s.buf) && s.cut:
		return s.fail("line %d: a record longer than %s: is a quote missing?", s.line, source.ShowSize(2*int64(record.MaxField)))
	case i == len(s.buf):
		s.seek(i)
		return true
	case s.buf[i] == '\n' || s.buf[i] == '\r':
		s.line++
	default:
		s.midway, f.Last = true, false
	}
	s.seek(i + 1)
	return true
}

// quoted reads a field that starts with a quote at pos.
func (s *scanner) quoted(f *inference.Field) bool {
	f.Quoted = true
	start, i, doubled := s.pos+1, s.pos+1, false
	for {
		k := bytes.IndexByte(s.buf[i:], '"')
		if k < 0 {
			if len(s.buf)-start > record.MaxField {
				return s.fail("line %d: a field longer than %s: is a quote missing?", f.Line, source.ShowSize(int64(record.MaxField)))
			}
			return s.fail("line %d: the quote that starts a field here is never closed", f.Line)
		}
		if i += k; i+1 == len(s.buf) || s.buf[i+1] != '"' {
			break
		}
		doubled = true
		i += 2
	}
	if i-start >= record.MaxField {
		return s.fail("line %d: a field longer than %s: is a quote missing?", f.Line, source.ShowSize(int64(record.MaxField)))
	}
	text := s.buf[start:i]
	s.line += record.LineEnds(text)
	if i++; i < len(s.buf) && s.buf[i] != s.delim && s.buf[i] != '\n' && s.buf[i] != '\r' {
		s.behindQuote = true
		return s.fail("line %d: text after the closing quote of a field: double the quotes inside a quoted field", s.line)
	}
	if f.From, f.To = start, i-1; doubled {
		f.To = start + undouble(text)
	}
	return s.terminator(f, i)
}

func newScanner(b record.Block, delim byte) *scanner {
	s := &scanner{buf: b.Text, line: b.Line, cut: b.Cut, quotes: b.Quotes, lone: b.Lone, delim: delim}
	s.look()
	return s
}

// marked has a bit for each byte of a word that is a delimiter, a line break or a quote. There the difference
// to one of these carries nothing into the highest bit.
func marked(word, delims uint64) uint64 {
	const gather = 0x0002040810204081 // the highest bits, as the highest byte of the product
	x := word & inference.LowBits
	others := ((x ^ delims) + inference.LowBits) & ((x ^ '\n'*inference.LowestBits) + inference.LowBits) & ((x ^ '\r'*inference.LowestBits) + inference.LowBits) & ((x ^ '"'*inference.LowestBits) + inference.LowBits)
	return ^(others | word) & inference.HighBits * gather >> 56
}

// undouble turns each pair of quotes into one, in place, and returns what is left.
func undouble(b []byte) int {
	n := 0
	for i := 0; i < len(b); i++ {
		b[n] = b[i]
		n++
		if b[i] == '"' {
			i++
		}
	}
	return n
}
