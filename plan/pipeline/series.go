package pipeline

import (
	"slices"
	"strings"

	"github.com/stencildb/stencildb/expr"
	"github.com/stencildb/stencildb/internal/xslices"
	"github.com/stencildb/stencildb/plan"
	"github.com/stencildb/stencildb/table"
)

// Series gives the values of generate_series.
type Series struct {
	Field             table.Field
	Start, Stop, Step expr.Expr // constants
	// Limit is after how many values for which all of Where is TRUE it may end; -1 for never. Where is over the value alone.
	Limit int64
	Where []expr.Expr
}

// Fields, Reads, Exprs and String implement [Source].
func (s *Series) Fields() []table.Field { return []table.Field{s.Field} }
func (s *Series) Reads() []*Pipeline    { return nil }
func (s *Series) Exprs() []expr.Expr    { return []expr.Expr{s.Start, s.Stop, s.Step} }

func (s *Series) String() string {
	return (&plan.Series{Field: s.Field, Start: s.Start, Stop: s.Stop, Step: s.Step, Limit: s.Limit, Where: s.Where}).String()
}

// SeriesOfEach gives for each row the values of a series: a row is such a value beside the row's columns.
type SeriesOfEach struct {
	Field             table.Field // of the values, which are the last column
	Start, Stop, Step expr.Expr
	Pos               int // where the statement asks for it
}

// Fields, Reads, Exprs and String implement [Step].
func (s *SeriesOfEach) Fields(in []table.Field) []table.Field {
	return append(slices.Clone(in), s.Field)
}
func (s *SeriesOfEach) Reads() []*Pipeline { return nil }
func (s *SeriesOfEach) Exprs() []expr.Expr { return []expr.Expr{s.Start, s.Stop, s.Step} }

func (s *SeriesOfEach) String() string {
	parts := xslices.Map(s.Exprs(), expr.Expr.String)
	return "SeriesOfEach(" + strings.Join(parts, ", ") + ")"
}
