package report

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/stencildb/stencildb/papers/lab"
)

// Schema is the version of the JSON form of a [Report].
const Schema = 1

// Report is what a run of a suite found. The package comment describes its JSON.
type Report struct {
	Schema    int       `json:"schema"`
	Suite     string    `json:"suite"`
	Command   string    `json:"command"`
	Date      time.Time `json:"date"`
	Machine   Machine   `json:"machine"`
	Data      Data      `json:"data"`
	Reference string    `json:"reference"`
	Order     string    `json:"order"`              // of the runs
	Protocol  string    `json:"protocol,omitempty"` // "fresh": the times are of parameters that were not asked before; else of a statement that is repeated
	Results   []Result  `json:"results"`
	Skipped   []Skip    `json:"skipped"`
	// Floors are the times that no visit to all of a table's records can be below. Ties are the systems that
	// the run was too noisy to rank. Only figures have them.
	Floors []Floor `json:"floors,omitempty"`
	Ties   []Tie   `json:"ties,omitempty"`
	// Estimates are those of the plans of a suite that asks for them.
	Estimates []Estimates `json:"estimates,omitempty"`
	// Headlines are the paper's beside what was measured.
	Headlines []Headline `json:"headlines,omitempty"`
	// Interrupted says that the run was ended before all cases were measured.
	Interrupted bool `json:"interrupted,omitempty"`
}

// Data says what the tables of a run held.
type Data struct {
	Name string `json:"name"` // of the generator or the table
	Seed uint64 `json:"seed"` // of the generator; 0 for a table that was loaded
	// Attributes are the columns that were measured on, in the order in which
	// operations take them.
	Attributes []string `json:"attributes,omitempty"`
}

// String names the data: the table, the seed and the attributes.
func (d Data) String() string {
	text := d.Name
	if d.Seed != 0 {
		text += fmt.Sprintf(", seed %d", d.Seed)
	}
	if len(d.Attributes) > 0 {
		text += ": " + strings.Join(d.Attributes, ", ")
		if len(d.Attributes) < MaxAttributes {
			text += " (used again where an operation takes more)"
		}
	}
	return text
}

// Case is one operation over one table.
type Case struct {
	Operation string `json:"operation"`
	Rows      int    `json:"rows"`
}

// Result is what one system took for one case.
type Result struct {
	Case
	SQL    string   `json:"sql"`
	System string   `json:"system"`
	Answer []string `json:"answer"` // its first row
	// AnswerRows is how many rows the answer has, where that is not one.
	AnswerRows *int      `json:"answer_rows,omitempty"`
	Stride     int       `json:"stride"`
	MS         []float64 `json:"ms"`     // of the rounds 0, Stride, 2 * Stride, ...: with new parameters where there are Repeated
	CPU        []float64 `json:"cpu_ms"` // processor time of all threads in the same rounds
	MedianMS   float64   `json:"median_ms"`
	MinMS      float64   `json:"min_ms"`
	P5MS       float64   `json:"p5_ms"` // this and the next are 0 with fewer than 5 times
	P95MS      float64   `json:"p95_ms"`
	MedianCPU  float64   `json:"median_cpu_ms"`
	Ratio      *Ratio    `json:"ratio,omitempty"` // to the report's reference; not in figures

	// Of the fresh protocol, in the same rounds: the prepared statement again; and how many GL programs each of MS made.
	Repeated      []float64 `json:"repeated_ms,omitempty"`
	RepeatedMS    float64   `json:"median_repeated_ms,omitempty"`
	RepeatedRatio *Ratio    `json:"repeated_ratio,omitempty"`
	Compiled      []int     `json:"compiled,omitempty"` // nil where none did

	OnCPU []string `json:"on_cpu,omitempty"` // operators of the plan that the backend cpu runs for this one

	Figure    lab.Name   `json:"figure,omitempty"` // of the paper
	X         float64    `json:"x,omitempty"`      // on the figure's axis
	GPU       []float64  `json:"gpu_ms,omitempty"` // by the device's timer, where it means something
	MedianGPU float64    `json:"median_gpu_ms,omitempty"`
	Cold      []float64  `json:"cold_ms,omitempty"` // with the upload of the columns; of the fresh protocol the first execution in a process
	ColdMS    float64    `json:"median_cold_ms,omitempty"`
	Passes    []PassTime `json:"passes,omitempty"`
	Error     *float64   `json:"error,omitempty"`      // relative, of an answer that is approximate
	Wrong     *int       `json:"wrong,omitempty"`      // records for which an approximate condition is wrong
	OfFloor   float64    `json:"over_floor,omitempty"` // median_ms over the floor for its table

	Work     float64            `json:"work,omitempty"`     // units of one run: tuples, searches or bytes
	Unit     string             `json:"unit,omitempty"`     // of Work
	Counters map[string]float64 `json:"counters,omitempty"` // of one run: accesses, conflicts, rebuilds, dispatches
	Sections []SectionTime      `json:"sections,omitempty"` // parts of the work
}

