package main

import (
	"cmp"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/stencildb/stencildb/internal/numbers"
)

// front is what the front page says of the machines.
type front struct{ Machines []*machine }

// machine is one with its headline: a predicate over the largest table of Figure 3.
type machine struct {
	Name, Report, Rows string
	Times              []timing
}

type timing struct{ What, Took string }

// figuresFile has the figures that several pages quote: each with its one source, and with what the pages say.
const figuresFile = "docs/figures.json"

// figure is a time in milliseconds.
type figure struct {
	Name, What, Value string
	Source            source
	Front             string                        // the machine on the front page; "" for none
	Quoted            []struct{ File, Text string } // the text of a page, {} for the value
}

// source is where a figure was measured. It is a CSV file of bench, with the value of a system's largest table, or a text in
// another report, with {} for the value.
type source struct{ File, System, Text string }

// check returns an error where the source of a figure has another value.
func (x figure) check(root string) error {
	file := filepath.Join(root, x.Source.File)
	if x.Source.Text == "" {
		_, took, err := largest(file)
		if err == nil && took[x.Source.System] != x.Value {
			err = fmt.Errorf("%s has %s ms for %s, and %s has %q", figuresFile, x.Value, x.Name, x.Source.File, took[x.Source.System])
		}
		return err
	}
	text, err := os.ReadFile(file)
	if err == nil && !(strings.Contains(x.Source.Text, "{}") && strings.Contains(string(text), strings.Replace(x.Source.Text, "{}", x.Value, 1))) {
		err = fmt.Errorf("%s has %s for %s, and %s does not say %q", figuresFile, x.Value, x.Name, x.Source.File, x.Source.Text)
	}
	return err
}

// readFigures reads the figures.
func readFigures(root string) (list []figure, err error) {
	text, err := os.ReadFile(filepath.Join(root, figuresFile))
	if err != nil {
		return nil, err
	}
	if err := json.Unmarshal(text, &list); err != nil {
		return nil, fmt.Errorf("%s: %w", figuresFile, err)
	}
	return list, nil
}

// headlines are the figures of the front page, machine by machine.
func headlines(root string) (*front, error) {
	list, err := readFigures(root)
	if err != nil {
		return nil, err
	}
	f := &front{}
	for _, x := range list {
		if x.Front == "" {
			continue
		}
		if err := x.check(root); err != nil {
			return nil, err
		}
		rows, _, err := largest(filepath.Join(root, x.Source.File))
		if err != nil {
			return nil, err
		}
		i := slices.IndexFunc(f.Machines, func(m *machine) bool { return m.Name == x.Front })
		if i < 0 {
			i = len(f.Machines)
			f.Machines = append(f.Machines, &machine{Name: x.Front, Report: path.Base(path.Dir(x.Source.File)), Rows: numbers.Grouped(rows)})
		}
		f.Machines[i].Times = append(f.Machines[i].Times, timing{x.What, x.Value + " ms"})
	}
	return f, nil
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
