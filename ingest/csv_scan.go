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
func (s *scanner) fail(format string, args ...any) bool {
	s.eof = true
	if s.err == nil {
		s.err = fmt.Errorf(format, args...)
	}
	return false
}

// fill reads more bytes after those from position from on, which move to the
// front: every index shifts by the returned amount. more is false at the end, and after
// an error.
func (s *scanner) fill(from int) (shift int, more bool) {
	if s.eof {
		return 0, false
	}
	if err := s.onFill(s.read); err != nil {
		return 0, s.fail("%w", err)
	}
	if from > 0 {
		copy(s.buf, s.buf[from:s.end])
		s.end -= from
		s.pos -= from
	}
	if s.end == len(s.buf) {
		if len(s.buf) >= 2*MaxField {
			return from, s.fail("line %d: a field longer than %s: is a quote missing?", s.line, size(MaxField))
		}
		s.buf = append(s.buf, make([]byte, len(s.buf))...)
	}
	for tries := 0; ; tries++ {
		n, err := s.r.Read(s.buf[s.end:])
		s.end += n
		s.read += int64(n)
		switch {
		case err == io.EOF:
			s.eof = true
			return from, n > 0
		case err != nil:
			return from, s.fail("%w", err)
		case n > 0:
			return from, true
		case tries == 100:
			return from, s.fail("%w", io.ErrNoProgress)
		}
	}
}

// skipBOM passes over a byte order mark at the start of the text.
func (s *scanner) skipBOM() {
	for more := true; more && s.end < 3; {
		_, more = s.fill(0)
	}
	switch b := s.buf[:s.end]; {
	case bytes.HasPrefix(b, []byte("\xef\xbb\xbf")):
		s.pos = 3
	case bytes.HasPrefix(b, []byte("\xff\xfe")), bytes.HasPrefix(b, []byte("\xfe\xff")):
		s.fail("line 1: the text is UTF-16: convert it to UTF-8")
	}
}

// next reads a field into f; false after the last record and after an error.
func (s *scanner) next(f *field) bool {
	if s.pos == s.end {
		if _, more := s.fill(s.pos); !more {
			// The text may end after a delimiter: one more empty field.
			one := s.midway && s.err == nil
			s.midway = false
			*f = field{last: true, line: s.line}
			return one
		}
	}
	f.line = s.line
	if s.buf[s.pos] == '"' {
		return s.quoted(f)
	}
	f.quoted = false
	i := s.pos
	for {
		buf, bare := s.buf[:s.end], &s.bare
		for i < len(buf) && !bare[buf[i]] {
			i++
		}
		if i < len(buf) {
			break
		}
		shift, more := s.fill(s.pos)
		i -= shift
		if !more {
			break
		}
	}
	if i-s.pos > MaxField {
		return s.fail("line %d: a field longer than %s: is a line break missing?", s.line, size(MaxField))
	}
	if i < s.end && s.buf[i] == '"' {
		return s.fail("line %d: a quote inside a field that does not start with one: quote the whole field and double the quotes in it", s.line)
	}
	start := s.pos
	if i < s.end && s.buf[i] == s.delim { // the commonest ending
		s.pos, s.midway, f.last = i+1, true, false
		f.text = s.buf[start:i]
		return true
	}
	end := s.terminator(f, &start, i)
	f.text = s.buf[start:end]
	return s.err == nil
}

// terminator passes over what follows a field whose text is start:end, and
// returns where the text ends; both move when the buffer does.
func (s *scanner) terminator(f *field, start *int, end int) int {
	i := end
	if i < s.end && s.buf[i] == '\r' {
		// A line feed must follow, or the end of the text.
		if i+1 == s.end {
			shift, _ := s.fill(*start)
			*start, end, i = *start-shift, end-shift, i-shift
		}
		if i++; i < s.end && s.buf[i] != '\n' {
			s.fail("line %d: a carriage return inside a field: quote the field, or end lines with a line feed", s.line)
		}
	}
	s.midway, f.last = false, true
	switch {
	case i >= s.end:
		s.pos = s.end
	case s.buf[i] == '\n':
		s.line++
		s.pos = i + 1
	default:
		s.midway, f.last = true, false
		s.pos = i + 1
	}
	return end
}

// quoted reads a field that starts with a quote at pos.
func (s *scanner) quoted(f *field) bool {
	f.quoted = true
	start, i, doubled := s.pos, s.pos+1, false
	for {
		k := bytes.IndexByte(s.buf[i:s.end], '"')
		if k >= 0 && i+k+1 < s.end {
			i += k
			if s.buf[i+1] != '"' {
				break
			}
			doubled = true
			i += 2
			continue
		}
		if k >= 0 {
			i += k // the quote is the last byte read so far
		} else {
			i = s.end
		}
		shift, more := s.fill(start)
		start, i = start-shift, i-shift
		if !more {
			if k >= 0 {
				break
			}
			return s.fail("line %d: the quote that starts a field here is never closed", f.line)
		}
	}
	if i-start > MaxField {
		return s.fail("line %d: a field longer than %s: is a quote missing?", f.line, size(MaxField))
	}
	if c := i + 1; c < s.end && s.buf[c] != s.delim && s.buf[c] != '\n' && s.buf[c] != '\r' {
		return s.fail("line %d: text after the closing quote of a field: double the quotes inside a quoted field",
			s.line+bytes.Count(s.buf[start:i], []byte{'\n'}))
	}
	s.line += bytes.Count(s.buf[start:i], []byte{'\n'})
	end := s.terminator(f, &start, i+1)
	f.text = s.buf[start+1 : end-1]
	if doubled {
		f.text = undouble(f.text)
	}
	return s.err == nil
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
