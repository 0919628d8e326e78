package pipeline

import (
	"fmt"
	"strings"

	"github.com/stencildb/stencildb/table"
)

// Plan is the DAG of a statement's pipelines, in an order in which each stands behind those that it reads.
type Plan struct {
	Pipelines []*Pipeline
	Answer    Answer
}

// Answer is where the rows of a statement's answer are.
type Answer struct {
	Of      *Pipeline
	Columns []int         // of what that leaves
	Fields  []table.Field // their names and types in the answer
	// Arrays is how many of the columns each column of the answer is an array of, 0 for one as it is. It is nil where none is.
	Arrays []int
}

// Lines are the plan as text: of each pipeline a head, then source, steps and sink, a line each.
func (p *Plan) Lines() (lines []string) {
	for _, of := range p.Pipelines {
		lines = append(lines, fmt.Sprintf("Pipeline %d: %s, %s out", of.Number, rowsText(of.In(), " in"), grouped(of.Out())))
		lines = append(lines, "  "+of.Source.String())
		for i, s := range of.Steps {
			lines = append(lines, "  "+s.String()+" ("+rowsText(of.Rows[i+1], "")+")")
		}
		lines = append(lines, "  "+of.sinkText())
	}
	if len(p.Answer.Fields) > 0 {
		lines = append(lines, "Answer: "+fieldNames(p.Answer.Fields)+" of "+p.Answer.Of.name())
	}
	return lines
}

// sinkText is the sink with the columns that it leaves, where it does not name them.
func (p *Pipeline) sinkText() string {
	text := p.Sink.String()
	switch p.Sink.(type) {
	case *Rows, *Build, *Sort, *Distinct, *Window, *Scalar:
		if fields := p.Fields(); len(fields) > 0 {
			text += " leaves " + fieldNames(fields)
		}
	}
	return text
}

// String is the lines of the plan.
func (p *Plan) String() string { return strings.Join(p.Lines(), "\n") + "\n" }

// rowsText is an estimate of rows.
func rowsText(rows float64, behind string) string {
	text := grouped(rows)
	if text == "1" {
		return text + " row" + behind
	}
	return text + " rows" + behind
}