// SectionTime is what a section of a run took, in runs of its own.
type SectionTime struct {
	Name     string    `json:"name"`
	MS       []float64 `json:"ms"`
	MedianMS float64   `json:"median_ms"`
}

// Ratio is a system's time over another's, of the rounds in which both ran.
type Ratio struct {
	To     string  `json:"to"`
	Median float64 `json:"median"`
	P5     float64 `json:"p5"` // this and the next are 0 with fewer than 5 rounds
	P95    float64 `json:"p95"`
	Rounds int     `json:"rounds"`
}

// Skip is a case that a system did not run, or none where the table does not do for it.
type Skip struct {
	Case
	System string `json:"system"`
	Reason string `json:"reason"`
}

// RowsOfAnswer is how many rows the answer has.
func (r *Result) RowsOfAnswer() int {
	if r.AnswerRows != nil {
		return *r.AnswerRows
	}
	return 1
}

// Summarise sets the statistics of r's times.
func (r *Result) Summarise() {
	r.MedianMS, r.MinMS = Rounded(Median(r.MS)), slices.Min(r.MS)
	r.MedianCPU = Rounded(Median(r.CPU))
	r.P5MS, r.P95MS = Percentiles(r.MS)
	if len(r.GPU) > 0 {
		r.MedianGPU = Rounded(Median(r.GPU))
	}
	if len(r.Cold) > 0 {
		r.ColdMS = Rounded(Median(r.Cold))
	}
	if len(r.Repeated) > 0 {
		r.RepeatedMS = Rounded(Median(r.Repeated))
	}
	for i := range r.Sections {
		r.Sections[i].MedianMS = Rounded(Median(r.Sections[i].MS))
	}
	if !slices.ContainsFunc(r.Compiled, func(n int) bool { return n > 0 }) {
		r.Compiled = nil
	}
}

// PairedRatio returns r's time over that of other, another system's result of the
// same case in the same run.
func (r *Result) PairedRatio(other *Result) Ratio {
	return r.paired(other, func(x *Result) []float64 { return x.MS })
}

// paired is the ratio of some times of the rounds.
func (r *Result) paired(other *Result, times func(*Result) []float64) Ratio {
	var ratios []float64
	theirs := times(other)
	for i, ms := range times(r) {
		round := i * r.Stride
		if j := round / other.Stride; round%other.Stride == 0 && j < len(theirs) {
			ratios = append(ratios, ms/theirs[j])
		}
	}
	p5, p95 := Percentiles(ratios)
	return Ratio{To: other.System, Median: Rounded(Median(ratios)), P5: p5, P95: p95, Rounds: len(ratios)}
}

// Find returns the result of a case, or nil.
func (r *Report) Find(operation string, rows int, system string) *Result {
	return r.FindCase(Case{operation, rows}, system)
}

func (r *Report) FindCase(c Case, system string) *Result {
	for i := range r.Results {
		if x := &r.Results[i]; x.Case == c && x.System == system {
			return x
		}
	}
	return nil
}

// Largest is the result of an operation on a system over the largest table that has
// it, or nil.
func (r *Report) Largest(operation, system string) (best *Result) {
	for i := range r.Results {
		x := &r.Results[i]
		if x.Operation == operation && x.System == system && (best == nil || x.Rows > best.Rows) {
			best = x
		}
	}
	return best
}

