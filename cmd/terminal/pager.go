package terminal

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"

	"github.com/jedib0t/go-pretty/v6/text"
	"golang.org/x/sys/unix"
)

// ErrPagerLeft says that the pager was left before it had all of an answer.
var ErrPagerLeft = errors.New("the pager was left")

// Pager writes answers to the terminal. It holds an answer back while it fits on the screen; what does
// not fit goes to a program that turns pages.
type Pager struct {
	Screen *os.File
	Off    bool
	held   bytes.Buffer
	seen   int // bytes of it of which lines are counted
	lines  int // that they take on the screen
	run    *exec.Cmd
	to     io.WriteCloser // the program; nil while none runs
}

// pagerCommand is the program that turns pages, as a shell's command: $PAGER, or less; "" for none.
func pagerCommand() string {
	if command, given := os.LookupEnv("PAGER"); given {
		return command
	}
	if _, err := exec.LookPath("less"); err != nil {
		return ""
	}
	return "less -FRSX"
}

// Write implements io.Writer.
func (p *Pager) Write(b []byte) (int, error) {
	if p.to == nil {
		if p.Off {
			return p.Screen.Write(b)
		}
		p.held.Write(b)
		command := pagerCommand()
		if command == "" || !p.long() {
			return len(b), nil
		}
		if err := p.begin(command); err != nil {
			return 0, err
		}
		b = p.held.Bytes()
	}
	n, err := p.to.Write(b)
	if err != nil {
		err = ErrPagerLeft
	}
	return n, err
}

// long reports whether what is held takes more lines than the screen has, the prompt below it.
func (p *Pager) long() bool {
	size, err := unix.IoctlGetWinsize(int(p.Screen.Fd()), unix.TIOCGWINSZ)
	if err != nil || size.Row == 0 || size.Col == 0 {
		return false
	}
	for p.lines < int(size.Row) {
		n := bytes.IndexByte(p.held.Bytes()[p.seen:], '\n')
		if n < 0 {
			return false
		}
		width := text.StringWidth(string(p.held.Bytes()[p.seen : p.seen+n]))
		p.seen += n + 1
		p.lines += 1 + max(width-1, 0)/int(size.Col)
	}
	return true
}

// begin runs the program.
func (p *Pager) begin(command string) (err error) {
	p.run = exec.Command("sh", "-c", command)
	p.run.Stdout, p.run.Stderr = p.Screen, os.Stderr
	if p.to, err = p.run.StdinPipe(); err == nil {
		err = p.run.Start()
	}
	if err != nil {
		p.to, p.Off = nil, true
	}
	return err
}

// Release shows what is held, or waits until the program is left. What cannot run is not tried again.
// err is that of writing the answer; a program that does not run is why one was left.
func (p *Pager) Release(err error) error {
	defer func() {
		p.held.Reset()
		p.seen, p.lines, p.to = 0, 0, nil
	}()
	if p.to == nil {
		if p.held.Len() > 0 {
			_, shown := p.Screen.Write(p.held.Bytes())
			err = cmp.Or(err, shown)
		}
		return err
	}
	p.to.Close()
	const cannotRun, notFound = 126, 127 // POSIX: the status of sh
	var exit *exec.ExitError
	if left := p.run.Wait(); errors.As(left, &exit) && (exit.ExitCode() == cannotRun || exit.ExitCode() == notFound) {
		p.Off = true
		if err == nil || errors.Is(err, ErrPagerLeft) {
			return fmt.Errorf(`the pager %q does not run, and is off now: set PAGER to another one, and \pager on`, pagerCommand())
		}
	}
	return err
}
