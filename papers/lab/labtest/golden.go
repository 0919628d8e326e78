package labtest

import (
	"bytes"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/stencildb/stencildb/papers/lab"
)

var update = flag.Bool("update", false, "write testdata/paper.golden")

// Golden compares a paper's experiments, as text, with testdata/paper.golden. The text has the figures, the published tables and the claims
// with their numbers. It also has the cases of the figures that are named, over so many rows.
func Golden(t *testing.T, p lab.Paper, rows int, figures ...lab.Name) {
	t.Helper()
	var b bytes.Buffer
	fmt.Fprintf(&b, "%s: %d %s, %d on a software rasteriser, %d else\n", p.Name, p.Rows, p.Counted, p.Software, p.Here)
	for _, s := range p.Systems {
		fmt.Fprintf(&b, "system %s: %s\n", s.Name, s.Label)
	}
	for _, f := range p.Figures {
		fmt.Fprintf(&b, "\n%s, file %s\n", f.Heading(), f.File())
		for _, x := range f.Panels {
			fmt.Fprintf(&b, "  panel %+v\n", x)
		}
		for _, x := range f.Tables {
			fmt.Fprintf(&b, "  table %s, %q, %q\n", x.Title, x.Heads, x.Notes)
			for _, r := range x.Rows {
				fmt.Fprintf(&b, "    %s %.6g\n", r.Name, r.Paper)
				for _, v := range r.Here {
					fmt.Fprintf(&b, "      %s\n", value(v))
				}
			}
		}
	}
	for _, c := range p.Claims {
		fmt.Fprintf(&b, "\n%v, %s: %s (%s)\n  %.6g %s, of %q over %q, verdict %d, some %v: %s\n", c.Figure, c.What, c.Says, c.Where, c.Number, c.Unit, c.Of, c.Over, c.Verdict, c.Here.Some, value(c.Here))
	}
	if len(figures) > 0 {
		cases, err := p.Cases(&lab.Setting{Rows: rows, Seed: 1, Local: lab.LocalMemory, Asked: func(n lab.Name) bool { return slices.Contains(figures, n) }})
		if err != nil {
			t.Fatal(err)
		}
		for _, c := range cases {
			fmt.Fprintf(&b, "\n%v, %s over %d: %s, x %.6g, %.6g %s\n", c.Figure, c.Name, c.Rows, c.Doing, c.X, c.Work, c.Unit)
		}
	}
	path := filepath.Join("testdata", "paper.golden")
	if *update {
		if err := os.WriteFile(path, b.Bytes(), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	got, lines := bytes.Split(b.Bytes(), []byte("\n")), bytes.Split(want, []byte("\n"))
	for i := range max(len(got), len(lines)) {
		switch {
		case i >= len(got) || i >= len(lines):
			t.Fatalf("%d lines, want %d: see -update", len(got), len(lines))
		case !bytes.Equal(got[i], lines[i]):
			t.Fatalf("line %d of %s:\n%s\nwant\n%s\nsee -update", i+1, path, got[i], lines[i])
		}
	}
}

// value is what a number follows from, and what it is where the terms are the first primes.
func value(v lab.Value) string {
	primes := []float64{2, 3, 5, 7, 11, 13, 17, 19, 23, 29, 31, 37, 41, 43, 47, 53}
	text := fmt.Sprintf("%+v", v.Terms)
	if v.Of != nil && len(v.Terms) <= len(primes) {
		text += fmt.Sprintf(" = %.6g", v.Of(primes[:len(v.Terms)]))
	}
	return text
}
