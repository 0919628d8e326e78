package main

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// reportTable returns the rows of a table in a report of bench. They are the lines below the one that begins
// with head, the table's own heads first. Columns are apart by two blanks or more.
func reportTable(root, report, head string) (rows [][]string, err error) {
	text, err := os.ReadFile(filepath.Join(root, "docs/results", report))
	if err != nil {
		return nil, err
	}
	_, rest, found := strings.Cut("\n"+string(text), "\n"+head)
	if !found {
		return nil, fmt.Errorf("docs/results/%s has nothing that begins with %q", report, head)
	}
	for _, line := range strings.Split(rest, "\n")[1:] {
		if !strings.HasPrefix(line, "  ") {
			if len(rows) > 0 {
				break
			}
			continue // a remark below the head
		}
		rows = append(rows, apart.Split(strings.TrimSpace(line), -1))
	}
	for _, row := range rows {
		if len(row) != len(rows[0]) {
			return nil, fmt.Errorf("docs/results/%s: %q has %d columns of %d", report, row, len(row), len(rows[0]))
		}
	}
	return rows, nil
}

var apart = regexp.MustCompile(` {2,}`)

// claim is a headline of the paper in a report: cells by the table's heads.
type claim map[string]string

// claims are the headlines of a report.
func claims(root, report string) (list []claim, err error) {
	rows, err := reportTable(root, report, "The paper's headlines, ")
	if err != nil {
		return nil, err
	}
	for _, row := range rows[1:] {
		c := claim{}
		for i, head := range rows[0] {
			c[head] = row[i]
		}
		list = append(list, c)
	}
	return list, nil
}

const headline = "the paper's headline"

// claimTable has the headlines of a figure as an H200 showed them, and as llvmpipe did over its largest table.
func claimTable(root, figure string) (string, error) {
	h200, err := claims(root, "paper-h200/paper.txt")
	if err != nil {
		return "", err
	}
	soft, err := claims(root, "paper-llvmpipe/paper.txt")
	if err != nil {
		return "", err
	}
	var b strings.Builder
	line(&b, headline, "records", "paper", "here", "95 % interval", "`fused`", "`compute`", "verdict", "on llvmpipe")
	b.WriteString("|---|---:|---:|---:|---:|---:|---:|---|---|\n")
	last := ""
	for _, c := range h200 {
		if c["figure"] != figure {
			continue
		}
		beside := ""
		if i := slices.IndexFunc(soft, func(x claim) bool { return x[headline] == c[headline] }); i >= 0 && c[headline] != last {
			beside = soft[i]["here"] + ", " + soft[i]["verdict"]
		}
		last = c[headline]
		line(&b, c[headline], c["records"], c["paper"], c["here"], c["95 % interval"], c["fused"], c["compute"], c["verdict"], beside)
	}
	if strings.Count(b.String(), "\n") == 2 {
		return "", fmt.Errorf("the report of the H200 has no headline of figure %s", figure)
	}
	return b.String(), nil
}

// censusTable says for how many headlines the census data give another verdict than the TCP/IP data, and which.
func censusTable(root string) (string, error) {
	list, err := claims(root, "paper-h200/paper.txt")
	if err != nil {
		return "", err
	}
	census, err := claims(root, "paper-h200/census.txt")
	if err != nil {
		return "", err
	}
	var b strings.Builder
	line(&b, headline, "census", "verdict", "TCP/IP", "verdict")
	b.WriteString("|---|---:|---|---:|---|\n")
	same := 0
	for _, c := range census {
		i := slices.IndexFunc(list, func(x claim) bool { return x[headline] == c[headline] }) // the first is over the paper's number of records
		if i < 0 {
			return "", fmt.Errorf("the census has a headline %q, which the TCP/IP data have not", c[headline])
		}
		if c["verdict"] == list[i]["verdict"] {
			same++
			continue
		}
		line(&b, c[headline], c["here"], c["verdict"], list[i]["here"], list[i]["verdict"])
	}
	return fmt.Sprintf("The verdict is the same for %d of %d headlines. The others, on the H200:\n\n%s", same, len(census), b.String()), nil
}

