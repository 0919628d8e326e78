package cmd

import (
	"fmt"
	"io"
	"strings"
	"sync"
	"time"

	"github.com/stencildb/stencildb/bench"
)

// wiped goes to the start of a terminal's line, which it wipes.
const wiped = "\r\x1b[K"

// progressOn returns what shows on w how far a work is, such as "loading"; nil where w
// is not a terminal.
func progressOn(w io.Writer, work string) func(table string, done, total int64) {
	if !isTerminal(w) {
		return nil
	}
	return bar(w, work)
}

// bar is a progress bar on one line of a terminal, drawn ten times a second and
// wiped at the end.
func bar(w io.Writer, work string) func(what string, done, total int64) {
	var mu sync.Mutex
	var last time.Time
	return func(what string, done, total int64) {
		mu.Lock()
		defer mu.Unlock()
		switch {
		case total <= 0:
		case done < total && time.Since(last) >= 100*time.Millisecond:
			last = time.Now()
			fmt.Fprint(w, barLine(work, what, done, total))
		case done >= total && !last.IsZero():
			fmt.Fprint(w, wiped)
			last = time.Time{}
		}
	}
}

// barLine draws the bar from the start of the line.
func barLine(work, what string, done, total int64) string {
	return fmt.Sprintf("%s%s %s %s %3d %%", wiped, work, visible(what), filled(float64(done)/float64(total)), int(100*float64(done)/float64(total)))
}

func filled(share float64) string {
	const width = 30
	full := int(share * width)
	return "[" + strings.Repeat("#", full) + strings.Repeat(" ", width-full) + "]"
}

// statusLine says on w what a benchmark does: on a terminal in one line that is rewritten,
// with a bar of the cases, until wipe, elsewhere a line each.
func statusLine(w io.Writer) (update func(bench.Progress), wipe func()) {
	if !isTerminal(w) {
		return func(p bench.Progress) { fmt.Fprintln(w, p) }, func() {}
	}
	return func(p bench.Progress) { fmt.Fprint(w, wiped, caseBar(p), visible(p.String())) }, func() { fmt.Fprint(w, wiped) }
}

// caseBar is how many of the cases are done, "" between them.
func caseBar(p bench.Progress) string {
	if p.Case == 0 {
		return ""
	}
	return filled(float64(p.Case-1)/float64(p.Cases)) + " "
}
