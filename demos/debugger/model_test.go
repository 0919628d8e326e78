package debugger

import (
	"strings"
	"testing"
	"time"

	"github.com/stencildb/stencildb/pass"
)

// three is a model of a statement of three passes, two of which count.
func three() *Model {
	m := newModel("SELECT COUNT(*) FROM t WHERE a > 1")
	m.update([]pass.Profile{entry(pass.CopyToDepth{Attribute: pass.Attribute{Name: "a"}}), counted(pass.Compare{Text: "a > 1"}, 7), counted(pass.CountSelection, 5)}, nil, true)
	return m
}

func entry(op pass.Op) pass.Profile { return pass.Profile{Pass: &pass.Pass{Op: op}} }

func counted(op pass.Op, samples uint64) pass.Profile {
	return pass.Profile{Pass: &pass.Pass{Op: op, Count: true}, Samples: samples}
}

func TestStepsStayWithinTheStatement(t *testing.T) {
	m := three()
	for _, c := range []struct{ to, want int }{{-1, 0}, {2, 2}, {4, 4}, {9, 4}} {
		if m.Go(c.to); m.Step != c.want {
			t.Errorf("step %d became %d, want %d", c.to, m.Step, c.want)
		}
	}
	if !m.AtAnswer() || m.Title() != "the answer" {
		t.Errorf("step %d is %q", m.Step, m.Title())
	}
	m.halt(0)
	if m.Step != 0 || m.Running {
		t.Errorf("rewound to step %d, running %v", m.Step, m.Running)
	}
}

func TestTheRunningCountIsThatOfTheStepsBefore(t *testing.T) {
	m := three()
	for step, want := range []uint64{0, 0, 7, 12, 12} {
		m.Go(step)
		if got, _ := m.Counted(); got != want {
			t.Errorf("step %d: counted %d, want %d", step, got, want)
		}
	}
}

func TestRunningTakesOneStepATimeAndEndsAtTheAnswer(t *testing.T) {
	m := three()
	if m.Tick(time.Hour) {
		t.Error("a paused model has moved")
	}
	m.Toggle()
	for range 3 {
		if m.Tick(498 * time.Millisecond) {
			t.Fatal("too early at two passes a second")
		}
		if !m.Tick(2 * time.Millisecond) {
			t.Fatal("too late")
		}
	}
	if m.Step != 3 || !m.Running {
		t.Errorf("at step %d, running %v", m.Step, m.Running)
	}
	if !m.Tick(time.Hour) || !m.AtAnswer() || m.Running {
		t.Errorf("after an hour at step %d, running %v", m.Step, m.Running)
	}
	m.Toggle()
	if m.Step != 0 || !m.Running {
		t.Errorf("running on from the answer: step %d, running %v", m.Step, m.Running)
	}
}

func TestSpeedIsBounded(t *testing.T) {
	m := three()
	m.Toggle()
	for range 20 {
		m.Faster(2)
	}
	if m.Speed != fastest || m.Wait() > time.Second/fastest {
		t.Errorf("%v passes a second, waiting %v", m.Speed, m.Wait())
	}
	for range 20 {
		m.Faster(0.5)
	}
	if m.Speed != slowest {
		t.Errorf("%v passes a second", m.Speed)
	}
}

func TestPassesOfAnotherConstantAreKnownToTheStepOnly(t *testing.T) {
	m := three()
	m.Go(2)
	m.update([]pass.Profile{entry(pass.CopyToDepth{Attribute: pass.Attribute{Name: "a"}}), counted(pass.Compare{Text: "a > 2"}, 3)}, nil, false)
	if m.Executed != 2 || len(m.Passes) != 3 || m.Passes[1].Samples != 3 || m.Passes[2].Pass.Op != pass.CountSelection {
		t.Errorf("%d executed: %v", m.Executed, m.Passes)
	}
	m.Go(m.Last())
	m.update([]pass.Profile{entry(pass.Compare{Text: "a > 3"})}, nil, true)
	if len(m.Passes) != 1 || !m.AtAnswer() {
		t.Errorf("%v, step %d", m.Passes, m.Step)
	}
}

func TestTheHeadShowsTheActiveConstant(t *testing.T) {
	text := func(list []letter) (s string) {
		for _, l := range list {
			s += string(l.r)
		}
		return s
	}
	m := newModel("SELECT COUNT(*) -- all of them\n\tFROM t /* or\nnone */ WHERE s = 'a  --b' AND\n x > 15")
	if got, want := text(m.excerpt(200)), "SELECT COUNT(*) FROM t WHERE s = 'a  --b' AND x > 15"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
	from := strings.Index(m.SQL, "15")
	m.Constants = []*Constant{{from: from, to: from + 2}, {from: 7, to: 12}}
	for active, want := range []string{"…D x > 15", "… COUNT(…"} {
		m.Active = active
		if got := text(m.excerpt(9)); got != want {
			t.Errorf("constant %d: %q, want %q", active, got, want)
		}
	}
	m.SQL += " AND y < 1000"
	m.Active = 0
	if got := m.excerpt(12); !strings.Contains(text(got), " > 15 AND") || got[5].at != from {
		t.Errorf("%q", text(got))
	}
}

func TestPagesThroughChunks(t *testing.T) {
	m := newModel("")
	for _, p := range []struct {
		chunk int
		name  string
	}{{0, "a"}, {0, "a > 1"}, {1, "a"}, {1, "a > 1"}, {2, "a"}, {0, "kth"}, {1, "kth"}, {2, "kth"}} {
		e := entry(pass.Compare{Text: p.name})
		e.Pass.Chunk = p.chunk
		m.Passes = append(m.Passes, e)
	}
	for _, c := range []struct{ from, by, to int }{{0, 1, 1}, {0, -1, 0}, {1, 1, 3}, {2, 1, 4}, {4, -1, 2}, {4, 1, 5}, {3, 1, 5}, {5, 1, 5},
		{1, -1, 1}, {6, 1, 7}, {7, 1, 8}, {8, 1, 8}, {7, -1, 6}, {9, -1, 7}, {9, 1, 9}} {
		m.Go(c.from)
		if m.page(c.by); m.Step != c.to {
			t.Errorf("from step %d by %d: step %d, want %d", c.from, c.by, m.Step, c.to)
		}
	}
	if m.Go(4); m.Title() != "pass 4 of 8, chunk 2 of 3" {
		t.Error(m.Title())
	}
}
