package debugger

import (
	"fmt"
	"math"
	"time"

	"github.com/stencildb/stencildb/pass"
	"github.com/stencildb/stencildb/table"
)

// The speeds at which a statement runs by itself, in passes a second.
const (
	slowest      = 0.25
	fastest      = 64
	defaultSpeed = 2
)

// Model is what the debugger shows, and how it changes. The zero step is before the
// first pass, step k after pass k; the step after the last pass is the answer.
type Model struct {
	SQL      string
	Passes   []pass.Profile // as far as they are known, with the samples that they counted
	Executed int            // how many of them have been executed with this text
	Answer   string         // once the statement has been executed to its end with this text

	Step      int // 0..Last()
	Running   bool
	Speed     float64 // passes a second
	Constants []*Constant
	Active    int // the constant that the keys change

	Linear    bool // colours, heights and constants' number lines in proportion, not by rank
	Attribute int  // the column in the attribute's pane; -1 follows the passes

	due time.Duration // until the next step while running
}

func newModel(text string) *Model { return &Model{SQL: text, Speed: defaultSpeed, Attribute: -1} }

// Last returns the last step, which shows the answer.
func (m *Model) Last() int { return len(m.Passes) + 1 }

// AtAnswer reports whether the answer is shown.
func (m *Model) AtAnswer() bool { return m.Step == m.Last() }

// Go goes to a step, as near as there is one.
func (m *Model) Go(step int) { m.Step = min(max(step, 0), m.Last()) }

// chunk is that of the pass at hand, -1 before the first one; at the answer it is that of the last.
func (m *Model) chunk() int {
	if step := min(m.Step, len(m.Passes)); step > 0 {
		return m.Passes[step-1].Pass.Chunk
	}
	return -1
}

// chunks is how many the passes go over.
func (m *Model) chunks() (n int) {
	for _, p := range m.Passes {
		n = max(n, p.Pass.Chunk+1)
	}
	return n
}

// page goes to the nearest pass of the next chunk or the one before that does the same, or to the
// nearest one there.
func (m *Model) page(by int) {
	from, chunk, best, least := min(m.Step, len(m.Passes)), m.chunk()+by, 0, math.MaxInt
	for i, p := range m.Passes {
		far := max(i+1-from, from-i-1)
		if from > 0 && p.Pass.String() != m.Passes[from-1].Pass.String() {
			far += len(m.Passes)
		}
		if p.Pass.Chunk == chunk && far < least {
			best, least = i+1, far
		}
	}
	if best > 0 {
		m.halt(best)
	}
}

// Toggle runs or pauses. Running on from the answer begins again.
func (m *Model) Toggle() {
	m.Running = !m.Running
	if m.Running && m.AtAnswer() {
		m.Go(0)
	}
	m.due = m.pause()
}

// halt goes to a step and stops there.
func (m *Model) halt(step int) {
	m.Go(step)
	m.Running = false
}

// Faster multiplies the speed.
func (m *Model) Faster(by float64) {
	m.Speed = min(max(m.Speed*by, slowest), fastest)
	m.due = min(m.due, m.pause())
}

func (m *Model) pause() time.Duration { return time.Duration(float64(time.Second) / m.Speed) }

// Tick lets time pass and reports whether the step changed. While running there is one step at a time, so
// that none is left out, and the answer stops it.
func (m *Model) Tick(passed time.Duration) bool {
	if !m.Running {
		return false
	}
	if m.due -= passed; m.due > 0 {
		return false
	}
	m.due = max(m.due+m.pause(), 0)
	m.Go(m.Step + 1)
	m.Running = !m.AtAnswer()
	return true
}

// Wait returns how long nothing happens by itself.
func (m *Model) Wait() time.Duration {
	if m.Running {
		return max(m.due, 0)
	}
	return 200 * time.Millisecond
}

// Choose makes constant i the one that keys change.
func (m *Model) Choose(i int) {
	if n := len(m.Constants); n > 0 {
		m.Active = (i%n + n) % n
	}
}

// firstLine is the constant of the first number line: there are lines for some only, the
// active one among them.
func (m *Model) firstLine() int { return max(0, m.Active-maxLines+1) }

// Set moves the active constant to a place of its number line, 0 to 1, and reports
// whether the statement changed.
func (m *Model) Set(place float64) bool {
	if m.Active >= len(m.Constants) {
		return false
	}
	return m.put(m.Constants[m.Active].axis.at(place, m.Linear))
}

// put gives the active constant a value and reports whether the statement changed.
func (m *Model) put(v table.Value) bool {
	c := m.Constants[m.Active]
	text := c.replaced(m.SQL, v)
	if text == m.SQL {
		return false
	}
	more := len(text) - len(m.SQL)
	for _, other := range m.Constants {
		if other.from > c.from {
			other.from, other.to = other.from+more, other.to+more
		}
	}
	c.to += more
	c.Value, m.SQL, m.Answer = v, text, ""
	return true
}

// Nudge moves the active constant by values of the attribute and reports whether the
// statement changed.
func (m *Model) Nudge(steps float64) bool {
	if m.Active >= len(m.Constants) {
		return false
	}
	c := m.Constants[m.Active]
	return m.put(c.axis.nudged(c.Value, steps))
}

// update takes the passes that have been executed. all says that there are no further ones. Otherwise those
// that were known before follow, with what the plan now says of them, with the constants of this text.
func (m *Model) update(passes []pass.Profile, ahead []*pass.Pass, all bool) {
	answer := m.AtAnswer()
	m.Executed = len(passes)
	if all || len(passes) > len(m.Passes) {
		m.Passes = passes
	} else {
		m.Passes = append(passes[:len(passes):len(passes)], m.Passes[len(passes):]...)
		for i := range min(len(ahead), len(m.Passes)-len(passes)) {
			if known := &m.Passes[len(passes)+i]; known.Pass.Routine() == ahead[i].Routine() {
				*known = pass.Profile{Pass: ahead[i]}
			}
		}
	}
	if answer {
		m.Step = m.Last()
	}
	m.Go(m.Step)
}

// name is what the list says of a pass: of one that is still to come and that follows from counts
// the routine alone.
func (m *Model) name(step int) string {
	p := m.Passes[step-1].Pass
	if a, ok := p.Op.(pass.Adaptive); ok && a.Family() != p.Op && m.Answer == "" && step > m.Executed {
		return p.Routine()
	}
	return p.String()
}

// Happened reports whether a step lies behind and has been executed with this text.
func (m *Model) Happened(step int) bool { return step <= m.Step && step <= m.Executed }

// Counted returns the samples counted up to the step, by how many passes.
func (m *Model) Counted() (samples uint64, passes int) {
	for _, p := range m.Passes[:min(m.Step, m.Executed)] {
		if p.Pass.Count {
			samples += p.Samples
			passes++
		}
	}
	return samples, passes
}

// lastCount is the last step up to the current one whose pass counted; 0 for none.
func (m *Model) lastCount() int {
	for step := min(m.Step, m.Executed, len(m.Passes)); step > 0; step-- {
		if m.Passes[step-1].Pass.Count {
			return step
		}
	}
	return 0
}

// Title says where the statement is.
func (m *Model) Title() string {
	switch {
	case m.Step == 0:
		return "before the first pass"
	case m.AtAnswer():
		return "the answer"
	}
	title := fmt.Sprintf("pass %d of %d", m.Step, len(m.Passes))
	if chunks := m.chunks(); chunks > 1 {
		title += fmt.Sprintf(", chunk %d of %d", m.chunk()+1, chunks)
	}
	return title
}