// gainTable has the paper's classes of gain beside those of `classic` and of the fastest backend on an H200.
func gainTable(root string) (string, error) {
	rows, err := reportTable(root, "paper-h200/paper.txt", "Classes of gain ")
	if err != nil {
		return "", err
	}
	var b strings.Builder
	line(&b, "operation", "records", "paper", "`classic` over `cpu`", "class", "fastest on the device", "over `cpu`", "class")
	b.WriteString("|---|---:|---|---:|---|---|---:|---|\n")
	for _, row := range rows[1:] { // the third column is the number of runs
		line(&b, operationTitle(row[0]), row[1], row[3], row[4], row[5], "`"+row[6]+"`", row[7], row[8])
	}
	return b.String(), nil
}

// guardTable is what the guard program costs on an H200, in milliseconds.
func guardTable(root string) (string, error) {
	floors, err := reportTable(root, "paper-h200/paper.txt", "The floor of the device")
	if err != nil {
		return "", err
	}
	r, err := readReport(root, "paper-h200")
	if err != nil {
		return "", err
	}
	var b strings.Builder
	line(&b, "ms", "1 M, guard", "without", "268 M, guard", "without")
	b.WriteString("|---|---:|---:|---:|---:|\n")
	cells := []string{"an empty quad over one depth"}
	for _, records := range []string{"1,000,000", "268,435,456"} {
		i := slices.IndexFunc(floors, func(row []string) bool { return row[0] == records })
		if i < 0 {
			return "", fmt.Errorf("the report of the H200 has no floor over %s records", records)
		}
		cells = append(cells, floors[i][3], floors[i][4])
	}
	line(&b, cells...)
	for _, operation := range []string{"predicate", "median"} {
		cells := []string{"a " + operation}
		for _, rows := range []int{million, quarterGi} {
			for _, system := range []string{"classic", "classic-no-guard"} {
				ms, ok := r[operation][rows][system]
				if !ok {
					return "", fmt.Errorf("the report of the H200 has no %s by %s", operation, system)
				}
				cells = append(cells, digits(ms, 3))
			}
		}
		line(&b, cells...)
	}
	return b.String(), nil
}

// medianTable has the median times of a figure on an H200, in milliseconds: over its smallest and its largest table
// of 250,000 records or more.
func medianTable(root, figure string) (string, error) {
	lines, err := readCSV(filepath.Join(root, "docs/results/paper-h200", fmt.Sprintf("figure-%02s.csv", figure)))
	if err != nil {
		return "", err
	}
	var systems []string
	type key struct {
		operation string
		rows      int
	}
	var keys []key
	took := map[key]map[string]float64{}
	for _, x := range lines {
		if x.rows != 250_000 && x.rows != million && x.rows != quarterGi {
			continue
		}
		k := key{x.operation, x.rows}
		if took[k] == nil {
			took[k] = map[string]float64{}
			keys = append(keys, k)
		}
		if took[k][x.system] = x.ms; !slices.Contains(systems, x.system) {
			systems = append(systems, x.system)
		}
	}
	if len(keys) == 0 {
		return "", fmt.Errorf("figure %s has no times", figure)
	}
	var b strings.Builder
	heads := []string{"ms", "records"}
	for _, system := range systems {
		heads = append(heads, "`"+system+"`")
	}
	line(&b, heads...)
	b.WriteString("|---" + strings.Repeat("|---:", len(heads)-1) + "|\n")
	for _, k := range keys {
		cells := []string{operationTitle(k.operation), map[int]string{250_000: "250,000", million: "1 M", quarterGi: "268 M"}[k.rows]}
		for _, system := range systems {
			if ms, ok := took[k][system]; ok {
				cells = append(cells, digits(ms, 3))
			} else {
				cells = append(cells, "")
			}
		}
		line(&b, cells...)
	}
	return b.String(), nil
}

// titles are what operations of the reports are called in texts, where it is not their name.
var titles = strings.NewReplacer("kth_largest_", "k-th largest, k at ", "pct", " %", "median_where", "median of 80 %", "and1", "one predicate", "and2", "AND of two",
	"and3", "AND of three", "and4", "AND of four", "semilinear_float", "semi-linear, floats", "semilinear", "semi-linear, integers", "polynomial", "polynomial of degree ",
	"select_", "select: ", "count_selection", "counting a selection")

// operationTitle is what an operation of the reports is called in texts.
func operationTitle(operation string) string { return titles.Replace(operation) }
