package main

import (
	"encoding/csv"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/stencildb/stencildb/internal/numbers"
)

// report has the medians of a committed run of the paper's figures, in milliseconds, by operation, rows and system.
type report map[string]map[int]map[string]float64

// sample is a line of a figure's CSV file: the median in milliseconds of an operation over so many rows by a system.
type sample struct {
	operation, system string
	rows              int
	ms                float64
}

// readCSV reads a figure's CSV file. Lines without a number of rows, of figures with another axis, are left out.
func readCSV(file string) (list []sample, err error) {
	text, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	lines, err := csv.NewReader(strings.NewReader(string(text))).ReadAll()
	if err != nil {
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	at := map[string]int{}
	for i, name := range lines[0] {
		at[name] = i
	}
	for _, line := range lines[1:] {
		rows, wrong := strconv.Atoi(line[at["rows"]])
		ms, alsoWrong := strconv.ParseFloat(line[at["median_ms"]], 64)
		if wrong == nil && alsoWrong == nil {
			list = append(list, sample{line[at["operation"]], line[at["system"]], rows, ms})
		}
	}
	return list, nil
}

// readReport reads the figures' CSV files in a folder under docs/results.
func readReport(root, folder string) (report, error) {
	list, err := filepath.Glob(filepath.Join(root, "docs/results", folder, "figure-*.csv"))
	if err != nil {
		return nil, err
	}
	r := report{}
	for _, file := range list {
		samples, err := readCSV(file)
		if err != nil {
			return nil, err
		}
		for _, x := range samples {
			if r[x.operation] == nil {
				r[x.operation] = map[int]map[string]float64{}
			}
			if r[x.operation][x.rows] == nil {
				r[x.operation][x.rows] = map[string]float64{}
			}
			r[x.operation][x.rows][x.system] = x.ms
		}
	}
	return r, nil
}

// digits writes a number with n digits, and in hundreds from 1,000 on.
func digits(x float64, n int) string {
	if x >= 1000 {
		return numbers.Grouped(int(x/100+0.5) * 100)
	}
	return strings.TrimSuffix(fmt.Sprintf("%#.*g", n, x), ".")
}

const million, quarterGi = 1_000_000, 1 << 28

// operations are those of the paper's headlines. They have their title, the paper's gain over its CPU, and
// its gain without the copy to depth.
var operations = []struct{ title, name, paper, bare, over string }{
	{"predicate, 60 % selectivity", "predicate", "3", "20", "cpu"},
	{"range", "range", "5.5", "40", "cpu"},
	{"AND of four", "and4", "2", "20", "cpu"},
	{"semi-linear, integers", "semilinear", "9", "", "cpu"},
	{"SUM", "sum", "0.05", "", "cpu"},
	{"median, over quickselect on one core", "median", "2", "2.5", "quickselect"},
	{"median, over the CPU's own", "median", "", "", "cpu"},
}

// speedTable is what the backends take over the largest table of the H200's run.
func speedTable(root string) (string, error) {
	r, err := readReport(root, "paper-h200")
	if err != nil {
		return "", err
	}
	var b strings.Builder
	line(&b, "ms, 268 M rows", "`classic`", "`fused`", "`compute`", "`cpu`, 16 cores")
	b.WriteString("|---|---:|---:|---:|---:|\n")
	for _, o := range []struct{ title, name string }{{"COUNT, one condition", "predicate"}, {"COUNT, AND of four", "and4"}, {"SUM", "sum"}, {"MEDIAN", "median"}} {
		cells := []string{o.title}
		for _, system := range []string{"classic", "fused", "compute", "cpu"} {
			ms, ok := r[o.name][quarterGi][system]
			if !ok {
				return "", fmt.Errorf("the report of the H200 has no %s by %s", o.name, system)
			}
			cells = append(cells, digits(ms, 3))
		}
		line(&b, cells...)
	}
	return b.String(), nil
}

// ratioTable is how many times as fast as the CPU the backends are in the committed runs.
func ratioTable(root string) (string, error) {
	h200, err := readReport(root, "paper-h200")
	if err != nil {
		return "", err
	}
	soft, err := readReport(root, "paper-llvmpipe")
	if err != nil {
		return "", err
	}
	var b strings.Builder
	line(&b, "", "paper, 2004", "`classic`, 1 M", "268 M", "`fused`, 1 M", "268 M", "`compute`, 1 M", "268 M", "`classic` on llvmpipe, 1 M")
	b.WriteString("|---" + strings.Repeat("|---:", 8) + "|\n")
	gain := func(r report, operation string, rows int, system, over string) string {
		took, ok := r[operation][rows][system]
		beside, alsoOk := r[operation][rows][over]
		if !ok || !alsoOk {
			return ""
		}
		return digits(beside/took, 2)
	}
	for _, o := range operations {
		cells := []string{o.title, o.paper}
		for _, system := range []string{"classic", "fused", "compute"} {
			cells = append(cells, gain(h200, o.name, million, system, o.over), gain(h200, o.name, quarterGi, system, o.over))
		}
		line(&b, append(cells, gain(soft, o.name, million, "classic", o.over))...)
		if o.bare == "" {
			continue
		}
		line(&b, "– copy excluded", o.bare, gain(h200, o.name, million, classicBare, o.over), gain(h200, o.name, quarterGi, classicBare, o.over), "", "", "", "",
			gain(soft, o.name, million, classicBare, o.over))
	}
	return b.String(), nil
}

// classicBare is `classic` without the copies to depth, in reports.
const classicBare = "classic-copy-excluded"
