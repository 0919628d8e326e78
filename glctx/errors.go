package glctx

import (
	"errors"
	"fmt"
	"runtime"
	"strings"

	"github.com/go-gl/gl/v4.5-core/gl"
)

// Errors to test for with errors.Is.
var (
	// ErrClosed is returned by Do after Close.
	ErrClosed = errors.New("glctx: the context is closed")
	// ErrOutOfMemory is in every error in which GL ran out of memory. GL leaves
	// the state undefined: close the context.
	ErrOutOfMemory = Fault(errors.New("out of GPU memory"))
	// ErrContextLost is in every error after the GPU was reset. The context and
	// all its objects are gone: close it and open another.
	ErrContextLost = Fault(errors.New("the GL context is lost"))
	// ErrFault is in every error after which a context is not to be trusted, the two
	// above among them. That is whatever GL reports, a program that the driver does not
	// compile, a buffer that it does not map. Close the context and open another.
	ErrFault = errors.New("the OpenGL device failed")
	// ErrNoDevice is in the error of Open when nothing can be opened.
	ErrNoDevice = errors.New("no OpenGL 4.5 device")
	// ErrLeak is in the error of Close when objects were still alive.
	ErrLeak = errors.New("GL objects still alive")
)

// WishError says that Options.Device or STENCILDB_DEVICE names no device of this
// machine and no kind of device; it lists what there is. One that is there but
// does not open is [ErrNoDevice] instead.
type WishError struct{ text string }

// Error is one line: "glctx: --device: no device 99: take one of ...".
func (e *WishError) Error() string { return e.text }

// GLError is what GL reported during one pass.
type GLError struct {
	// Where names the pass, as it was given to Check; empty when Do found it.
	Where string
	// Code is the value of glGetError, 0 when only debug messages came.
	Code uint32
	// Messages are the KHR_debug messages of high severity, oldest first.
	Messages []string
}

var glErrorNames = map[uint32]string{
	gl.INVALID_ENUM: "invalid enum", gl.INVALID_VALUE: "invalid value",
	gl.INVALID_OPERATION: "invalid operation", gl.INVALID_FRAMEBUFFER_OPERATION: "invalid framebuffer operation",
	gl.OUT_OF_MEMORY: "out of memory", gl.STACK_OVERFLOW: "stack overflow",
	gl.STACK_UNDERFLOW: "stack underflow", gl.CONTEXT_LOST: "context lost",
}

// Error is one line: "pass CopyToDepth(delay): GL error invalid operation (0x502): ...".
func (e *GLError) Error() string {
	var b strings.Builder
	if e.Where != "" {
		b.WriteString(e.Where + ": ")
	}
	if e.Code != 0 {
		name := glErrorNames[e.Code]
		if name == "" {
			name = "unknown"
		}
		fmt.Fprintf(&b, "GL error %s (0x%x)", name, e.Code)
	} else {
		b.WriteString("GL debug message of high severity")
	}
	for i, m := range e.Messages {
		b.WriteString([]string{": ", "; "}[min(i, 1)] + m)
	}
	return b.String()
}

// Is matches ErrFault, and ErrOutOfMemory and ErrContextLost by the code.
func (e *GLError) Is(target error) bool {
	switch target {
	case ErrFault:
		return true
	case ErrOutOfMemory:
		return e.Code == gl.OUT_OF_MEMORY
	case ErrContextLost:
		return e.Code == gl.CONTEXT_LOST
	}
	return false
}

// Fault marks an error of the driver that GL does not report as one: it is [ErrFault],
// in the same words.
func Fault(err error) error { return &also{err, ErrFault} }

// also is an error that is another one, too, which it does not mention.
type also struct {
	error
	is error
}

func (a *also) Unwrap() error        { return a.error }
func (a *also) Is(target error) bool { return target == a.is }

// PanicError is a panic of a function given to Do, or in the GLFW binding.
type PanicError struct {
	Value any    // what panic was called with
	Stack string // of the thread it happened on, for a log; Error leaves it out
}

// Error is one line with the panic's value.
func (e *PanicError) Error() string {
	return fmt.Sprintf("glctx: panic: %v", e.Value)
}

// Unwrap returns the value where it is an error.
func (e *PanicError) Unwrap() error {
	err, _ := e.Value.(error)
	return err
}

func recovered(value any) error {
	stack := make([]byte, 16<<10)
	return &PanicError{Value: value, Stack: string(stack[:runtime.Stack(stack, false)])}
}
