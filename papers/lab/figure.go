package lab

import (
	"cmp"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
)

// Name is that of a figure or table in its paper: "2", "4-2", "table8".
type Name string

// tables begin the names of tables.
const tables = "table"

// String is the name in words: "Figure 2", "Table 8".
func (n Name) String() string {
	if number, ok := strings.CutPrefix(string(n), tables); ok {
		return "Table " + number
	}
	return "Figure " + string(n)
}

// MarshalJSON writes a number where the name is one.
func (n Name) MarshalJSON() ([]byte, error) {
	if i, err := strconv.Atoi(string(n)); err == nil {
		return json.Marshal(i)
	}
	return json.Marshal(string(n))
}

// UnmarshalJSON reads a number or a text.
func (n *Name) UnmarshalJSON(text []byte) error {
	var number json.Number
	if err := json.Unmarshal(text, &number); err == nil {
		*n = Name(number.String())
		return nil
	}
	return json.Unmarshal(text, (*string)(n))
}

// Figure is a figure or a table of a paper, which a suite repeats, or one of statements.
type Figure struct {
	Name  Name // in the paper; "" for none
	Title string
	// Panels are its plots.
	Panels []Panel
	// Tables are published ones, which are repeated cell by cell.
	Tables []Table
	Path   string // of its files, without an extension; "" for that of Name
}

// Heading is what stands above the figure.
func (f Figure) Heading() string {
	if f.Name == "" {
		return f.Title
	}
	return fmt.Sprintf("%v: %s", f.Name, f.Title)
}

// File is the name of its files, without an extension.
func (f Figure) File() string {
	kind, number := "figure", string(f.Name)
	if n, ok := strings.CutPrefix(number, tables); ok {
		kind, number = "table", n
	}
	if n, err := strconv.Atoi(number); err == nil {
		number = fmt.Sprintf("%02d", n)
	}
	return cmp.Or(f.Path, kind+"-"+number)
}

// Panel is one plot of a figure: a value over an axis, a line or a bar a system.
type Panel struct {
	Title      string
	XLabel     string
	LogX       bool
	Operations []string // whose points it shows
	Systems    []string // that it shows; nil: all
	Names      []string // of the places on the axis, where it is none of numbers
	Largest    bool     // of each operation only the largest table, at the place of its number
	Paper      bool     // of each operation only the table of the paper's size, likewise
	Of         Timing   // which times it shows

	Section  string // "": the whole of a run; else what is shown is the time of this section
	Shows    Quantity
	YLabel   string // "": what the quantity is called
	Counters []Line // of Shows Counter
	Binary   bool   // the axis has powers of two: 4 Ki
	As       Form
	// Steps, of stacked bars, are systems of which each does a step more than the one before: the parts are the differences of
	// their times. Without them the parts are the sections of each result.
	Steps []Step
	// Within, when set, are bounds of the median in ms, and these are the axis. Each system shows its largest value at a
	// point within the bound.
	Within []float64
}

// Line is a counter that a panel shows, with what its label says beside the system; "" for what is measured.
type Line struct{ Counter, Label string }

// Step is a system of a cumulative run, and what it does more than the one before.
type Step struct{ System, Does string }

// Timing is which times of a result that a panel shows.
type Timing int

// The timings.
const (
	Warm     Timing = iota // the median of the rounds; of the fresh protocol with new parameters
	Repeated               // of the fresh protocol, the prepared statement again
	Cold                   // with the upload of the columns; of the fresh protocol the first execution in a process
)

// Quantity is what a panel shows.
type Quantity int

// The quantities.
const (
	Milliseconds Quantity = iota
	PerUnit               // ns a unit of work
	Rate                  // units of work a second
	Bandwidth             // GB a second, of work in bytes
	Counter               // one of the counters
	Share                 // per cent of the total, of stacked bars
)

// Form is what a panel shows it as.
type Form int

// The forms.
const (
	Lines Form = iota
	Bars
	Stacked // bars of sections
)

// System names one of the ways that are measured, and what it is called where it is drawn.
type System struct{ Name, Label string }
