package main

import (
	"cmp"
	"encoding/csv"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

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
	rows, took, err := largest(file)
	if err != nil {
		return err
	}
	m.Rows = numbers.Grouped(rows)
	for _, s := range shown {
		if took[s[0]] == "" {
			return fmt.Errorf("%s has no line of %s at %d rows", file, s[0], rows)
		}
		m.Times = append(m.Times, timing{s[1], took[s[0]] + " ms"})
	}
	return nil
}

// largest returns the size of the largest table in a figure's CSV file, and by system the
// milliseconds that it took, with three digits.
func largest(file string) (most int, took map[string]string, err error) {
	r, err := os.Open(file)
	if err != nil {
		return 0, nil, err
	}
	defer r.Close()
	lines, err := csv.NewReader(r).ReadAll()
	if err != nil {
		return 0, nil, fmt.Errorf("%s: %w", file, err)
	}
	var at [3]int
	for i, name := range []string{"rows", "system", "median_ms"} {
		if at[i] = slices.Index(lines[0], name); at[i] < 0 {
			return 0, nil, fmt.Errorf("%s has no column %s", file, name)
		}
	}
	for _, line := range lines[1:] {
		rows, wrong := strconv.Atoi(line[at[0]])
		ms, alsoWrong := strconv.ParseFloat(line[at[2]], 64)
		if err := cmp.Or(wrong, alsoWrong); err != nil {
			return 0, nil, fmt.Errorf("%s: %w", file, err)
		}
		if rows > most {
			most, took = rows, map[string]string{}
		}
		if rows == most {
			took[line[at[1]]] = strings.TrimSuffix(fmt.Sprintf("%#.3g", ms), ".")
		}
	}
	return most, took, nil
}
