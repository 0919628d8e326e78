package cmd

import (
	"fmt"
	"io"
	"sync"
	"time"
)

// wiped goes to the start of a terminal's line, which it wipes.
const wiped = "\r\x1b[K"

// console is standard error where that is a terminal. Below what is written to it stands a line that
// says how far a work is, which is wiped before anything else is written.
type console struct {
	w      io.Writer
	mu     sync.Mutex
	shown  bool // the line
	barred bool // the line is a bar
	silent bool // an answer is being written: no clock
}

// Write implements io.Writer.
func (c *console) Write(p []byte) (int, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.wipe()
	return c.w.Write(p)
}

// wipe removes the line; c.mu is held.
func (c *console) wipe() {
	if c.shown {
		io.WriteString(c.w, wiped)
	}
	c.shown, c.barred = false, false
}

func (c *console) draw(line string) {
	io.WriteString(c.w, wiped+line)
	c.shown = true
}

// hide removes the line.
func (c *console) hide() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.wipe()
}

// show puts up a line that a work draws itself.
func (c *console) show(line string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.draw(line)
	c.barred = true
}

// answer removes the line, and the clock of the statement for good: its answer is being written, to the
// same terminal.
func (c *console) answer() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.wipe()
	c.silent = true
}

// clock shows on a console how long a statement takes.
type clock struct {
	*console
	began       time.Time
	over, ended chan struct{}
}

// clockOn starts the clock of a statement: it is shown from half a second on, while no bar is. It returns
// nil, which does nothing, where w is no console.
func clockOn(w io.Writer) *clock {
	on, ok := w.(*console)
	if !ok {
		return nil
	}
	c := &clock{console: on, over: make(chan struct{}), ended: make(chan struct{})}
	c.again()
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

func (c *clock) tick(now time.Time) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if since := now.Sub(c.began); since >= 500*time.Millisecond && !c.barred && !c.silent {
		c.draw(fmt.Sprintf("running for %.1f s, Ctrl-C ends it", since.Seconds()))
	}
}

// again starts the clock anew, for the next statement.
func (c *clock) again() {
	if c == nil {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.wipe()
	c.began, c.silent = time.Now(), false
}

func (c *clock) stop() {
	if c != nil {
		close(c.over)
		<-c.ended
		c.hide()
	}
}
