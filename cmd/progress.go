package cmd

import (
	"fmt"
	"io"
	"strings"
	"sync"
	"time"
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

const barWidth = 30

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
	full := int(float64(done) / float64(total) * barWidth)
	return fmt.Sprintf("\r\x1b[K%s %s [%s%s] %3d %%", work, visible(what),
		strings.Repeat("#", full), strings.Repeat(" ", barWidth-full), int(100*float64(done)/float64(total)))
}
