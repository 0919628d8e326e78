package cmd

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/jedib0t/go-pretty/v6/text"

	"github.com/stencildb/stencildb/engine"
	"github.com/stencildb/stencildb/ingest"
)

func TestFooter(t *testing.T) {
	s := engine.Stats{Backend: "classic", Passes: 21, Samples: 1234567, Elapsed: 412 * time.Microsecond, Load: 31 * time.Millisecond}
	want := "2 rows, classic, 21 passes, 1,234,567 samples counted, 0.412 ms (loading 31.000 ms)"
	if got := footer(true, 2, s); got != want {
		t.Errorf("%q, want %q", got, want)
	}
	s.Passes, s.Samples, s.Load = 1, 1, 0
	if got, want := footer(true, 1, s), "1 row, classic, 1 pass, 1 sample counted, 0.412 ms"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}

// Columns of text are cut to the width that there is, the widest first; numbers are not, but the names above them.
func TestAGridShrinks(t *testing.T) {
	var b strings.Builder
	g := grid{w: newOut(&b), aligns: []text.Align{text.AlignLeft, text.AlignRight, text.AlignLeft}}
	names, rows := []string{"s", "a long name", "short"}, [][]string{{"一二三四五六七八九", "1234", "abc"}, {"x", "5", strings.Repeat("y", 30)}}
	g.fit(names, rows)
	g.shrink(36, rows)
	if g.width() != 36 {
		t.Errorf("%d wide", g.width())
	}
	g.row(names, true)
	for _, row := range rows {
		g.row(row, false)
	}
	g.row([]string{"later and longer", "123456789012", ""}, false)
	g.w.Flush()
	want := "│ s        │ a long n… │ short     │\n" +
		"│ 一二三…  │      1234 │ abc       │\n" +
		"│ x        │         5 │ yyyyyyyy… │\n" +
		"│ later a… │ 123456789012 │           │\n"
	if got := b.String(); got != want {
		t.Errorf("\n%s, want\n%s", got, want)
	}
	if got := g.cut(names); got != "; cut to the width of the screen: s, a long name, short" {
		t.Errorf("%q", got)
	}
	g.shrink(5, rows) // which is less than there can be
	if g.width() != 1+3*3+6+6+6 {
		t.Errorf("%d wide", g.width())
	}
}

// Markdown escapes what it means something in.
func TestMarkdown(t *testing.T) {
	out := filepath.Join(t.TempDir(), "a.md")
	stencildb("-o", out, `SELECT 1 AS "a|b", E'x\\y\nz' AS s, 2.5 AS n; SELECT true AS b`).wantOutput(t, "")
	const want = `| a\|b | s         |   n |
| ---: | --------- | --: |
|    1 | x\\y<br>z | 2.5 |

| b    |
| ---- |
| true |
`
	if got, err := os.ReadFile(out); err != nil || string(got) != want {
		t.Errorf("%v\n%s", err, got)
	}
	stencildb("--format", "tsv", "SELECT 1 AS a, 'x' AS b").wantOutput(t, "a\tb\n1\tx\n")
}

func TestLoadingWords(t *testing.T) {
	if got, want := loadingWords(ingest.Progress{Done: 3 << 19, Total: 3 << 20, Rows: 12_000}), ", 12,000 rows, 1.5 MiB of 3.0 MiB"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}
