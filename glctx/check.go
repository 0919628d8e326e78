package glctx

import (
	"errors"
	"fmt"
	"strings"

	"github.com/go-gl/gl/v4.5-core/gl"
)

// The debug log is polled, not called back. go-gl holds one callback per process, and a callback would run Go
// code inside a driver call. A poll costs less than a draw.

// listenToDebug keeps messages of high severity, and nothing else, in the log:
// it holds few (10 in Mesa), and a full one drops the newest.
func listenToDebug() {
	gl.Enable(gl.DEBUG_OUTPUT)
	// The text is in the log by the time the failing call returns.
	gl.Enable(gl.DEBUG_OUTPUT_SYNCHRONOUS)
	gl.DebugMessageControl(gl.DONT_CARE, gl.DONT_CARE, gl.DONT_CARE, 0, nil, false)
	gl.DebugMessageControl(gl.DONT_CARE, gl.DONT_CARE, gl.DEBUG_SEVERITY_HIGH, 0, nil, true)
}

// maxErrors bounds the loops below: a lost context may report errors for ever.
const maxErrors = 64

// Check returns what went wrong since the last Check as a [*GLError] that names
// the pass, for instance
//
//	pass CopyToDepth(delay): GL error invalid operation (0x502): ...
//
// or nil. name is put in front as it is. On the GL thread. It waits for nothing,
// and costs less than a microsecond when all is well.
func (c *Context) Check(name string) error { return c.check(func() string { return name }) }

// CheckOf is [Context.Check] of something of a kind, whose name is put together only where
// something went wrong.
func (c *Context) CheckOf(kind string, what fmt.Stringer) error {
	return c.check(func() string { return kind + " " + what.String() })
}

func (c *Context) check(where func() string) error {
	if !c.onThread() {
		return errors.New("glctx: Check called outside Do")
	}
	code, logged := poll()
	if code == 0 && logged == 0 && c.defect == nil {
		return nil
	}
	var err error
	name := where()
	if code != 0 || logged != 0 {
		err = &GLError{Where: name, Code: worst(code), Messages: drainLog()}
	}
	if c.defect != nil {
		err, c.defect = errors.Join(err, named(name, c.defect)), nil
	}
	return err
}

// worst empties GL's error flags and returns the gravest: the first, unless a
// later one says that memory or the context is gone.
func worst(code uint32) uint32 {
	if code == 0 {
		return 0
	}
	for range maxErrors {
		switch next := gl.GetError(); next {
		case 0:
			return code
		case gl.OUT_OF_MEMORY, gl.CONTEXT_LOST:
			code = next
		}
	}
	return code
}

// drainLog takes all messages out of the debug log, each once.
func drainLog() []string {
	var length int32
	var list []string
	for range maxErrors {
		gl.GetIntegerv(gl.DEBUG_NEXT_LOGGED_MESSAGE_LENGTH, &length)
		text := make([]uint8, max(length, 1)+1)
		var kind, severity uint32
		if gl.GetDebugMessageLog(1, int32(len(text)), nil, &kind, nil, &severity, &length, &text[0]) == 0 {
			break
		}
		message := strings.Join(strings.Fields(strings.TrimRight(string(text[:max(min(int(length), len(text)), 0)]), "\x00")), " ")
		if len(list) == 0 || list[len(list)-1] != message {
			list = append(list, message)
		}
	}
	return list
}

// named puts the name of a pass before an error found outside GL.
func named(name string, err error) error {
	if name == "" {
		return err
	}
	return fmt.Errorf("%s: %w", name, err)
}
