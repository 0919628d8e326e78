package json

import (
	"bytes"
	"errors"
	"fmt"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/stencildb/stencildb/ingest/inference"
	"github.com/stencildb/stencildb/ingest/record"
	"github.com/stencildb/stencildb/ingest/source"
	"github.com/stencildb/stencildb/sqlstate"
)

func newScanner(b record.Block) *scanner {
	return &scanner{text: b.Text, line: b.Line, from: jsontext.NewDecoder(bytes.NewBuffer(b.Text), jsontext.AllowDuplicateNames(true))}
}

// scanner reads the objects of a block.
type scanner struct {
	text []byte
	line int // of at
	at   int
	from *jsontext.Decoder
}

// next reads the next value, and the line on which it starts. It is within text.
func (s *scanner) next() (v jsontext.Value, err error) {
	if v, err = s.from.ReadValue(); err != nil {
		return nil, err
	}
	end := int(s.from.InputOffset())
	s.line += record.LineEnds(s.text[s.at : end-len(v)])
	s.at = end
	return v, nil
}

// object calls do with the name, between quotes, and the value of each member of the next object; false after the last one. do may change the value.
func (s *scanner) object(do func(name, value jsontext.Value) error) (ok bool, err error) {
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
		breaks := record.LineEnds(value) // before do changes it
		if err := do(s.text[from:from+len(name)], value); err != nil {
			return false, err
		}
		s.line += breaks
	}
	_, err = s.from.ReadToken()
	return err == nil, s.wrong(err)
}

// wrong makes the decoder's error one of the text.
func (s *scanner) wrong(err error) error {
	if err == nil {
		return nil
	}
	at, reason := s.at, err
	defer func() {
		s.line += record.LineEnds(s.text[s.at:at])
		s.at = at
	}()
	if e := (*jsontext.SyntacticError)(nil); errors.As(err, &e) {
		at, reason = max(at, min(int(e.ByteOffset), len(s.text))), e.Err
	}
	if strings.Contains(reason.Error(), "UTF-8") {
		return source.ErrUTF8
	}
	return fmt.Errorf("not valid JSON: %w", reason)
}

// fieldScanner reads the members of objects into fields.
type fieldScanner struct {
	*scanner
	named func(name string) int // which column has that name; -1: none
	raw   map[string]int        // columns by their names as they have been written
}

// column is that of a name between quotes; none: -1.
func (s *fieldScanner) column(name []byte) int {
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
func (s *fieldScanner) record(fields []inference.Field) (ok bool, err error) {
	first := true
	clear(fields)
	ok, err = s.object(func(name, value jsontext.Value) error {
		if first {
			first = false
			for i := range fields {
				fields[i].Line = s.line
			}
		}
		i := s.column(name)
		if i < 0 {
			return sqlstate.Errorf(sqlstate.UndefinedColumn, "%s is the name of no column", source.Quote(bytes.Trim(name, `"`)))
		}
		if i >= len(fields) {
			return nil
		}
		f := &fields[i]
		f.Line, f.From, f.To, f.Quoted = s.line, s.at-len(value), s.at, false
		switch value[0] {
		case 'n':
			f.To = f.From
		case '"':
			f.Quoted = true
			f.From++
			if f.To--; bytes.IndexByte(s.text[f.From:f.To], '\\') >= 0 {
				plain, err := jsontext.AppendUnquote(nil, value)
				if err != nil {
					return err
				}
				f.To = f.From + copy(s.text[f.From:], plain)
			}
		case '{', '[':
			f.Quoted = true
			packed := value.Clone()
			if err := packed.Compact(); err != nil {
				return err
			}
			f.To = f.From + copy(value, packed)
		}
		return nil
	})
	return ok, err
}
