package bench

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/stencildb/stencildb/engine"
	"github.com/stencildb/stencildb/internal/numbers"
)

// Estimates are those of the rows of a plan's nodes, beside the rows that came when cpu executed it.
type Estimates struct {
	Case
	QErrors []float64 `json:"q_errors"` // of the nodes, ascending: expected over seen, or seen over expected
	Worst   string    `json:"worst"`    // the node of the last
}

// estimate explains a statement on cpu.
func (f *field) estimate(ctx context.Context, op Operation, q Query) (err error) {
	o := f.Engine
	o.Backend = "cpu"
	db, err := engine.Open(o)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	for _, t := range f.tables {
		if err := db.Add(t); err != nil {
			return err
		}
	}
	x, err := db.Explain(ctx, q.SQL, engine.ExplainOptions{Analyze: true})
	if err != nil {
		return err
	}
	e := Estimates{Case: Case{op.Name, f.rows}}
	list := x.QErrors()
	slices.SortStableFunc(list, func(a, b engine.QError) int { return cmp.Compare(a.Factor(), b.Factor()) })
	for _, of := range list {
		e.QErrors = append(e.QErrors, rounded(of.Factor()))
		e.Worst = fmt.Sprintf("%s: %s, %s expected", of.Of, numbers.Count(of.Rows, "row", "rows"), numbers.Grouped(of.Expected))
	}
	if len(list) > 0 {
		f.report.Estimates = append(f.report.Estimates, e)
	}
	return nil
}

// estimated are the q-errors of each plan, and of all.
func (r *Report) estimated() section {
	s := section{Title: "estimated rows of the plans' nodes: by what factor they missed the rows that came (q-error)",
		Rows: [][]string{{"operation", "rows", "nodes", "median", "largest"}}}
	for _, rows := range distinct(r.Estimates, func(e Estimates) int { return e.Rows }) {
		var all []float64
		largest, worst := 0.0, ""
		for _, e := range r.Estimates {
			if e.Rows != rows {
				continue
			}
			last := e.QErrors[len(e.QErrors)-1]
			s.add(e.Operation, numbers.Grouped(rows), fmt.Sprint(len(e.QErrors)), number(median(e.QErrors)), number(last))
			if all = append(all, e.QErrors...); last > largest {
				largest, worst = last, e.Operation+", "+e.Worst
			}
		}
		s.Notes = append(s.Notes, fmt.Sprintf("Of all %d nodes over %s rows: median %s, largest %s (%s).", len(all), numbers.Grouped(rows), number(median(all)), number(largest), worst))
	}
	return s
}
