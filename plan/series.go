package plan

import (
	"slices"
	"strings"

	"github.com/stencildb/stencildb/expr"
	"github.com/stencildb/stencildb/internal/numbers"
	"github.com/stencildb/stencildb/table"
)

// Series gives the values from Start to Stop, Step apart: constants of one type, a step of a time an interval, as generate_series. It may
// end when Limit values are there for which all of Where is TRUE.
type Series struct {
	Field             table.Field
	Start, Stop, Step expr.Expr
	Limit             int64 // -1 for none
	Where             []expr.Expr
}

// Inputs, With, Fields and String implement [Node].
func (s *Series) Inputs() []Node { return nil }

func (s *Series) With(...Node) Node { return s }

func (s *Series) Fields() []table.Field { return []table.Field{s.Field} }

func (s *Series) String() string {
	text := call("Series", []expr.Expr{s.Start, s.Stop, s.Step}, expr.Expr.String)
	return strings.TrimSuffix(text, ")") + untilRows(s.Limit, s.Where) + ")"
}

// SeriesOfEach gives the values of a series for each row of its input. The last three columns of the input are the start, the stop and
// the step. A row of the result is such a value and the columns before these three. It is the generate_series that reads columns.
type SeriesOfEach struct {
	Field table.Field // of the values: the type of the start
	Input Node
	Pos   int // where the statement asks for it
}

// Inputs, With, Fields and String implement [Node].
func (s *SeriesOfEach) Inputs() []Node { return []Node{s.Input} }

func (s *SeriesOfEach) With(inputs ...Node) Node { return &SeriesOfEach{s.Field, inputs[0], s.Pos} }

func (s *SeriesOfEach) Fields() []table.Field {
	list := s.Input.Fields()
	return slices.Concat([]table.Field{s.Field}, list[:len(list)-3])
}

func (s *SeriesOfEach) String() string { return "SeriesOfEach(" + s.Field.Name + ")" }

// untilRows says when a source ends that has a limit; negative for none.
func untilRows(limit int64, where []expr.Expr) string {
	if limit < 0 {
		return ""
	}
	text := ", until " + numbers.Count(limit, "row", "rows")
	if len(where) > 0 {
		text += " with " + Conjunction(where).String()
	}
	return text
}
