package terminal

import (
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/sys/unix"
)

// Is reports whether a reader or writer is one.
func Is(stream any) bool {
	f, ok := stream.(*os.File)
	if !ok {
		return false
	}
	_, err := unix.IoctlGetWinsize(int(f.Fd()), unix.TIOCGWINSZ)
	return err == nil
}

// Screen writes text to a terminal, which the names and values in it cannot control. Control characters
// other than line breaks and tabs are written as escapes.
type Screen struct {
	To    io.Writer
	tail  []byte   // of the last write: the start of a character
	Below *Console // the same terminal as standard error; nil where that is none
}

// Write implements io.Writer.
func (t *Screen) Write(p []byte) (int, error) {
	if t.Below != nil {
		t.Below.answer()
	}
	text := append(t.tail, p...)
	end := len(text)
	for i := max(end-utf8.UTFMax+1, 0); i < end; i++ {
		if utf8.RuneStart(text[i]) && !utf8.FullRune(text[i:]) {
			end = i
		}
	}
	t.tail = append([]byte(nil), text[end:]...)
	if _, err := io.WriteString(t.To, escape(string(text[:end]), "\n\t")); err != nil {
		return 0, err
	}
	return len(p), nil
}

// Visible writes control characters as escapes, so that data cannot drive a
// terminal, break a line or turn the order of its characters round.
func Visible(s string) string { return escape(s, "") }

// escape writes the control characters of s but those of keep as escapes.
func escape(s, keep string) string {
	control := func(r rune) bool { return isControl(r) && !strings.ContainsRune(keep, r) }
	if strings.IndexFunc(s, control) < 0 && utf8.ValidString(s) {
		return s
	}
	var b strings.Builder
	for i, r := range s {
		switch {
		case r == utf8.RuneError && s[i] != "\ufffd"[0]: // a byte that is no UTF-8
			fmt.Fprintf(&b, `\x%02x`, s[i])
		case !control(r):
			b.WriteRune(r)
		case r >= 0x80 && r < 0x100:
			fmt.Fprintf(&b, `\x%02x`, r)
		default:
			b.WriteString(strings.Trim(strconv.QuoteRuneToASCII(r), "'"))
		}
	}
	return b.String()
}

// isControl reports the characters that a terminal obeys instead of showing them. These are the control
// characters of ASCII and Latin-1 and the line separators. They also are invisible characters that change the
// order of others (Unicode's class Cf without the joiners, which scripts need).
func isControl(r rune) bool {
	switch {
	case r < 0x20 || r >= 0x7f && r < 0xa0 || r == '\u2028' || r == '\u2029':
		return true
	case r == '\u200c' || r == '\u200d':
		return false
	}
	return unicode.Is(unicode.Cf, r)
}
