package bench

import (
	"fmt"
	"io"
	"slices"
	"strings"
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
	if err := r.writeGains(w); err != nil {
		return err
	}
	if err := r.writeFloors(w); err != nil {
		return err
	}
	_, err := fmt.Fprintf(w, "\n%s\n", r.noise())
	return err
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
		lines = append(lines, []string{g.Operation, grouped(g.Rows), g.Paper, orDash(g.Classic), class(g.Classic), g.BestName, number(g.Best), class(g.Best)})
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
		lines = append(lines, []string{grouped(f.Rows), ms(f.DrawMS), ms(f.EachMS), ms(f.DispatchMS), ms(f.CopyMS)})
	}
	return tabulate(w, lines)
}

// noise says which systems the run could not rank: over the largest table of each
// case by name.
func (r *Report) noise() string {
	if len(r.Ties) == 0 {
		return "All systems of all cases are ranked beyond noise."
	}
	var list []string
	for _, t := range r.Ties {
		if t.Rows == r.largestRows(t.Operation) {
			list = append(list, t.String())
		}
	}
	text := fmt.Sprintf("Too noisy to rank (the 95 %% interval of the ratio holds 1): %d of %d pairs of neighbours", len(r.Ties), r.neighbours())
	if len(list) > 0 {
		text += "; over the largest tables " + strings.Join(list, ", ")
	}
	return text + "."
}

// neighbours is the number of pairs of systems next to each other, in all cases.
func (r *Report) neighbours() int { return len(r.Results) - len(r.cases()) }

// softwareNote says what a software rasteriser means for the comparison.
const softwareNote = "Here a software rasteriser stands in for the GPU: it draws on the same cores that the CPU systems have to themselves."

// String names the case and the pair.
func (t Tie) String() string {
	return fmt.Sprintf("%s over %s (%s and %s)", t.Operation, grouped(t.Rows), t.A, t.B)
}

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
		name := p.Pass
		if i := strings.IndexAny(name, "(: "); i > 0 {
			name = name[:i]
		}
		i := slices.IndexFunc(list, func(t routineTime) bool { return t.Routine == name })
		if i < 0 {
			i = len(list)
			list = append(list, routineTime{Routine: name})
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
