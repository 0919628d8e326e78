package bench

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/stencildb/stencildb/internal/numbers"
)

// writeEvaluation writes the paper's headlines beside what was measured, the classes
// of gain, the floors and what could not be ranked.
func writeEvaluation(w io.Writer, r *Report) error {
	lines := [][]string{{"the paper's headline", "figure", "paper", "here", "fused", "compute", "verdict"}}
	for _, h := range r.Headlines {
		lines = append(lines, []string{h.What, fmt.Sprint(h.Figure), number(h.Paper), number(h.Here), orDash(h.Fused), orDash(h.Compute), h.Verdict})
	}
	if len(lines) > 1 {
		fmt.Fprintln(w, "\nThe paper's headlines: how many times as fast as the CPU, or as long")
		if r.Machine.Software {
			fmt.Fprintln(w, softwareNote)
		}
		if err := tabulate(w, lines); err != nil {
			return err
		}
		fmt.Fprintln(w)
	}
	for _, h := range r.Headlines {
		fmt.Fprintln(w, h.Sentence)
	}
	if s := r.mipmapSentence(); s != "" {
		fmt.Fprintln(w, s)
	}
	for _, write := range []func(io.Writer) error{r.writeGains, r.writeFloors, r.writeDevice, r.writePasses, r.writeNoise} {
		if err := write(w); err != nil {
			return err
		}
	}
	return nil
}

// mipmapSentence says what the mipmap sum takes and how far it is off, or "".
func (r *Report) mipmapSentence() string {
	x := r.largest("sum", mipmapSum)
	if x == nil {
		return ""
	}
	return fmt.Sprintf("The mipmap sum, which the paper discusses and rejects, takes %s ms over %s records and is off by %s of the sum.",
		ms(x.MedianMS), numbers.Grouped(x.Rows), number(*x.Error))
}

func orDash(x float64) string {
	if x == 0 {
		return "–"
	}
	return number(x)
}

func (r *Report) writeGains(w io.Writer) error {
	gains := r.gains()
	if len(gains) == 0 {
		return nil
	}
	fmt.Fprintf(w, "\nClasses of gain over the backend cpu: high from %.1f, medium from %.1f, else low\n", highGain, mediumGain)
	lines := [][]string{{"operation", "rows", "paper", "classic", "class", "fastest on the device", "gain", "class"}}
	for _, g := range gains {
		lines = append(lines, []string{g.Operation, numbers.Grouped(g.Rows), g.Paper, orDash(g.Classic), class(g.Classic), g.BestName, number(g.Best), class(g.Best)})
	}
	return tabulate(w, lines)
}

func (r *Report) writeFloors(w io.Writer) error {
	if len(r.Floors) == 0 {
		return nil
	}
	fmt.Fprintln(w, "\nThe floor of the device: empty passes, ms")
	lines := [][]string{{"rows", "quad", "each of many quads", "dispatch", "copy of an attribute"}}
	for _, f := range r.Floors {
		lines = append(lines, []string{numbers.Grouped(f.Rows), ms(f.DrawMS), ms(f.EachMS), ms(f.DispatchMS), ms(f.CopyMS)})
	}
	return tabulate(w, lines)
}

// onDevice are the backends whose columns are uploaded.
var onDevice = []string{classic, "fused", "compute"}

// writeDevice writes what the backends on the device take over the largest tables with
// columns resident and with their upload, and how many times the floor that is.
func (r *Report) writeDevice(w io.Writer) error {
	head := []string{"operation", "rows"}
	for _, system := range onDevice {
		head = append(head, system, "with upload", "over floor")
	}
	lines := [][]string{head}
	for _, c := range r.cases() {
		if c.rows != r.largestRows(c.operation) {
			continue
		}
		line, measured := []string{c.operation, numbers.Grouped(c.rows)}, false
		for _, system := range onDevice {
			cells := []string{"–", "–", "–"}
			if x := r.Find(c.operation, c.rows, system); x != nil {
				cells, measured = []string{ms(x.MedianMS), msOrDash(x.ColdMS), orDash(x.OfFloor)}, true
			}
			line = append(line, cells...)
		}
		if measured {
			lines = append(lines, line)
		}
	}
	if len(lines) == 1 {
		return nil
	}
	fmt.Fprintln(w, "\nOn the device, largest tables: median ms with columns resident, with their upload, and how many times the floor")
	return tabulate(w, lines)
}

