package json

import (
	"fmt"
	"runtime"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/stencildb/stencildb/ingest/inference"
	"github.com/stencildb/stencildb/ingest/record"
	"github.com/stencildb/stencildb/ingest/source"
	"github.com/stencildb/stencildb/sqlstate"
)

// text is JSON files that are read.
type text struct {
	*record.Reader
	members map[string]int // columns by the names of members
}

// Cutter implements [record.Format].
func (r *text) Cutter() record.Cutter {
	var objects cutter
	return func(text []byte, from int, last bool) (end int, quotes bool, wrong *record.Misplaced) {
		end, wrong = objects.cut(text, from, last)
		return end, false, wrong
	}
}

// Decide implements [record.Format].
func (r *text) Decide(record.Headers) error {
	for col := range r.Inferred {
		r.Inferred[col].DecideStrings()
	}
	return nil
}

// names are the names of the members of a block's objects, in the order in which they come.
func (r *text) names(b record.Block) (names []string, fault *record.Fault) {
	s, seen := newScanner(b), map[string]bool{}
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
			return names, r.fault(s, err)
		}
		if !ok {
			return names, nil
		}
	}
}

// fault is an error where a scanner is.
func (r *text) fault(s *scanner, err error) *record.Fault {
	if err == source.ErrUTF8 {
		err = r.NotUTF8()
	}
	return &record.Fault{Line: s.line, Col: record.MaxColumns, Err: fmt.Errorf("line %d: %w", s.line, err)}
}

// member is the column of a member's name; -1: none.
func (r *text) member(name string) int {
	if i, ok := r.members[name]; ok {
		return i
	}
	if r.Source.Columns == nil {
		return -1
	}
	return r.Find(name)
}

// Records implements [record.Format].
func (r *text) Records(b record.Block, columns int, _ *record.BlankLines, do func(fields []inference.Field, columns int) *record.Fault) (first, other *record.Fault) {
	return r.read(b, columns, do), nil
}

func (r *text) read(b record.Block, columns int, do func(fields []inference.Field, columns int) *record.Fault) *record.Fault {
	s := &fieldScanner{newScanner(b), r.member, map[string]int{}}
	fields, at := make([]inference.Field, max(1, record.BatchFields/columns)*columns), 0
	for {
		ok, err := s.record(fields[at : at+columns])
		if err != nil {
			if at > 0 {
				if fault := do(fields[:at], columns); fault != nil {
					return fault
				}
			}
			return r.fault(s.scanner, err)
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

// columns takes the columns from the names of all members.
func (r *text) columns() error {
	type found struct {
		names []string
		fault *record.Fault
		of    string
	}
	var names []string
	if r.Source.Columns != nil {
		for _, c := range r.Source.Columns {
			names = append(names, c.Name)
		}
	} else {
		of := func(b record.Block) (f found) {
			if f.of = r.Named(b); b.Err != nil {
				f.fault = &record.Fault{Line: b.Line, Err: b.Err}
			} else {
				f.names, f.fault = r.names(b)
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
				return fmt.Errorf("%s: %w", f.of, f.fault.Err)
			case f.fault != nil:
				return f.fault.Err
			case len(names) > record.MaxColumns:
				return sqlstate.Errorf(sqlstate.TooManyColumns, "more than %d different names of members", record.MaxColumns)
			}
			return r.Ctx.Err()
		}
		if err := record.Pass(r.Reader, runtime.GOMAXPROCS(0), of, then); err != nil {
			return err
		}
	}
	if len(names) == 0 {
		return sqlstate.Errorf(sqlstate.BadCopyFileFormat, "there is no object with a member, and so no column")
	}
	for i, name := range names {
		r.members[name] = i
		r.First = append(r.First, inference.Heading{Content: inference.Content{Text: []byte(name)}, Line: 1})
	}
	r.OfColumns()
	if r.Source.Columns != nil {
		r.Fields = record.Without(r.Source.Columns)
		return nil
	}
	for i, name := range names {
		if r.Fields[i].Name = name; name == "" {
			r.Fields[i].Name = fmt.Sprintf("column%d", i+1)
		}
	}
	if err := r.DistinctNames(r.Fields); err != nil {
		return err
	}
	return r.Declare()
}

// Open reads JSON files until their columns are known.
func Open(files []*source.Loader) (*record.Reader, error) {
	r := &text{members: map[string]int{}}
	r.Reader = record.NewReader(files, r)
	r.Source.Header = source.HeaderNone
	if err := r.columns(); err != nil {
		return nil, err
	}
	return r.Reader, r.Learn()
}
