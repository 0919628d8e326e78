package ingest

import (
	"bytes"
	"fmt"
)

// maxField is the longest CSV field in bytes: what is longer is taken for a missing quote.
// Tests set it.
var maxField = 64 << 20

// field is one field of a CSV record. text is part of its block.
type field struct {
	text   []byte
	quoted bool
	last   bool // of its record
	line   int  // on which it starts, from 1
}

// blank reports the only field of a blank line.
func (f *field) blank(col int) bool { return col == 0 && f.last && !f.quoted && len(f.text) == 0 }

// scanner cuts a block of CSV text into fields (RFC 4180), until its end or an error.
type scanner struct {
	buf    []byte
	pos    int
	line   int  // of pos
	midway bool // the last field was followed by a delimiter
	cut    bool // the text goes on after buf, though no record ends in it
	err    error
	delim  byte
	bare   [256]bool // what ends an unquoted field or may not stand in it
}

func newScanner(b block, delim byte) *scanner {
	s := &scanner{buf: b.text, line: b.line, cut: b.cut, delim: delim}
	for _, c := range []byte{delim, '\n', '\r', '"'} {
		s.bare[c] = true
	}
	return s
}

// fail ends the scanning with an error.
func (s *scanner) fail(format string, args ...any) bool {
	s.pos, s.midway = len(s.buf), false
	s.err = fmt.Errorf(format, args...)
	return false
}

// next reads a field into f; false after the last record and after an error.
func (s *scanner) next(f *field) bool {
	if f.line = s.line; s.pos == len(s.buf) {
		// The text may end after a delimiter: one more empty field.
		one := s.midway
		s.midway = false
		*f = field{last: true, line: s.line}
		return one
	}
	if s.buf[s.pos] == '"' {
		return s.quoted(f)
	}
	f.quoted = false
	start, i := s.pos, s.pos
	for i < len(s.buf) && !s.bare[s.buf[i]] {
		i++
	}
	switch {
	case i-start > maxField:
		return s.fail("line %d: a field longer than %s: is a quote missing?", s.line, size(int64(maxField)))
	case i < len(s.buf) && s.buf[i] == '"':
		return s.fail("line %d: a quote inside a field that does not start with one: quote the whole field and double the quotes in it", s.line)
	}
	f.text = s.buf[start:i]
	if i < len(s.buf) && s.buf[i] == s.delim { // the commonest ending
		s.pos, s.midway, f.last = i+1, true, false
		return true
	}
	return s.terminator(f, i)
}

// terminator passes over what follows a field.
func (s *scanner) terminator(f *field, i int) bool {
	if i < len(s.buf) && s.buf[i] == '\r' {
		// A line feed must follow, or the end of the text.
		if i++; i < len(s.buf) && s.buf[i] != '\n' {
			return s.fail("line %d: a carriage return inside a field: quote the field, or end lines with a line feed", s.line)
		}
	}
	s.midway, f.last = false, true
	switch {
	case i == len(s.buf) && s.cut:
		return s.fail("line %d: a record longer than %s: is a quote missing?", s.line, size(2*int64(maxField)))
	case i == len(s.buf):
		s.pos = i
	case s.buf[i] == '\n':
		s.line++
		s.pos = i + 1
	default:
		s.midway, f.last = true, false
		s.pos = i + 1
	}
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
	f.text = s.buf[start:i]
	s.line += bytes.Count(f.text, []byte{'\n'})
	if i++; i < len(s.buf) && s.buf[i] != s.delim && s.buf[i] != '\n' && s.buf[i] != '\r' {
		return s.fail("line %d: text after the closing quote of a field: double the quotes inside a quoted field", s.line)
	}
	if doubled {
		f.text = undouble(f.text)
	}
	return s.terminator(f, i)
}

// undouble turns each pair of quotes into one, in place.
func undouble(b []byte) []byte {
	n := 0
	for i := 0; i < len(b); i++ {
		b[n] = b[i]
		n++
		if b[i] == '"' {
			i++
		}
	}
	return b[:n]
}
