package evaluation

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/stencildb/stencildb/bench/report"
)

// Merge makes one report of the parts of a run of a suite that has figures: of one machine, commit and
// data. A case that several parts have is that of the first. The headlines are judged anew, of
// one part too.
func Merge(parts ...*report.Report) (*report.Report, error) {
	if len(parts) == 0 {
		return nil, errors.New("give a report or more")
	}
	r := *parts[0]
	r.Results, r.Skipped, r.Floors, r.Ties, r.Headlines = slices.Clone(r.Results), slices.Clone(r.Skipped), slices.Clone(r.Floors), nil, nil
	for _, p := range parts {
		if s, err := Find(p.Suite); err != nil || s.Figures == nil {
			return nil, fmt.Errorf("suite %s has no figures: only reports of %s have parts", p.Suite, strings.Join(WithFigures(), ", "))
		}
		if p.Suite != parts[0].Suite {
			return nil, fmt.Errorf("the reports are no parts of one run, they are of the suites %s and %s", parts[0].Suite, p.Suite)
		}
		if d := report.Differences(parts[0], p); len(d) > 0 {
			return nil, fmt.Errorf("the reports are no parts of one run, they differ in %s", strings.Join(d, "; "))
		}
		if a, b := parts[0].Machine.Commit, p.Machine.Commit; a != b {
			return nil, fmt.Errorf("the reports are no parts of one run, they differ in the commit: %s, %s", a, b)
		}
	}
	for _, p := range parts[1:] {
		r.Command += "; " + p.Command
		r.Interrupted = r.Interrupted || p.Interrupted
		r.Machine.LoadAverage = max(r.Machine.LoadAverage, p.Machine.LoadAverage)
		for _, x := range p.Results {
			if r.FindCase(x.Case, x.System) == nil {
				r.Results = append(r.Results, x)
			}
		}
		for _, s := range p.Skipped {
			if !slices.Contains(r.Skipped, s) {
				r.Skipped = append(r.Skipped, s)
			}
		}
		for _, f := range p.Floors {
			if !slices.ContainsFunc(r.Floors, func(o report.Floor) bool { return o.Rows == f.Rows }) {
				r.Floors = append(r.Floors, f)
			}
		}
	}
	slices.SortStableFunc(r.Results, func(a, b report.Result) int { return a.Rows - b.Rows })
	slices.SortFunc(r.Floors, func(a, b report.Floor) int { return a.Rows - b.Rows })
	Of(&r).Finish()
	return &r, nil
}
