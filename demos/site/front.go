package main

import (
	"encoding/csv"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"

	"github.com/stencildb/stencildb/internal/numbers"
)

// front is what the front page says of the machines.
type front struct{ Machines []machine }

// machine is one with its headline: a predicate over the largest table of Figure 3.
type machine struct {
	Name, Report, Rows string
	Times              []timing
}

type timing struct{ What, Took string }

// headlines reads the committed results of both machines.
func headlines(root string) (*front, error) {
	f := &front{}
	for _, m := range []machine{{Name: "NVIDIA H200", Report: "paper-h200"}, {Name: "Two CPU cores, software OpenGL", Report: "paper-llvmpipe"}} {
		if err := m.read(filepath.Join(root, "docs/results", m.Report, "figure-03.csv")); err != nil {
			return nil, err
		}
		f.Machines = append(f.Machines, m)
	}
	return f, nil
}

// shown are the systems of a headline, and their names there.
var shown = [][2]string{{"classic", "the paper's passes, copy included"}, {"compute", "bit planes, today's way"}, {"cpu", "all CPU cores"}}

// read sets the rows and times of the largest table in a figure's CSV file.
func (m *machine) read(file string) error {
	r, err := os.Open(file)
	if err != nil {
		return err
	}
	defer r.Close()
	lines, err := csv.NewReader(r).ReadAll()
	if err != nil {
		return fmt.Errorf("%s: %w", file, err)
	}
	head, lines := lines[0], lines[1:]
	cell := func(line []string, name string) string { return line[slices.Index(head, name)] }
	rows := func(line []string) int {
		n, _ := strconv.Atoi(cell(line, "rows"))
		return n
	}
	for _, name := range []string{"rows", "system", "median_ms"} {
		if !slices.Contains(head, name) {
			return fmt.Errorf("%s has no column %s", file, name)
		}
	}
	most := 0
	for _, line := range lines {
		most = max(most, rows(line))
	}
	m.Rows = numbers.Grouped(most)
	for _, s := range shown {
		i := slices.IndexFunc(lines, func(line []string) bool { return rows(line) == most && cell(line, "system") == s[0] })
		if i < 0 {
			return fmt.Errorf("%s has no line of %s at %d rows", file, s[0], most)
		}
		ms, err := strconv.ParseFloat(cell(lines[i], "median_ms"), 64)
		if err != nil {
			return fmt.Errorf("%s: %w", file, err)
		}
		m.Times = append(m.Times, timing{s[1], fmt.Sprintf("%.3g ms", ms)})
	}
	return nil
}
