package ingest

import (
	"bytes"
	"errors"
	"fmt"
	"runtime"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/stencildb/stencildb/sqlstate"
)

// JSON is read as CSV is, in blocks of whole objects: the members of an object are the fields of a record, a string is what is between quotes, and a
// member that is not there is NULL.

// jsonCutter finds where objects end in a text of JSON: objects one after the other, or one array of them. What stands between the objects of an
// array it makes blanks, so that a block is objects one after the other.
type jsonCutter struct {
	state   jsonState
	depth   int  // of what is open, but the array
	array   bool // the objects are in one
	quoted  bool // within a string
	escaped bool // behind a backslash there
}

// jsonState is what has been seen last outside of objects.
type jsonState uint8

const (
	jsonStart jsonState = iota
	jsonOpen            // the bracket that opens the array
	jsonComma
	jsonObject
	jsonEnd // the bracket that closes it
)

// errJSON is what is wrong at a place of a text, so many lines behind the objects before it.
type errJSON struct {
	at, line int
	err      error
}

// cut goes on at a place of text, of which there is more unless it is the last, and returns where the last object that ends in it does; 0 for none. What
// is wrong between objects is told with its place.
func (c *jsonCutter) cut(text []byte, from int, last bool) (end int, wrong *errJSON) {
	fail := func(i int, format string, args ...any) (int, *errJSON) {
		return end, &errJSON{at: i, err: fmt.Errorf(format, args...)}
	}
	for i := from; i < len(text); i++ {
		b := text[i]
		switch {
		case c.escaped:
			c.escaped = false
		case c.quoted:
			c.quoted, c.escaped = b != '"', b == '\\'
		case b <= ' ':
		case c.depth > 0:
			switch b {
			case '"':
				c.quoted = true
			case '{', '[':
				c.depth++
			case '}', ']':
				if c.depth--; c.depth == 0 {
					end, c.state = i+1, jsonObject
				}
			}
		case c.state == jsonEnd:
			return fail(i, "text after the array of objects")
		case b == '{':
			if c.array && c.state == jsonObject {
				return fail(i, "a comma is missing between two objects of the array")
			}
			c.depth = 1
		case b == '[' && c.state == jsonStart:
			c.array, c.state, text[i] = true, jsonOpen, ' '
		case b == ',' && c.array && c.state == jsonObject:
			c.state, text[i] = jsonComma, ' '
		case b == ']' && c.array && c.state != jsonComma:
			c.state, text[i] = jsonEnd, ' '
		default:
			return fail(i, "%s is where an object is expected: {\"name\": value, ...}", quote(text[i:min(len(text), i+20)]))
		}
	}
	switch {
	case !last:
		return end, nil
	case c.depth > 0:
		return fail(len(text), "an object does not end: the file is cut short, or a bracket or quote is missing")
	case c.array && c.state != jsonEnd:
		return fail(len(text), "the array of objects does not end: its ] is missing")
	}
	return len(text), nil
}

// jsonScanner reads the objects of a block.
type jsonScanner struct {
	text []byte
	line int // of at
	at   int
	from *jsontext.Decoder
}

func newJSONScanner(b block) *jsonScanner {
	return &jsonScanner{text: b.text, line: b.line, from: jsontext.NewDecoder(bytes.NewBuffer(b.text), jsontext.AllowDuplicateNames(true))}
}

// next reads the next value, and the line on which it starts. It is within text.
func (s *jsonScanner) next() (v jsontext.Value, err error) {
	if v, err = s.from.ReadValue(); err != nil {
		return nil, err
	}
	end := int(s.from.InputOffset())
	s.line += lineEnds(s.text[s.at : end-len(v)])
	s.at = end
	return v, nil
}

