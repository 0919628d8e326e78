package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// freshRun is the report of a benchmark by the fresh protocol on an H200, beside DuckDB.
type freshRun struct {
	root, report string
	rows         string // of the largest table, as the report writes them
}

// freshRuns are the committed runs, by suite.
var freshRuns = map[string]freshRun{
	"ssb":  {report: "h200-ssb.txt", rows: "120,000,000"},
	"tpch": {report: "h200-tpch.txt", rows: "60,000,000"},
}

func freshRunOf(root, suite string) (freshRun, error) {
	r, ok := freshRuns[suite]
	if !ok {
		return r, fmt.Errorf("no report has new parameters of the suite %q", suite)
	}
	r.root = root
	return r, nil
}

// queryTimes are the medians of a query by system, "new", "repeated" or "cold", in milliseconds as the report writes them.
type queryTimes struct {
	query string
	ms    map[[2]string]string
	over  string // the ratio of auto to DuckDB with new parameters
}

// times are the medians of all queries.
func (r freshRun) times() (list []queryTimes, err error) {
	rows, err := reportTable(r.root, r.report, r.rows+" rows, median ms")
	if err != nil {
		return nil, err
	}
	ratios, err := reportTable(r.root, r.report, r.rows+" rows, new parameters, time over that of duckdb")
	if err != nil {
		return nil, err
	}
	auto := slices.Index(ratios[0], "auto")
	for _, row := range rows[1:] {
		if len(list) == 0 || list[len(list)-1].query != row[0] {
			list = append(list, queryTimes{query: row[0], ms: map[[2]string]string{}})
		}
		q := &list[len(list)-1]
		system, _, _ := strings.Cut(row[1], " ") // the backend that sorts stands behind it
		for i, head := range rows[0] {
			q.ms[[2]string{system, head}] = withoutSpread(row[i])
		}
	}
	for i := range list {
		at := slices.IndexFunc(ratios, func(row []string) bool { return row[0] == list[i].query })
		if auto < 0 || at < 0 {
			return nil, fmt.Errorf("docs/results/%s has no ratio of auto for %s", r.report, list[i].query)
		}
		list[i].over = withoutSpread(ratios[at][auto])
	}
	return list, nil
}

// withoutSpread is a cell without the spread behind its number.
func withoutSpread(cell string) string {
	number, _, _ := strings.Cut(cell, " ")
	return number
}

// title is a query's number, as texts write it.
func (q queryTimes) title() string { return strings.ToUpper(q.query) }

// mean is the geometric mean of auto's ratios to DuckDB, with parameters that are "new" or "repeated".
func (r freshRun) mean(parameters string) (string, error) {
	rows, err := reportTable(r.root, r.report, "of all these ratios")
	if err != nil {
		return "", err
	}
	at := slices.Index(rows[0], "geometric mean")
	for _, row := range rows[1:] {
		if at >= 0 && row[0] == "auto" && row[1] == parameters {
			return row[at], nil
		}
	}
	return "", fmt.Errorf("docs/results/%s has no geometric mean of auto with %s parameters", r.report, parameters)
}

// where lists the queries of which a condition holds.
func where(list []queryTimes, holds func(queryTimes) bool) string {
	var names []string
	for _, q := range list {
		if holds(q) {
			names = append(names, q.title())
		}
	}
	if len(names) == 0 {
		return "none"
	}
	return strings.Join(names, ", ")
}

func number(text string) float64 {
	x, _ := strconv.ParseFloat(text, 64)
	return x
}

func slower(q queryTimes) bool { return number(q.over) > 1 }

var compiledDraws = regexp.MustCompile(`(?m)^([0-9]+ of [0-9]+) draws that are counted made GL programs`)

