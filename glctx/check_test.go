package glctx

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/go-gl/gl/v4.5-core/gl"
)

func TestCheckNamesThePass(t *testing.T) {
	const pass = "pass CopyToDepth(delay)"
	cases := []struct {
		name string
		do   func()
		want string
	}{
		{"enum", func() { gl.Enable(0xFFFF) }, pass + ": GL error invalid enum (0x500)"},
		{"value", func() { gl.Viewport(0, 0, -1, 1) }, pass + ": GL error invalid value (0x501)"},
		{"operation", func() { gl.UseProgram(0); gl.Uniform1f(3, 1) }, pass + ": GL error invalid operation (0x502)"},
		{"several", func() { gl.Enable(0xFFFF); gl.Viewport(0, 0, -1, 1) }, pass + ": GL error invalid "},
	}
	for _, debug := range []bool{false, true} {
		c := open(t, Options{Debug: debug})
		for _, k := range cases {
			t.Run(fmt.Sprintf("%s/debug=%v", k.name, debug), func(t *testing.T) {
				err := c.Do(context.Background(), func() error {
					k.do()
					if err := c.Check(pass); err != nil {
						return fmt.Errorf("wrapped: %w", err)
					}
					return nil
				})
				var e *GLError
				if err == nil || !errors.As(err, &e) || !strings.HasPrefix(err.Error(), "wrapped: "+k.want) || strings.Contains(err.Error(), "\n") {
					t.Fatalf("%v", err)
				}
				if debug && len(e.Messages) == 0 {
					t.Errorf("a debug context gave no words: %v", err)
				}
				if errors.Is(err, ErrOutOfMemory) || errors.Is(err, ErrContextLost) {
					t.Errorf("%v passes for another kind", err)
				}
				if err := c.Do(context.Background(), func() error { return c.Check(pass) }); err != nil {
					t.Errorf("reported twice: %v", err)
				}
			})
		}
	}
}

func TestDoFindsWhatNobodyCheckedFor(t *testing.T) {
	c := open(t, Options{})
	mine := errors.New("mine")
	err := c.Do(context.Background(), func() error { gl.Enable(0xFFFF); return mine })
	var e *GLError
	if !errors.Is(err, mine) || !errors.As(err, &e) || e.Code != gl.INVALID_ENUM {
		t.Errorf("%v", err)
	}
	err = c.Do(context.Background(), func() error { gl.Enable(0xFFFF); panic("boom") })
	var p *PanicError
	if !errors.As(err, &p) || !errors.As(err, &e) {
		t.Errorf("with a panic: %v", err)
	}
}

func TestHighSeverityMessagesAreErrorsAndOthersAreNot(t *testing.T) {
	c := open(t, Options{Debug: true})
	say := func(severity uint32, text string) func() error {
		return func() error {
			message := []byte(text)
			gl.DebugMessageInsert(gl.DEBUG_SOURCE_APPLICATION, gl.DEBUG_TYPE_OTHER, 7, severity, int32(len(message)), &message[0])
			return c.Check("pass P")
		}
	}
	for _, severity := range []uint32{gl.DEBUG_SEVERITY_MEDIUM, gl.DEBUG_SEVERITY_LOW, gl.DEBUG_SEVERITY_NOTIFICATION} {
		if err := c.Do(context.Background(), say(severity, "murmur")); err != nil {
			t.Errorf("severity 0x%x: %v", severity, err)
		}
	}
	err := c.Do(context.Background(), say(gl.DEBUG_SEVERITY_HIGH, "the roof\n is on fire"))
	if err == nil || err.Error() != "pass P: GL debug message of high severity: the roof is on fire" {
		t.Errorf("%v", err)
	}
}

func TestCheckOutsideDoIsAnError(t *testing.T) {
	c := open(t, Options{})
	if err := c.Check("x"); err == nil {
		t.Error("Check outside Do gave no error")
	}
}

func TestGLErrorKinds(t *testing.T) {
	cases := []struct {
		e          GLError
		text       string
		full, lost bool
	}{
		{GLError{"pass P", gl.OUT_OF_MEMORY, nil}, "pass P: GL error out of memory (0x505)", true, false},
		{GLError{"", gl.CONTEXT_LOST, []string{"a", "b"}}, "GL error context lost (0x507): a; b", false, true},
		{GLError{"x", 0x1234, nil}, "x: GL error unknown (0x1234)", false, false},
		{GLError{"x", 0, []string{"a"}}, "x: GL debug message of high severity: a", false, false},
	}
	for _, k := range cases {
		err := fmt.Errorf("around: %w", &k.e)
		if k.e.Error() != k.text || errors.Is(err, ErrOutOfMemory) != k.full || errors.Is(err, ErrContextLost) != k.lost {
			t.Errorf("%v: want %q, %v, %v", err, k.text, k.full, k.lost)
		}
	}
}

func TestOutOfMemoryFromGL(t *testing.T) {
	c := open(t, Options{})
	err := c.Do(context.Background(), func() error {
		var buffer uint32
		gl.CreateBuffers(1, &buffer)
		defer gl.DeleteBuffers(1, &buffer)
		gl.NamedBufferStorage(buffer, 1<<55, nil, 0)
		return c.Check("upload")
	})
	if !errors.Is(err, ErrOutOfMemory) || !strings.HasPrefix(err.Error(), "upload: ") {
		t.Errorf("%v", err)
	}
}

func TestDepthBoundsWithoutTheExtensionIsAnErrorOfThePass(t *testing.T) {
	c := open(t, Options{Disable: []string{"EXT_depth_bounds_test"}})
	err := c.Do(context.Background(), func() error { c.DepthBounds(0, 1); return c.Check("pass Range(delay)") })
	if err == nil || !strings.HasPrefix(err.Error(), "pass Range(delay): ") || !strings.Contains(err.Error(), "EXT_depth_bounds_test") {
		t.Errorf("%v", err)
	}
}

func TestDepthBoundsReachGL(t *testing.T) {
	const depthBounds = 0x8891 // DEPTH_BOUNDS_EXT
	c := open(t, Options{})
	if !c.Caps().DepthBounds {
		if c.Caps().Has("EXT_depth_bounds_test") {
			t.Error("Has and DepthBounds disagree")
		}
		return
	}
	err := c.Do(context.Background(), func() error {
		c.DepthBounds(0.25, 0.5)
		var got [2]float32
		gl.GetFloatv(depthBounds, &got[0])
		if got != [2]float32{0.25, 0.5} {
			return fmt.Errorf("bounds %v", got)
		}
		return c.Check("bounds")
	})
	if err != nil {
		t.Error(err)
	}
}