// IsLargest reports whether no larger table than that of a case has its operation.
func (r *Report) IsLargest(c Case) bool {
	return !slices.ContainsFunc(r.Results, func(x Result) bool { return x.Operation == c.Operation && x.Rows > c.Rows })
}

// SetRatios sets every result's ratio to the reference.
func (r *Report) SetRatios() {
	for i := range r.Results {
		x := &r.Results[i]
		if ref := r.FindCase(x.Case, r.Reference); ref != nil {
			ratio := x.PairedRatio(ref)
			x.Ratio = &ratio
			if x.Repeated != nil && ref.Repeated != nil {
				again := x.paired(ref, func(x *Result) []float64 { return x.Repeated })
				x.RepeatedRatio = &again
			}
		}
	}
}

// Cases lists the cases in the order in which they ran.
func (r *Report) Cases() []Case { return Distinct(r.Results, func(x Result) Case { return x.Case }) }

// Systems lists the systems that have results, in the order of their first.
func (r *Report) Systems() []string {
	return Distinct(r.Results, func(x Result) string { return x.System })
}

// Distinct lists the different keys in the order of their first.
func Distinct[T any, K comparable](list []T, key func(T) K) []K {
	var keys []K
	for _, x := range list {
		if k := key(x); !slices.Contains(keys, k) {
			keys = append(keys, k)
		}
	}
	return keys
}

// arrayLines are an array of numbers on lines of its own.
var arrayLines = regexp.MustCompile(`\[\n[^]"{]*\]`)

// WriteJSON writes the report, arrays of numbers in one line each.
func (r *Report) WriteJSON(w io.Writer) error {
	text, err := Bytes(func(w io.Writer) error {
		enc := json.NewEncoder(w)
		enc.SetEscapeHTML(false)
		enc.SetIndent("", " ")
		return enc.Encode(r)
	})
	if err != nil {
		return err
	}
	_, err = w.Write(arrayLines.ReplaceAllFunc(text, func(a []byte) []byte { return bytes.Join(bytes.Fields(a), nil) }))
	return err
}

// renamed are the names of today in the place of those that reports of earlier versions have.
var renamed = strings.NewReplacer(`"classic-compute-only"`, `"`+CopyExcluded+`"`, `, compute only"`, `, copy excluded"`)

// ReadJSON reads a report that [Report.WriteJSON] wrote.
func ReadJSON(in io.Reader) (*Report, error) {
	text, err := io.ReadAll(in)
	if err != nil {
		return nil, err
	}
	r := &Report{}
	if err := json.NewDecoder(strings.NewReader(renamed.Replace(string(text)))).Decode(r); err != nil {
		return nil, fmt.Errorf("not the JSON of a benchmark: %w", err)
	}
	if r.Schema != Schema {
		return nil, fmt.Errorf("the benchmark's schema is %d, this program reads %d", r.Schema, Schema)
	}
	for i, x := range r.Results {
		if x.Stride < 1 || len(x.MS) == 0 || len(x.CPU) != len(x.MS) {
			return nil, fmt.Errorf("the result of %s over %d rows on %s has no times", x.Operation, x.Rows, x.System)
		}
		if slices.Min(x.MS) <= 0 {
			return nil, fmt.Errorf("the result of %s over %d rows on %s has a time that is not positive", x.Operation, x.Rows, x.System)
		}
		if n := len(x.Repeated); n > 0 && n != len(x.MS) {
			return nil, fmt.Errorf("the result of %s over %d rows on %s has %d times with new parameters and %d repeated", x.Operation, x.Rows, x.System, len(x.MS), n)
		}
		r.Results[i].Summarise()
	}
	return r, nil
}

// Bytes is what f writes.
func Bytes(f func(io.Writer) error) ([]byte, error) {
	var b bytes.Buffer
	err := f(&b)
	return b.Bytes(), err
}

// Estimates are those of the rows of a plan's nodes, beside the rows that came when cpu executed it.
type Estimates struct {
	Case
	QErrors []float64 `json:"q_errors"` // of the nodes, ascending: expected over seen, or seen over expected
	Worst   string    `json:"worst"`    // the node of the last
}