// object calls do with the name, between quotes, and the value of each member of the next object; false after the last one. do may change the value.
func (s *jsonScanner) object(do func(name, value jsontext.Value) error) (ok bool, err error) {
	if s.from.PeekKind() == 0 {
		if rest := bytes.TrimSpace(s.text[s.from.InputOffset():]); len(rest) == 0 {
			return false, nil
		}
	}
	if _, err := s.from.ReadToken(); err != nil {
		return false, s.wrong(err)
	}
	for s.from.PeekKind() != '}' {
		name, err := s.next()
		if err != nil {
			return false, s.wrong(err)
		}
		from := s.at - len(name)
		value, err := s.next()
		if err != nil {
			return false, s.wrong(err)
		}
		breaks := lineEnds(value) // before do changes it
		if err := do(s.text[from:from+len(name)], value); err != nil {
			return false, err
		}
		s.line += breaks
	}
	_, err = s.from.ReadToken()
	return err == nil, s.wrong(err)
}

// wrong makes the decoder's error one of the text.
func (s *jsonScanner) wrong(err error) error {
	if err == nil {
		return nil
	}
	at, reason := s.at, err
	defer func() {
		s.line += lineEnds(s.text[s.at:at])
		s.at = at
	}()
	if e := (*jsontext.SyntacticError)(nil); errors.As(err, &e) {
		at, reason = max(at, min(int(e.ByteOffset), len(s.text))), e.Err
	}
	if strings.Contains(reason.Error(), "UTF-8") {
		return errUTF8
	}
	return fmt.Errorf("not valid JSON: %w", reason)
}

// jsonFields reads the members of objects into fields.
type jsonFields struct {
	*jsonScanner
	named func(name string) int // which column has that name; -1: none
	raw   map[string]int        // columns by their names as they have been written
}

// column is that of a name between quotes; none: -1.
func (s *jsonFields) column(name []byte) int {
	if i, ok := s.raw[string(name)]; ok {
		return i
	}
	i := -1
	if plain, err := jsontext.AppendUnquote(nil, name); err == nil {
		i = s.named(string(plain))
	}
	s.raw[string(name)] = i
	return i
}

// record reads an object into fields, as many as there are; members beyond are left out. ok is false after the last one.
func (s *jsonFields) record(fields []field) (ok bool, err error) {
	first := true
	clear(fields)
	ok, err = s.object(func(name, value jsontext.Value) error {
		if first {
			first = false
			for i := range fields {
				fields[i].line = s.line
			}
		}
		i := s.column(name)
		if i < 0 {
			return sqlstate.Errorf(sqlstate.UndefinedColumn, "%s is the name of no column", quote(bytes.Trim(name, `"`)))
		}
		if i >= len(fields) {
			return nil
		}
		f := &fields[i]
		f.line, f.from, f.to, f.quoted = s.line, s.at-len(value), s.at, false
		switch value[0] {
		case 'n':
			f.to = f.from
		case '"':
			f.quoted = true
			f.from++
			if f.to--; bytes.IndexByte(s.text[f.from:f.to], '\\') >= 0 {
				plain, err := jsontext.AppendUnquote(nil, value)
				if err != nil {
					return err
				}
				f.to = f.from + copy(s.text[f.from:], plain)
			}
		case '{', '[':
			f.quoted = true
			packed := value.Clone()
			if err := packed.Compact(); err != nil {
				return err
			}
			f.to = f.from + copy(value, packed)
		}
		return nil
	})
	return ok, err
}

// jsonNames are the names of the members of a block's objects, in the order in which they come.
func (r *csvReader) jsonNames(b block) (names []string, fault *fault) {
	s, seen := newJSONScanner(b), map[string]bool{}
	for {
		ok, err := s.object(func(name, _ jsontext.Value) error {
			if !seen[string(name)] {
				seen[string(name)] = true
				plain, err := jsontext.AppendUnquote(nil, name)
				if err != nil {
					return err
				}
				names = append(names, string(plain))
			}
			return nil
		})
		if err != nil {
			return names, r.jsonFault(s, err)
		}
		if !ok {
			return names, nil
		}
	}
}

// jsonFault is an error where a scanner is.
func (r *csvReader) jsonFault(s *jsonScanner, err error) *fault {
	if err == errUTF8 {
		err = r.notUTF8()
	}
	return &fault{s.line, maxColumns, fmt.Errorf("line %d: %w", s.line, err)}
}

