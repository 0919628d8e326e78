package cmd

import (
	"fmt"
	"io"
	"strings"
	"sync"
	"time"

	"github.com/stencildb/stencildb/bench"
)

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
			fmt.Fprint(b.w, "\r\x1b[K")
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
	return fmt.Sprintf("\r\x1b[K%s %s %s %3d %%", work, visible(what), filled(float64(done)/float64(total)), int(100*float64(done)/float64(total)))
}

// filled draws a share as a bar.
func filled(share float64) string {
	const width = 30
	full := int(share * width)
	return "[" + strings.Repeat("#", full) + strings.Repeat(" ", width-full) + "]"
}

// statusLine says what a benchmark does: on a terminal in one line that is rewritten, with
// a bar of the cases, elsewhere a line each.
type statusLine struct {
	w        io.Writer
	terminal bool
}

func (s *statusLine) update(p bench.Progress) {
	if s.terminal {
		fmt.Fprint(s.w, "\r\x1b[K", caseBar(p), visible(p.String()))
	} else {
		fmt.Fprintln(s.w, p)
	}
}

// caseBar is how many of the cases are done, "" between them.
func caseBar(p bench.Progress) string {
	if p.Case == 0 {
		return ""
	}
	return filled(float64(p.Case-1)/float64(p.Cases)) + " "
}

func (s *statusLine) done() {
	if s.terminal {
		fmt.Fprint(s.w, "\r\x1b[K")
	}
}
