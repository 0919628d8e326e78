package cmd

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"os"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
)

func TestOneLine(t *testing.T) {
	for in, want := range map[string]string{
		"plain":                   "plain",
		"two\nlines\r\n\tthree":   "two lines three",
		"esc \x1b[0m \x7f \u009b": `esc \x1b[0m \x7f \x9b`,
		"bidi \u202e\u2066\u200f": `bidi \u202e\u2066\u200f`,
		"tag \U000e0001 \u2028":   `tag \U000e0001 \u2028`,
		"byte \x9b \ufffd":        "byte \\x9b \ufffd",
		"joined \u200d kept":      "joined \u200d kept",
		"naïve ünïcode":           "naïve ünïcode",
	} {
		if got := oneLine(in); got != want {
			t.Errorf("oneLine(%q) is %q, want %q", in, got, want)
		}
	}
}

// openTerminal opens a terminal: what is written to it is read from the other end.
func openTerminal(t *testing.T) (end *bufio.Reader, tty *os.File) {
	t.Helper()
	master, err := os.OpenFile("/dev/ptmx", os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { master.Close() })
	if err := unix.IoctlSetPointerInt(int(master.Fd()), unix.TIOCSPTLCK, 0); err != nil {
		t.Fatal(err)
	}
	n, err := unix.IoctlGetInt(int(master.Fd()), unix.TIOCGPTN)
	if err != nil {
		t.Fatal(err)
	}
	tty, err = os.OpenFile(fmt.Sprintf("/dev/pts/%d", n), os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { tty.Close() })
	return bufio.NewReader(master), tty
}

// Names drive no terminal, in any format and in EXPLAIN; what is no terminal gets them
// as they are.
func TestNamesDriveNoTerminal(t *testing.T) {
	const evil = "a\x1b[31m\u202eb"
	path := file(t, "t.csv", evil+"\n1\n")
	sql := `SELECT MAX("` + evil + `") AS "` + evil + `" FROM t WHERE "` + evil + `" > 0`
	load := []string{"--load", "t=" + path, "--backend", "cpu"}
	for _, args := range [][]string{{"explain", sql}, {"query", "--format", "csv", sql}, {"query", "--format", "json", sql}, {"query", sql}} {
		end, tty := openTerminal(t)
		if status := Execute(context.Background(), append(args, load...), strings.NewReader(""), tty, io.Discard); status != 0 {
			t.Errorf("%s: status %d", args[0], status)
		}
		fmt.Fprintln(tty, "THE END")
		all := ""
		for !strings.Contains(all, "THE END") {
			line, err := end.ReadString('\n')
			if err != nil {
				t.Fatal(err)
			}
			all += line
		}
		if strings.ContainsAny(all, "\x1b\u202e") || !strings.Contains(all, `\u202eb`) {
			t.Errorf("%s: %q", args, all)
		}
	}
	if o := stencildb(append([]string{"query", "--format", "csv", sql}, load...)...); o.out != evil+"\n1\n" {
		t.Errorf("CSV to a file: %q (%s)", o.out, o.errOut)
	}
}
