package cmd

import (
	"fmt"
	"io"
	"os"
	"strings"
	"sync"
	"time"

	"golang.org/x/sys/unix"

	"github.com/stencildb/stencildb/engine"
)

// progressOn returns what shows the reading of files on w, or nil where w is not
// a terminal.
func progressOn(w io.Writer) engine.Progress { return progressOf(w, "loading") }

// progressOf is progressOn of another work than loading.
func progressOf(w io.Writer, work string) engine.Progress {
	f, ok := w.(*os.File)
	if !ok || !isTerminal(f) {
		return nil
	}
	b := &bar{w: f, work: work}
	return b.update
}

func isTerminal(f *os.File) bool {
	_, err := unix.IoctlGetWinsize(int(f.Fd()), unix.TIOCGWINSZ)
	return err == nil
}

// bar is a progress bar on one line of a terminal, drawn ten times a second and
// wiped when the file has been read.
type bar struct {
	w    io.Writer
	work string // "loading"

	mu   sync.Mutex
	last time.Time
}

const barWidth = 30

func (b *bar) update(table string, done, total int64) {
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
	fmt.Fprint(b.w, barLine(b.work, table, done, total))
}

// barLine draws the bar from the start of the line.
func barLine(work, table string, done, total int64) string {
	full := int(float64(done) / float64(total) * barWidth)
	return fmt.Sprintf("\r\x1b[K%s %s [%s%s] %3d %%", work, visible(table),
		strings.Repeat("#", full), strings.Repeat(" ", barWidth-full), int(100*float64(done)/float64(total)))
}
