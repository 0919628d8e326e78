package cmd

import (
	"fmt"
	"io"
	"math"
	"strings"
	"sync"
	"time"

	"github.com/stencildb/stencildb/bench"
	"github.com/stencildb/stencildb/glctx"
	"github.com/stencildb/stencildb/ingest"
	"github.com/stencildb/stencildb/internal/numbers"
)

// progress is how far a work is: so much of a total of it, in words besides.
type progress struct {
	done, total int64
	words       string
}

// loadingOn returns what shows on w how far a table's reading is; nil where w is no console.
func loadingOn(w io.Writer) func(table string, p ingest.Progress) {
	show := progressOn(w, "loading")
	if show == nil {
		return nil
	}
	return func(table string, p ingest.Progress) { show(table, progress{p.Done, p.Total, loadingWords(p)}) }
}

// loadingWords are the rows and the bytes of a reading.
func loadingWords(p ingest.Progress) string {
	words := ", " + glctx.FormatSize(p.Done) + " of " + glctx.FormatSize(p.Total)
	if p.Rows > 0 {
		words = ", " + numbers.Grouped(uint64(p.Rows)) + " rows" + words
	}
	return words
}

// progressOn returns what shows on w how far a work is, such as "loading"; nil where w
// is no console.
func progressOn(w io.Writer, work string) func(what string, p progress) {
	c, ok := w.(*console)
	if !ok {
		return nil
	}
	return bar(c, work)
}

// bar is a progress bar on the line of a console, drawn ten times a second and
// wiped at the end.
func bar(c *console, work string) func(what string, p progress) {
	var mu sync.Mutex
	var began, last time.Time
	return func(what string, p progress) {
		mu.Lock()
		defer mu.Unlock()
		now := time.Now()
		if began.IsZero() {
			began = now
		}
		switch {
		case p.total <= 0:
		case p.done < p.total && now.Sub(last) >= 100*time.Millisecond:
			last = now
			c.show(barLine(work, what, p, now.Sub(began)))
		case p.done >= p.total:
			c.hide()
			began, last = time.Time{}, time.Time{}
		}
	}
}

// barLine is the bar. After a second it says how many are left.
func barLine(work, what string, p progress, since time.Duration) string {
	share := float64(p.done) / float64(p.total)
	line := fmt.Sprintf("%s %s %s %3d %%%s", work, visible(what), filled(share), int(100*share), p.words)
	if since >= time.Second && p.done > 0 {
		line += fmt.Sprintf(", %.0f s left", math.Ceil(since.Seconds()*(1-share)/share))
	}
	return line
}

func filled(share float64) string {
	const width = 30
	full := int(share * width)
	return "[" + strings.Repeat("#", full) + strings.Repeat(" ", width-full) + "]"
}

// statusLine writes the progress of a benchmark to w. On a console it is one line that is rewritten, with a
// bar of the cases, until wipe. Elsewhere it is a line each.
func statusLine(w io.Writer) (update func(bench.Progress), wipe func()) {
	c, ok := w.(*console)
	if !ok {
		return func(p bench.Progress) { fmt.Fprintln(w, p) }, func() {}
	}
	return func(p bench.Progress) { c.show(caseBar(p) + visible(p.String())) }, c.hide
}

// caseBar is how many of the cases are done, "" between them.
func caseBar(p bench.Progress) string {
	if p.Case == 0 {
		return ""
	}
	return filled(float64(p.Case-1)/float64(p.Cases)) + " "
}