func msOrDash(x float64) string {
	if x == 0 {
		return "–"
	}
	return ms(x)
}

// writePasses writes the passes of classic by routine, over the largest tables.
func (r *Report) writePasses(w io.Writer) error {
	lines := [][]string{{"operation", "routine", "passes", "ms", "share"}}
	for _, x := range r.Results {
		if x.Rows != r.largestRows(x.Operation) || !x.brokenDown() {
			continue
		}
		for _, t := range x.routines() {
			lines = append(lines, []string{x.Operation, t.Routine, fmt.Sprint(t.Passes), ms(t.MS), fmt.Sprintf("%.0f %%", 100*t.Share)})
		}
	}
	if len(lines) == 1 {
		return nil
	}
	fmt.Fprintln(w, "\nThe passes of classic, largest tables, each waited for")
	return tabulate(w, lines)
}

// brokenDown reports whether reports show the passes of x: of the k-th largest, whose
// passes are the same for each k, only for one.
func (x *Result) brokenDown() bool {
	return len(x.Passes) > 0 && (x.Operation == rankShown || !slices.Contains(kthOperations(), x.Operation))
}

// writeNoise says what the run could not rank, and over the largest tables which
// systems.
func (r *Report) writeNoise(w io.Writer) error {
	fmt.Fprintf(w, "\n%s\n", r.noise())
	for _, c := range r.cases() {
		if pairs := r.pairs(c); pairs != "" && c.rows == r.largestRows(c.operation) {
			fmt.Fprintf(w, "  %s, %s rows: %s\n", c.operation, numbers.Grouped(c.rows), pairs)
		}
	}
	return nil
}

// noise says how many pairs of systems the run could not rank.
func (r *Report) noise() string {
	if len(r.Ties) == 0 {
		return "All systems of all cases are ranked beyond noise."
	}
	return fmt.Sprintf("Too noisy to rank (the 95 %% interval of the ratio holds 1, or there are fewer than %d rounds): %d of %d pairs of neighbours.", fewest, len(r.Ties), r.neighbours())
}

// pairs names the systems of a case that the run could not rank.
func (r *Report) pairs(c caseKey) string {
	var list []string
	for _, t := range r.Ties {
		if (caseKey{t.Operation, t.Rows}) == c {
			list = append(list, t.A+" and "+t.B)
		}
	}
	return strings.Join(list, "; ")
}

// neighbours is the number of pairs of systems next to each other, in all cases.
func (r *Report) neighbours() int { return len(r.Results) - len(r.cases()) }

// softwareNote says what a software rasteriser means for the comparison.
const softwareNote = "Here a software rasteriser stands in for the GPU: it draws on the same cores that the CPU systems have to themselves."

// routineTime is what the passes of one routine took in a query.
type routineTime struct {
	Routine string
	Passes  int
	MS      float64
	Share   float64 // of all passes of the query
}

// routines sums up the passes of a result by the paper's routine.
func (x *Result) routines() []routineTime {
	var list []routineTime
	sum := 0.0
	for _, p := range x.Passes {
		i := slices.IndexFunc(list, func(t routineTime) bool { return t.Routine == p.Routine })
		if i < 0 {
			i = len(list)
			list = append(list, routineTime{Routine: p.Routine})
		}
		list[i].Passes++
		list[i].MS += p.MS
		sum += p.MS
	}
	for i := range list {
		list[i].Share = list[i].MS / sum
	}
	return list
}
