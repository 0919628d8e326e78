package cmd

import (
	"strings"
	"testing"
	"time"
)

// The line of a console: the clock of a statement from half a second on, unless a bar stands there, until
// the answer comes.
func TestConsoleLine(t *testing.T) {
	var out strings.Builder
	on := &console{w: &out}
	c := &clock{console: on}
	after := func(d time.Duration) { c.tick(c.began.Add(d)) }
	c.again()
	after(400 * time.Millisecond)
	after(1240 * time.Millisecond)
	note(on, "read")
	after(1500 * time.Millisecond)
	on.show("half")
	after(1600 * time.Millisecond)
	on.hide()
	after(1700 * time.Millisecond)
	on.answer()
	after(1800 * time.Millisecond)
	c.again()
	after(600 * time.Millisecond)
	c.again()
	running := func(s string) string { return wiped + "running for " + s + " s, Ctrl-C ends it" }
	want := running("1.2") + wiped + "note: read\n" + running("1.5") + wiped + "half" + wiped + running("1.7") + wiped + running("0.6") + wiped
	if out.String() != want {
		t.Errorf("%q, want %q", out.String(), want)
	}
	var none *clock
	none.again()
	none.stop()
	if clockOn(&out) != nil {
		t.Error("there is a clock on something that is no console")
	}
}
