package pipeline

import (
	"github.com/stencildb/stencildb/expr"
	"github.com/stencildb/stencildb/table"
)

// BuildScan gives the rows of a build that have a partner among the rows that probed it, or those that have none. A probe has noted which.
type BuildScan struct {
	Build   *Pipeline
	After   *Pipeline // that probes it
	Matched bool      // those that have a partner
}

// Fields, Reads, Exprs and String implement [Source].
func (s *BuildScan) Fields() []table.Field { return s.Build.Fields() }
func (s *BuildScan) Reads() []*Pipeline    { return []*Pipeline{s.Build, s.After} }
func (s *BuildScan) Exprs() []expr.Expr    { return nil }

func (s *BuildScan) String() string {
	which := "unmatched"
	if s.Matched {
		which = "matched"
	}
	return "BuildScan(" + s.Build.name() + ", rows " + which + " by " + s.After.name() + ")"
}
