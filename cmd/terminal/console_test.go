package terminal

import (
	"io"
	"strings"
	"testing"
	"time"
)

// The line of a console: the clock of a statement from half a second on, unless a bar stands there, until
// the answer comes.
func TestConsoleLine(t *testing.T) {
	var out strings.Builder
	on := &Console{To: &out}
	c := &Clock{Console: on}
	after := func(d time.Duration) { c.tick(c.began.Add(d)) }
	c.Again()
	after(400 * time.Millisecond)
	after(1240 * time.Millisecond)
	io.WriteString(on, "note: read\n")
	after(1500 * time.Millisecond)
	on.Show("half")
	after(1600 * time.Millisecond)
	on.Hide()
	after(1700 * time.Millisecond)
	on.answer()
	after(1800 * time.Millisecond)
	c.Again()
	after(600 * time.Millisecond)
	c.Again()
	running := func(s string) string { return wiped + "running for " + s + " s, Ctrl-C ends it" }
	want := running("1.2") + wiped + "note: read\n" + running("1.5") + wiped + "half" + wiped + running("1.7") + wiped + running("0.6") + wiped
	if out.String() != want {
		t.Errorf("%q, want %q", out.String(), want)
	}
	var none *Clock
	none.Again()
	none.Stop()
	if ClockOn(&out) != nil {
		t.Error("there is a clock on something that is no console")
	}
}
