package main

import (
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/creack/pty"
)

// session is a shell in a pseudo-terminal.
type session struct {
	*testing.T
	c    *exec.Cmd
	tty  *os.File
	all  string // that it wrote
	seen int    // of it, by expect
}

// openShell starts the binary on a terminal. What it keeps and its settings lie in the folder state.
func openShell(t *testing.T, state string, args ...string) *session {
	t.Helper()
	return openShellWith(t, "", state, args...)
}

// openShellWith is openShell with a program that turns pages.
func openShellWith(t *testing.T, pager, state string, args ...string) *session {
	t.Helper()
	s := &session{T: t, c: exec.Command(binary, args...)}
	s.c.Env = append(os.Environ(), "TERM=xterm", "XDG_STATE_HOME="+state, "XDG_CONFIG_HOME="+state, "PAGER="+pager, "VISUAL=sed -i s/SUM/AVG/")
	var err error
	if s.tty, err = pty.StartWithSize(s.c, &pty.Winsize{Rows: 40, Cols: 120}); err != nil {
		t.Fatal(err)
	}
	kill := time.AfterFunc(2*time.Minute, func() { s.c.Process.Kill() }) // so that expect ends
	t.Cleanup(func() {
		kill.Stop()
		s.c.Process.Kill()
		s.tty.Close()
	})
	return s
}

func (s *session) enter(keys string) {
	s.Helper()
	if _, err := s.tty.WriteString(keys); err != nil {
		s.Fatal(err)
	}
}

// expect waits until the shell has written a text behind the one expected before.
func (s *session) expect(want string) {
	s.Helper()
	buf := make([]byte, 4096)
	for !strings.Contains(s.all[s.seen:], want) {
		n, err := s.tty.Read(buf)
		s.all += string(buf[:n])
		if err != nil {
			s.Fatalf("%v before %q came: %q", err, want, s.all[s.seen:])
		}
	}
	s.seen += strings.Index(s.all[s.seen:], want) + len(want)
}

// ends waits until the shell has been left.
func (s *session) ends() {
	s.Helper()
	rest, err := io.ReadAll(s.tty)
	s.all += string(rest)
	if err != nil && !errors.Is(err, syscall.EIO) { // which is how Linux ends a terminal
		s.Error(err)
	}
	if err := s.c.Wait(); err != nil {
		s.Errorf("%v: %q", err, s.all[s.seen:])
	}
}

