package ingest

import (
	"bytes"
	"fmt"
	"math/bits"
)

// maxField is the longest CSV field in bytes: what is longer is taken for a missing quote.
// Tests set it.
var maxField = 64 << 20

// field is one field of a CSV record: where it is in its block, without quotes around it.
type field struct {
	from, to int
	line     int // on which it starts, from 1
	quoted   bool
	last     bool // of its record
}

// content is what a field holds; text is part of its block.
type content struct {
	text   []byte
	quoted bool
}

// heading is a field of the first record.
type heading struct {
	content
	line int
}

// in is what it holds in the text of its block.
func (f *field) in(text []byte) content { return content{text[f.from:f.to], f.quoted} }

// blank reports the only field of a blank line.
func (f *field) blank(col int) bool { return col == 0 && f.last && !f.quoted && f.from == f.to }

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

// window is how many bytes are looked at together for what ends a field.
const window = 64

func newScanner(b block, delim byte) *scanner {
	s := &scanner{buf: b.text, line: b.line, cut: b.cut, quotes: b.quotes, lone: b.lone, delim: delim}
	s.look()
	return s
}

// In each of the eight bytes of a word: a one, the highest bit, the others.
const (
	ones = 0x0101010101010101
	top  = 0x80 * ones
	low  = 0x7f * ones
)

// marked has a bit for each byte of a word that is a delimiter, a line break or a quote: where
// the difference to one of these carries nothing into the highest bit.
func marked(word, delims uint64) uint64 {
	const gather = 0x0002040810204081 // the highest bits, as the highest byte of the product
	x := word & low
	others := ((x ^ delims) + low) & ((x ^ '\n'*ones) + low) & ((x ^ '\r'*ones) + low) & ((x ^ '"'*ones) + low)
	return ^(others | word) & top * gather >> 56
}

// look marks the window at base.
func (s *scanner) look() {
	w, d := (*[window]byte)(s.buf[s.base:s.base+window]), uint64(s.delim)*ones
	s.marks = marked(wide(w[:]), d) | marked(wide(w[8:]), d)<<8 | marked(wide(w[16:]), d)<<16 | marked(wide(w[24:]), d)<<24 |
		marked(wide(w[32:]), d)<<32 | marked(wide(w[40:]), d)<<40 | marked(wide(w[48:]), d)<<48 | marked(wide(w[56:]), d)<<56
	if left := len(s.buf) - s.base; left < window {
		s.marks &= 1<<left - 1
	}
}

// seek goes to a place behind pos.
func (s *scanner) seek(pos int) {
	if s.pos = pos; pos >= s.base+window {
		s.base = pos
		s.look()
	}
	s.marks &= ^uint64(0) << (pos - s.base)
}

// mark takes the next mark, and returns its place; without one, the end of the text.
func (s *scanner) mark() int {
	for s.marks == 0 {
		if s.base+window >= len(s.buf) {
			return len(s.buf)
		}
		s.base += window
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
func (s *scanner) record(fields []field) (n int) {
	for n < len(fields) {
		f := &fields[n]
		if i := s.base + bits.TrailingZeros64(s.marks); s.marks != 0 && i-s.pos < window && s.buf[i] == s.delim && s.buf[s.pos] != '"' {
			// The commonest of what next reads.
			*f = field{from: s.pos, to: i, line: s.line}
			s.marks &= s.marks - 1
			s.pos, s.midway = i+1, true
		} else if !s.next(f) {
			break
		}
		if n++; f.last {
			break
		}
	}
	return n
}

// next reads a field into f; false after the last record and after an error.
func (s *scanner) next(f *field) bool {
	start := s.pos
	if f.line, f.from = s.line, start; start == len(s.buf) {
		// The text may end after a delimiter: one more empty field.
		one := s.midway
		s.midway = false
		f.to, f.quoted, f.last = start, false, true
		return one
	}
	if s.buf[start] == '"' {
		return s.quoted(f)
	}
	i := s.mark()
	f.to, f.quoted = i, false
	switch {
	case i-start > maxField:
		return s.fail("line %d: a field longer than %s: is a quote missing?", s.line, size(int64(maxField)))
	case i < len(s.buf) && s.buf[i] == s.delim: // the commonest ending
		s.pos, s.midway, f.last = i+1, true, false
		return true
	case i < len(s.buf) && s.buf[i] == '"':
		return s.fail("line %d: a quote inside a field that does not start with one: quote the whole field and double the quotes in it", s.line)
	}
	return s.terminator(f, i)
}

// skip goes to the end of the record that f is a field of; where the text has no quotes and no lone carriage returns, that is
// the end of the line.
func (s *scanner) skip(f field) {
	slow := s.quotes || s.lone
	for slow && !f.last && s.next(&f) {
	}
	if slow || f.last {
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
func (s *scanner) terminator(f *field, i int) bool {
	if i+1 < len(s.buf) && s.buf[i] == '\r' && s.buf[i+1] == '\n' {
		i++
	}
	s.midway, f.last = false, true
	switch {
	case i == len(s.buf) && s.cut:
		return s.fail("line %d: a record longer than %s: is a quote missing?", s.line, size(2*int64(maxField)))
	case i == len(s.buf):
		s.seek(i)
		return true
	case s.buf[i] == '\n' || s.buf[i] == '\r':
		s.line++
	default:
		s.midway, f.last = true, false
	}
	s.seek(i + 1)
	return true
}

// quoted reads a field that starts with a quote at pos.
func (s *scanner) quoted(f *field) bool {
	f.quoted = true
	start, i, doubled := s.pos+1, s.pos+1, false
	for {
		k := bytes.IndexByte(s.buf[i:], '"')
		if k < 0 {
			if len(s.buf)-start > maxField {
				return s.fail("line %d: a field longer than %s: is a quote missing?", f.line, size(int64(maxField)))
			}
			return s.fail("line %d: the quote that starts a field here is never closed", f.line)
		}
		if i += k; i+1 == len(s.buf) || s.buf[i+1] != '"' {
			break
		}
		doubled = true
		i += 2
	}
	if i-start >= maxField {
		return s.fail("line %d: a field longer than %s: is a quote missing?", f.line, size(int64(maxField)))
	}
	text := s.buf[start:i]
	s.line += lineEnds(text)
	if i++; i < len(s.buf) && s.buf[i] != s.delim && s.buf[i] != '\n' && s.buf[i] != '\r' {
		s.behindQuote = true
		return s.fail("line %d: text after the closing quote of a field: double the quotes inside a quoted field", s.line)
	}
	if f.from, f.to = start, i-1; doubled {
		f.to = start + undouble(text)
	}
	return s.terminator(f, i)
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
