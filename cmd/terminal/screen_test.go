package terminal

import (
	"strings"
	"testing"
)

// A terminal gets a text whole, however it is cut into writes.
func TestTerminalWrites(t *testing.T) {
	const text, want = "a\x1b[2J\tnaïve\u202e\n\U0001f600\xff\r\n", "a\\x1b[2J\tnaïve\\u202e\n\U0001f600\\xff\\r\n"
	for n := 1; n <= len(text); n++ {
		var b strings.Builder
		w := &Screen{To: &b}
		for from := 0; from < len(text); from += n {
			piece := text[from:min(from+n, len(text))]
			if got, err := w.Write([]byte(piece)); err != nil || got != len(piece) {
				t.Fatalf("%d of %d, %v", got, len(piece), err)
			}
		}
		if b.String() != want {
			t.Errorf("in pieces of %d: %q, want %q", n, b.String(), want)
		}
	}
}
