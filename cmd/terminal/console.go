package terminal

import (
	"fmt"
	"io"
	"sync"
	"time"
)

// wiped goes to the start of a terminal's line, which it wipes.
const wiped = "\r\x1b[K"

// Console is standard error where that is a terminal. Below what is written to it stands a line that
// says how far a work is, which is wiped before anything else is written.
type Console struct {
	To     io.Writer
	mu     sync.Mutex
	shown  bool // the line
	barred bool // the line is a bar
	silent bool // an answer is being written: no clock
}

// Write implements io.Writer.
func (c *Console) Write(p []byte) (int, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.wipe()
	return c.To.Write(p)
}

// wipe removes the line; c.mu is held.
func (c *Console) wipe() {
	if c.shown {
		io.WriteString(c.To, wiped)
	}
	c.shown, c.barred = false, false
}

func (c *Console) draw(line string) {
	io.WriteString(c.To, wiped+line)
	c.shown = true
}

// Hide removes the line.
func (c *Console) Hide() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.wipe()
}

// Show puts up a line that a work draws itself.
func (c *Console) Show(line string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.draw(line)
	c.barred = true
}

// answer removes the line, and the clock of the statement for good: its answer is being written, to the
// same terminal.
func (c *Console) answer() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.wipe()
	c.silent = true
}

// Clock shows on a console how long a statement takes.
type Clock struct {
	*Console
	began       time.Time
	over, ended chan struct{}
}

// ClockOn starts the clock of a statement: it is shown from half a second on, while no bar is. It returns
// nil, which does nothing, where w is no console.
func ClockOn(w io.Writer) *Clock {
	on, ok := w.(*Console)
	if !ok {
		return nil
	}
	c := &Clock{Console: on, over: make(chan struct{}), ended: make(chan struct{})}
	c.Again()
	go func() {
		defer close(c.ended)
		ticks := time.NewTicker(100 * time.Millisecond)
		defer ticks.Stop()
		for {
			select {
			case <-c.over:
				return
			case now := <-ticks.C:
				c.tick(now)
			}
		}
	}()
	return c
}

func (c *Clock) tick(now time.Time) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if since := now.Sub(c.began); since >= 500*time.Millisecond && !c.barred && !c.silent {
		c.draw(fmt.Sprintf("running for %.1f s, Ctrl-C ends it", since.Seconds()))
	}
}

// Again starts the clock anew, for the next statement.
func (c *Clock) Again() {
	if c == nil {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.wipe()
	c.began, c.silent = time.Now(), false
}

func (c *Clock) Stop() {
	if c != nil {
		close(c.over)
		<-c.ended
		c.Hide()
	}
}
