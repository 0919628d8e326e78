package evaluation

import (
	"cmp"
	"fmt"
	"strings"
	"sync"

	"github.com/stencildb/stencildb/bench/report"
	"github.com/stencildb/stencildb/internal/xslices"
	"github.com/stencildb/stencildb/papers/hsu"
	"github.com/stencildb/stencildb/papers/lab"
	"github.com/stencildb/stencildb/papers/pary"
	"github.com/stencildb/stencildb/papers/wisconsin"
)

// Paper is what the reports of a suite repeat: the figures, tables and claims of a paper. Of a suite that repeats none it has the
// name only.
type Paper struct {
	lab.Paper
	// Graphics says that it is the 2004 paper, and Experiments that its cases are ways of package lab in the place of statements.
	Graphics, Experiments bool
	claims                []claim                  // what the paper says
	remarks               func(Evaluated) []remark // what is said beside
}

// papers are those of the suites, in the order in which these are shown.
var papers = sync.OnceValue(func() (list []Paper) {
	list = xslices.Map([]string{"operations", "auto", "targets"}, func(name string) Paper { return Paper{Paper: lab.Paper{Name: name}} })
	list = append(list, Paper{Paper: lab.Paper{Name: "paper", Rows: PaperRows, Figures: Figures,
		Title: "Fast Computation of Database Operations using Graphics Processors (2004): the evaluation, run again"},
		Graphics: true, claims: paperClaims(), remarks: Evaluated.paperRemarks})
	for _, name := range []string{"load", "relational", "functions", "ssb", "tpch"} {
		list = append(list, Paper{Paper: lab.Paper{Name: name}})
	}
	for _, p := range []lab.Paper{pary.Paper(), wisconsin.Paper(), hsu.Paper()} {
		of := Paper{Paper: p, Experiments: true}
		for _, c := range p.Claims {
			of.claims = append(of.claims, claim{Claim: c})
		}
		list = append(list, of)
	}
	return list
})

// Find is what the suite of that name repeats.
func Find(suite string) (Paper, error) {
	var names []string
	for _, p := range papers() {
		if p.Name == suite {
			return p, nil
		}
		names = append(names, p.Name)
	}
	return Paper{}, fmt.Errorf("no suite %q: there are %s", suite, strings.Join(names, ", "))
}

// WithFigures names the suites that have figures.
func WithFigures() (names []string) {
	for _, p := range papers() {
		if p.Figures != nil {
			names = append(names, p.Name)
		}
	}
	return names
}

// WithExperiments names the suites that are experiments of papers.
func WithExperiments() (names []string) {
	for _, p := range papers() {
		if p.Experiments {
			names = append(names, p.Name)
		}
	}
	return names
}

// Reference is the number of rows over which claims are judged.
func (p Paper) Reference() int { return cmp.Or(p.Rows, 1) }

// Records is what a row is called.
func (p Paper) Records() string { return cmp.Or(p.Counted, "records") }

// Evaluated is a report beside what its suite repeats.
type Evaluated struct {
	*report.Report
	Paper Paper
}

// Of sets a report beside what its suite repeats: of a user's statements nothing.
func Of(r *report.Report) Evaluated {
	p, _ := Find(r.Suite)
	return Evaluated{r, p}
}