// freshTable has the times of each query of a suite with new parameters on an H200, and what follows from them.
func freshTable(root, suite string) (string, error) {
	r, err := freshRunOf(root, suite)
	if err != nil {
		return "", err
	}
	list, err := r.times()
	if err != nil {
		return "", err
	}
	var b strings.Builder
	line(&b, "query", "`auto` new", "repeated", "cold", "`compute` new", "`cpu` new", "DuckDB new", "new `auto` / DuckDB")
	b.WriteString("|---" + strings.Repeat("|---:", 7) + "|\n")
	for _, q := range list {
		cells := []string{q.title()}
		for _, of := range [][2]string{{"auto", "new"}, {"auto", "repeated"}, {"auto", "cold"}, {"compute", "new"}, {"cpu", "new"}, {"duckdb", "new"}} {
			ms, ok := q.ms[of]
			if !ok {
				return "", fmt.Errorf("docs/results/%s has no %s time of %s for %s", r.report, of[1], of[0], q.query)
			}
			cells = append(cells, ms)
		}
		line(&b, append(cells, q.over)...)
	}
	fresh, err := r.mean("new")
	if err != nil {
		return "", err
	}
	repeated, err := r.mean("repeated")
	if err != nil {
		return "", err
	}
	text, err := os.ReadFile(filepath.Join(root, "docs/results", r.report))
	if err != nil {
		return "", err
	}
	draws := compiledDraws.FindSubmatch(text)
	if draws == nil {
		return "", fmt.Errorf("docs/results/%s does not say how many draws made programs", r.report)
	}
	fmt.Fprintf(&b, "\nRatios are medians of the rounds' ratios.\n\n- Beside DuckDB the geometric mean of `auto` is %s with new parameters and %s repeated.\n", fresh, repeated)
	fmt.Fprintf(&b, "- Slower than DuckDB with new parameters: %s.\n", where(list, slower))
	fmt.Fprintf(&b, "- `auto` takes more than 1.25 times what `cpu` takes: %s.\n", where(list, func(q queryTimes) bool {
		return number(q.ms[[2]string{"auto", "new"}]) > 1.25*number(q.ms[[2]string{"cpu", "new"}])
	}))
	fmt.Fprintf(&b, "- %s draws compiled a program, and their time is counted.\n", draws[1])
	return b.String(), nil
}

// freshSummary is the runs with new parameters in a line each.
func freshSummary(root string) (string, error) {
	var b strings.Builder
	line(&b, "benchmark", "rows", "`auto` / DuckDB, new parameters", "repeated", "slower than DuckDB with new parameters")
	b.WriteString("|---|---:|---:|---:|---|\n")
	for _, s := range []struct{ suite, title string }{{"ssb", "Star Schema Benchmark"}, {"tpch", "TPC-H"}} {
		r, err := freshRunOf(root, s.suite)
		if err != nil {
			return "", err
		}
		list, err := r.times()
		if err != nil {
			return "", err
		}
		fresh, err := r.mean("new")
		if err != nil {
			return "", err
		}
		repeated, err := r.mean("repeated")
		if err != nil {
			return "", err
		}
		line(&b, s.title, r.rows, fresh, repeated, where(list, slower))
	}
	return b.String(), nil
}

// publishedClaims is the table of a later paper's claims in the page of its run on an H200. Where there is none, it is that on two cores.
func publishedClaims(root, suite string) (string, error) {
	page := "docs/results/h200-" + suite + ".md"
	text, err := os.ReadFile(filepath.Join(root, page))
	if errors.Is(err, fs.ErrNotExist) {
		page = "docs/results/llvmpipe-" + suite + ".md"
		text, err = os.ReadFile(filepath.Join(root, page))
	}
	if err != nil {
		return "", err
	}
	_, rest, found := strings.Cut(string(text), "\n## What the text says, and here\n\n")
	list, _, ended := strings.Cut(rest, "\n\n")
	if !found || !ended || !strings.HasPrefix(list, "|") {
		return "", fmt.Errorf("%s has no table of what the text says", page)
	}
	return list + "\n", nil
}