func TestShell(t *testing.T) {
	dir := t.TempDir()
	evil, endless := filepath.Join(dir, "evil.csv"), filepath.Join(dir, "endless.csv")
	if err := os.WriteFile(evil, []byte("v\nred \x1b[35m\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := syscall.Mkfifo(endless, 0o600); err != nil {
		t.Fatal(err)
	}
	s := openShell(t, dir, "shell", "--backend", "cpu", "--load", "flights=testdata/flights-200k.parquet", "--load", evil, "--load", endless)
	s.expect("backend cpu")

	// A statement over lines, and what a semicolon ends.
	s.enter("SELECT COUNT(*)\r")
	s.expect("..> ")
	s.enter("FROM flights; SELECT 30 + 1;\r")
	s.expect("200000")
	s.expect("1 row, cpu, ")
	s.expect("31")

	// Ctrl-C drops what has been typed, in the line and in those before it. It does so
	// once the editor shows what is typed: before, it is a signal, which ends whatever
	// statement runs when it comes.
	s.enter("SELECT 'never ")
	s.expect("never")
	s.enter("\x03SELECT 40 + 2;\r")
	s.expect("42")
	s.enter("SELECT 7,\r8")
	s.expect("..> 8")
	s.enter("\x03SELECT 50 + 3;\r")
	s.expect("53")

	// It ends a statement, and the shell goes on; so does an error.
	s.enter("SELECT MAX(a) FROM endless;\r")
	w, err := os.OpenFile(endless, os.O_WRONLY, 0) // waits until the shell has opened it
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	if _, err := w.WriteString("a\n1\n"); err != nil {
		t.Fatal(err)
	}
	s.expect("running for ")
	s.enter("\x03")
	s.expect("\r\x1b[Kerror: interrupted")
	s.enter("SELECT 60 + 1 FROM nowhere;\r")
	s.expect(`error: table "nowhere" does not exist`)
	s.enter("SELECT 60 + 2;\r")
	s.expect("62")

	// The tab key completes keywords, tables and columns.
	s.enter("sel\t COUNT(*) fr\t fli\t where dista\t >= 0;\r")
	s.expect("200000")
	s.enter("SELECT MA\tX(delay) FROM FLI\t f WHERE f.dista\t >= 0;\r") // what is typed stays, in its case
	s.expect("1444")
	s.enter("\\tim\t off\r")
	s.expect("timing is off")

	// Values drive no terminal.
	s.enter("SELECT v FROM evil;\r")
	s.expect(`red \x1b[35m`)

	s.enter("SELECT 70 + 7;\r")
	s.expect("77")
	s.enter("\x04")
	s.ends()
	if strings.Contains(s.all, "\x1b[35m") {
		t.Errorf("a control character came through: %q", s.all)
	}
}

// Without arguments it is the shell, with the lines of the one before.
func TestShellKeepsItsLines(t *testing.T) {
	dir := t.TempDir()
	s := openShell(t, dir)
	s.expect("backend auto")
	s.enter("SELECT 40 + 2;\r")
	s.expect("42")
	s.enter("\\q\r")
	s.ends()
	s = openShell(t, dir)
	s.enter("\x1b[A\x1b[A\r")
	s.expect("42")
	s.enter("SELECT 'two\rlines' -- said\r, 3;\r") // which is one line there
	s.expect(`two\nlines`)
	s.enter("\x1b[A\r")
	s.expect(`SELECT E'two\nlines' /* said */ , 3;`)
	s.expect(`two\nlines`)
	s.enter("SELECT 8,\r0") // what is dropped is kept, too
	s.expect("..> 0")
	s.enter("\x03\x1b[A")
	s.expect("SELECT 8,")
	s.enter(" 9;\r")
	s.expect(" 9 │")
	s.enter("quit\r")
	s.ends()
	kept, err := os.ReadFile(filepath.Join(dir, "stencildb", "history"))
	const two = "SELECT E'two\\nlines' /* said */ , 3;\n"
	if want := "SELECT 40 + 2;\n\\q\nSELECT 40 + 2;\n" + two + two + "SELECT 8,\nSELECT 8, 9;\nquit\n"; err != nil || string(kept) != want {
		t.Errorf("kept are %q, want %q (%v)", kept, want, err)
	}
}

// An answer that is longer than the screen goes to the pager, which may be left before it has all.
func TestShellTurnsPages(t *testing.T) {
	const many = "SELECT delay AS late FROM flights LIMIT 60;\r"
	s := openShellWith(t, "sed 's/^/> /'", t.TempDir(), "shell", "--backend", "cpu")
	s.expect("backend cpu")
	s.enter("SELECT 40 + 2 AS few;\r")
	s.expect("\r\n│ few │\r\n")
	s.enter(many)
	s.expect("\r\n> │ late │\r\n")
	s.expect("\r\n> 60 rows")
	s.enter("\\pager off\r")
	s.expect("pager is off")
	s.enter(many)
	s.expect("\r\n│ late │\r\n")
	s.expect("\r\n60 rows")
	s.enter("\x04")
	s.ends()

	s = openShellWith(t, "head -n 3", t.TempDir(), "shell", "--backend", "cpu")
	s.expect("backend cpu")
	s.enter("SELECT delay AS late FROM flights;\r")
	s.expect("\r\n│ late │\r\n")
	s.enter("SELECT 50 + 3;\r")
	s.expect("53 │")
	s.enter("\x04")
	s.ends()

	// A pager that does not run has gone before or after the answer is written into the pipe.
	for _, statement := range []string{many, "SELECT delay AS late FROM flights;\r"} {
		s = openShellWith(t, "no-such-pager", t.TempDir(), "shell", "--backend", "cpu")
		s.expect("backend cpu")
		s.enter(statement)
		s.expect(`error: the pager "no-such-pager" does not run`)
		s.enter(many)
		s.expect("\r\n│ late │\r\n")
		s.enter("\x04")
		s.ends()
	}
}

// What is wider than the screen: columns of text are cut, or there is a line for each value.
func TestShellFitsTheScreen(t *testing.T) {
	const wide = "SELECT 42 AS n, repeat('ab', 80) AS s;\r"
	s := openShell(t, t.TempDir(), "--backend", "cpu")
	s.expect("backend cpu")
	s.enter("\\timing off\r")
	s.expect("timing is off")
	s.enter(wide)
	s.expect("│ 42 │ " + strings.Repeat("ab", 55) + "… │\r\n")
	s.expect("1 row; cut to the width of the screen: s\r\n")
	s.enter("\\x auto\r")
	s.expect("expanded display is auto")
	s.enter(wide)
	s.expect("─ row 1 ─\r\nn │ 42\r\ns │ " + strings.Repeat("ab", 80) + "\r\n1 row\r\n")
	s.enter("SELECT 43 AS few;\r")
	s.expect("│  43 │\r\n")
	s.enter("\\q\r")
	s.ends()
}

// A file opens the shell; the settings' file comes first, and what is wrong in it is said.
func TestShellOfAFileWithSettings(t *testing.T) {
	dir := t.TempDir()
	trips := filepath.Join(dir, "trips.csv")
	if err := errors.Join(os.WriteFile(trips, []byte("fare\n40\n2\n"), 0o600), os.Mkdir(filepath.Join(dir, "stencildb"), 0o700),
		os.WriteFile(filepath.Join(dir, "stencildb", "rc"), []byte("\\timing off\n.mdoe csv\nCREATE VIEW twice AS\nSELECT 2 * fare AS n FROM trips;\n"), 0o600)); err != nil {
		t.Fatal(err)
	}
	s := openShell(t, dir, trips, "--backend", "cpu")
	s.expect("rc, line 2: there is no command .mdoe: did you mean .mode?")
	s.expect("backend cpu")
	s.enter("SELECT SUM(n) AS s FROM twice;\r")
	s.expect("│ 84 │")
	s.expect("1 row\r\n")
	// The editor has the statement before; a command of the system has the terminal.
	s.enter("\\! test -t 0 && test -t 1 && echo a terminal, $((40 + 3))\r")
	s.expect("a terminal, 43")
	s.enter("\\e\r")
	s.expect("stencildb> SELECT AVG(n) AS s FROM twice;\r\n")
	s.expect("│ 42 │")
	s.enter("\\watch 0.01\r")
	s.expect("(every 10ms)")
	s.expect("│ 42 │")
	s.expect("(every 10ms)")
	s.expect("│ 42 │")
	s.enter("\x03")
	s.enter("SELECT 40 + 4;\r")
	s.expect("│       44 │")
	// Completion knows the tables of FROM that stand behind the cursor.
	s.enter("SELECT SUM(far + 1) FROM trips;" + strings.Repeat("\x02", len(" + 1) FROM trips;")) + "\t\r")
	s.expect("│  44 │")
	s.enter("\\q\r")
	s.ends()

	s = openShell(t, dir, "--no-rc", trips, "--backend", "cpu")
	s.enter("SELECT fare FROM trips LIMIT 1;\r")
	s.expect("1 row, cpu, ")
	if strings.Contains(s.all, ".mdoe") {
		t.Errorf("the settings are read: %q", s.all)
	}
	s.enter("\\q\r")
	s.ends()
}
