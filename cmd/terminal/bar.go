package terminal

import (
	"fmt"
	"io"
	"math"
	"strings"
	"sync"
	"time"
)

// Progress is how far a work is: so much of a total of it, in words besides.
type Progress struct {
	Done, Total int64
	Words       string
}

// ProgressOn returns what shows on w how far a work is, such as "loading"; nil where w
// is no console.
func ProgressOn(w io.Writer, work string) func(what string, p Progress) {
	c, ok := w.(*Console)
	if !ok {
		return nil
	}
	return bar(c, work)
}

// bar is a progress bar on the line of a console, drawn ten times a second and
// wiped at the end.
func bar(c *Console, work string) func(what string, p Progress) {
	var mu sync.Mutex
	var began, last time.Time
	return func(what string, p Progress) {
		mu.Lock()
		defer mu.Unlock()
		now := time.Now()
		if began.IsZero() {
			began = now
		}
		switch {
		case p.Total <= 0:
		case p.Done < p.Total && now.Sub(last) >= 100*time.Millisecond:
			last = now
			c.Show(barLine(work, what, p, now.Sub(began)))
		case p.Done >= p.Total:
			c.Hide()
			began, last = time.Time{}, time.Time{}
		}
	}
}

// barLine is the bar. After a second it says how many are left.
func barLine(work, what string, p Progress, since time.Duration) string {
	share := float64(p.Done) / float64(p.Total)
	line := fmt.Sprintf("%s %s %s %3d %%%s", work, Visible(what), Filled(share), int(100*share), p.Words)
	if since >= time.Second && p.Done > 0 {
		line += fmt.Sprintf(", %.0f s left", math.Ceil(since.Seconds()*(1-share)/share))
	}
	return line
}

// Filled is a bar of a share from 0 to 1.
func Filled(share float64) string {
	const width = 30
	full := int(share * width)
	return "[" + strings.Repeat("#", full) + strings.Repeat(" ", width-full) + "]"
}