// member is the column of a member's name; -1: none.
func (r *csvReader) member(name string) int {
	if i, ok := r.members[name]; ok {
		return i
	}
	if r.src.Columns == nil {
		return -1
	}
	return r.find(name)
}

// jsonRecords is records of a block of JSON.
func (r *csvReader) jsonRecords(b block, columns int, do func(fields []field, columns int) *fault) *fault {
	s := &jsonFields{newJSONScanner(b), r.member, map[string]int{}}
	fields, at := make([]field, max(1, batchFields/columns)*columns), 0
	for {
		ok, err := s.record(fields[at : at+columns])
		if err != nil {
			if at > 0 {
				if fault := do(fields[:at], columns); fault != nil {
					return fault
				}
			}
			return r.jsonFault(s.jsonScanner, err)
		}
		if ok {
			at += columns
		}
		if at > 0 && (!ok || at == len(fields)) {
			if fault := do(fields[:at], columns); fault != nil {
				return fault
			}
			at = 0
		}
		if !ok {
			return nil
		}
	}
}

// jsonColumns takes the columns from the names of all members.
func (r *csvReader) jsonColumns() error {
	type found struct {
		names []string
		fault *fault
		of    string
	}
	var names []string
	r.members = map[string]int{}
	if r.src.Columns != nil {
		for _, c := range r.src.Columns {
			names = append(names, c.Name)
		}
	} else {
		of := func(b block) (f found) {
			if f.of = r.named(b); b.err != nil {
				f.fault = &fault{line: b.line, err: b.err}
			} else {
				f.names, f.fault = r.jsonNames(b)
			}
			return f
		}
		then := func(f found) error {
			for _, name := range f.names {
				if _, known := r.members[name]; !known {
					r.members[name] = len(names)
					names = append(names, name)
				}
			}
			switch {
			case f.fault != nil && f.of != "":
				return fmt.Errorf("%s: %w", f.of, f.fault.err)
			case f.fault != nil:
				return f.fault.err
			case len(names) > maxColumns:
				return sqlstate.Errorf(sqlstate.TooManyColumns, "more than %d different names of members", maxColumns)
			}
			return r.ctx.Err()
		}
		if err := pass(r, runtime.GOMAXPROCS(0), of, then); err != nil {
			return err
		}
	}
	if len(names) == 0 {
		return sqlstate.Errorf(sqlstate.BadCopyFileFormat, "there is no object with a member, and so no column")
	}
	for i, name := range names {
		r.members[name] = i
		r.first = append(r.first, heading{content{text: []byte(name)}, 1})
	}
	r.ofColumns()
	if r.src.Columns != nil {
		r.fields = r.without()
		return nil
	}
	for i, name := range names {
		if r.fields[i].Name = name; name == "" {
			r.fields[i].Name = fmt.Sprintf("column%d", i+1)
		}
	}
	if err := r.distinctNames(r.fields); err != nil {
		return err
	}
	return r.declare()
}

// settleJSON says what strings are: dates and timestamps are values of their own, NaN and Infinity among numbers; everything else is text.
func (in *inference) settleJSON() {
	bare := in.some(class.isNumber)
	for k := range classes {
		bare -= in.quoted[k] * btoi(k.isNumber())
	}
	if n := in.count[classCode] - in.quoted[classCode]; n > 0 { // a number as any other
		if !in.has(classFloat) || in.first[classCode].compare(in.first[classFloat]) < 0 {
			in.first[classFloat] = in.first[classCode]
		}
		in.count[classCode] -= n
		in.count[classFloat] += n
	}
	for k := range classText {
		n := in.quoted[k]
		if n == 0 || k == classDate || k == classTimestamp || k == classWord && bare > 0 {
			continue
		}
		in.move(k, classText, n)
	}
}

func btoi(b bool) int {
	if b {
		return 1
	}
	return 0
}
