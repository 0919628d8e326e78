package ingest

import (
	"bytes"
	"fmt"
	"io"
)

// MaxField is the longest CSV field in bytes: what is longer is taken for a
// missing quote.
const MaxField = 64 << 20

// field is one field of a CSV record. text is valid until the next field is read.
type field struct {
	text   []byte
	quoted bool
	last   bool // of its record
	line   int  // on which it starts, from 1
}

// blank reports the only field of a blank line.
func (f *field) blank(col int) bool { return col == 0 && f.last && !f.quoted && len(f.text) == 0 }

// scanner cuts CSV text into fields (RFC 4180), until its end or an error.
type scanner struct {
	r      io.Reader
	err    error                  // that ended it early
	onFill func(read int64) error // called before each read
	buf    []byte
	pos    int // of the next byte in buf
	end    int // of the bytes read into buf
	eof    bool
	read   int64 // bytes read from r
	line   int   // of pos
	midway bool  // the last field was followed by a delimiter
	delim  byte
	bare   [256]bool // what ends an unquoted field or may not stand in it
}

// newScanner scans r, of about size bytes.
func newScanner(r io.Reader, size int64, delim byte, onFill func(read int64) error) *scanner {
	s := &scanner{r: r, onFill: onFill, buf: make([]byte, min(max(size, 4<<10), 256<<10)), line: 1, delim: delim}
	for _, c := range []byte{delim, '\n', '\r', '"'} {
		s.bare[c] = true
	}
	return s
}

// fail ends the scanning with an error.
func (s *scanner) fail(format string, args ...any) int {
	s.err = fmt.Errorf(format, args...)
	return 0
}

// fill moves the bytes that are left to the front of the buffer, which grows where they
// fill it, and fills it up.
func (s *scanner) fill() {
	if err := s.onFill(s.read); err != nil {
		s.fail("%w", err)
		return
	}
	s.pos, s.end = 0, copy(s.buf, s.buf[s.pos:s.end])
	if s.end == len(s.buf) {
		if len(s.buf) >= 2*MaxField {
			s.fail("line %d: a field longer than %s: is a quote missing?", s.line, size(MaxField))
			return
		}
		s.buf = append(s.buf, make([]byte, len(s.buf))...)
	}
	n, err := io.ReadFull(s.r, s.buf[s.end:])
	s.end, s.read = s.end+n, s.read+int64(n)
	if s.eof = err == io.EOF || err == io.ErrUnexpectedEOF; err != nil && !s.eof {
		s.fail("%w", err)
	}
}

// skipBOM passes over a byte order mark at the start of the text.
func (s *scanner) skipBOM() {
	s.fill()
	switch b := s.buf[:s.end]; {
	case bytes.HasPrefix(b, []byte("\xef\xbb\xbf")):
		s.pos = 3
	case bytes.HasPrefix(b, []byte("\xff\xfe")), bytes.HasPrefix(b, []byte("\xfe\xff")):
		s.fail("line 1: the text is UTF-16: convert it to UTF-8")
	}
}

// next reads a field into f; false after the last record and after an error. A field of
// which the buffer has only a part is cut again once there is more.
func (s *scanner) next(f *field) bool {
	for s.err == nil {
		if rest := s.buf[s.pos:s.end]; len(rest) > 0 {
			if n := s.cut(f, rest); n > 0 {
				s.pos += n
				return true
			}
		} else if s.eof {
			// The text may end after a delimiter: one more empty field.
			one := s.midway
			s.midway = false
			*f = field{last: true, line: s.line}
			return one
		}
		if s.err == nil {
			s.fill()
		}
	}
	return false
}

// cut reads the field at the start of b and returns how many bytes it takes with what
// ends it; 0 after an error, and where b ends before it.
func (s *scanner) cut(f *field, b []byte) int {
	f.line = s.line
	if f.quoted = b[0] == '"'; f.quoted {
		return s.cutQuoted(f, b)
	}
	i, bare := 0, &s.bare
	for i < len(b) && !bare[b[i]] {
		i++
	}
	f.text = b[:i]
	switch {
	case i == len(b) && !s.eof:
		return 0
	case i > MaxField:
		return s.fail("line %d: a field longer than %s: is a line break missing?", s.line, size(MaxField))
	case i < len(b) && b[i] == s.delim: // the commonest ending
		s.midway, f.last = true, false
		return i + 1
	case i < len(b) && b[i] == '"':
		return s.fail("line %d: a quote inside a field that does not start with one: quote the whole field and double the quotes in it", s.line)
	}
	return s.ending(f, b, i)
}

// ending passes over what follows the i bytes of a field, and returns where the next one
// starts.
func (s *scanner) ending(f *field, b []byte, i int) int {
	if i < len(b) && b[i] == '\r' {
		// A line feed must follow, or the end of the text.
		if i++; i == len(b) && !s.eof {
			return 0
		}
		if i < len(b) && b[i] != '\n' {
			return s.fail("line %d: a carriage return inside a field: quote the field, or end lines with a line feed", s.line)
		}
	}
	s.midway, f.last = i < len(b) && b[i] != '\n', i == len(b) || b[i] == '\n'
	if i == len(b) {
		return i
	}
	if f.last {
		s.line++
	}
	return i + 1
}

// cutQuoted is cut of a field that starts with a quote.
func (s *scanner) cutQuoted(f *field, b []byte) int {
	i, doubled := 1, false
	for ; ; i += 2 {
		k := bytes.IndexByte(b[i:], '"')
		i += k
		switch {
		case k < 0 && s.eof:
			return s.fail("line %d: the quote that starts a field here is never closed", f.line)
		case k < 0 || i+1 == len(b) && !s.eof:
			return 0
		}
		if i+1 == len(b) || b[i+1] != '"' {
			break
		}
		doubled = true
	}
	if i > MaxField {
		return s.fail("line %d: a field longer than %s: is a quote missing?", f.line, size(MaxField))
	}
	s.line += bytes.Count(b[:i], []byte{'\n'})
	if c := i + 1; c < len(b) && b[c] != s.delim && b[c] != '\n' && b[c] != '\r' {
		return s.fail("line %d: text after the closing quote of a field: double the quotes inside a quoted field", s.line)
	}
	n := s.ending(f, b, i+1)
	if n == 0 {
		s.line = f.line
		return 0
	}
	f.text = b[1:i]
	if doubled {
		f.text = undouble(f.text)
	}
	return n
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
