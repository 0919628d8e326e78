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
	b := &bar{w: w, work: work}
	return b.update
}

// bar is a progress bar on one line of a terminal, drawn ten times a second and
// wiped at the end.
type bar struct {
	w    io.Writer
	work string // "loading"

	mu   sync.Mutex
	last time.Time
}

func (b *bar) update(what string, done, total int64) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if total <= 0 {
		return
	}
	if done >= total {
		if !b.last.IsZero() {
			fmt.Fprint(b.w, wiped)
			b.last = time.Time{}
		}
		return
	}
	now := time.Now()
	if now.Sub(b.last) < 100*time.Millisecond {
		return
	}
	b.last = now
	fmt.Fprint(b.w, barLine(b.work, what, done, total))
}

// barLine draws the bar from the start of the line.
func barLine(work, what string, done, total int64) string {
	return fmt.Sprintf("%s%s %s %s %3d %%", wiped, work, visible(what), filled(float64(done)/float64(total)), int(100*float64(done)/float64(total)))
}

// filled draws a share as a bar.
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
