package glctx

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/go-gl/gl/v4.5-core/gl"
)

// TestMain runs the tests beside the main thread, which a build with windows
// needs for itself.
func TestMain(m *testing.M) {
	code := 1
	RunMain(func() { code = m.Run() })
	os.Exit(code)
}

// open opens a context with o and closes it, without leaks, after the test.
func open(t testing.TB, o Options) *Context {
	t.Helper()
	c, err := Open(o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := c.Close(); err != nil {
			t.Error(err)
		}
	})
	return c
}

func TestOpenGivesAnOpenGL45Context(t *testing.T) {
	c := open(t, Options{})
	caps := c.Caps()
	if caps.major*10+caps.minor < 45 || caps.Renderer == "" || !strings.Contains(caps.GLSL, "4.") {
		t.Errorf("%+v", caps)
	}
	if caps.MaxTextureSize < 16384 || caps.SamplesBits < 32 || caps.MaxStorageBlock < 1<<24 || caps.MaxTextureBuffer < 65536 {
		t.Errorf("limits below those of OpenGL 4.5 as it is: %+v", caps)
	}
	if caps.Budget <= 0 || caps.Budget > caps.MemoryFree || caps.MemoryFree > caps.MemoryTotal {
		t.Errorf("budget %d of %d free of %d", caps.Budget, caps.MemoryFree, caps.MemoryTotal)
	}
	if d := c.Device(); !d.Chosen || d.Why == "" || d.Renderer != caps.Renderer {
		t.Errorf("device %+v", d)
	}
	if c.Window() != nil {
		t.Error("a context without a display has a window")
	}
}

func TestCloseTwiceAndDoAfterClose(t *testing.T) {
	c := open(t, Options{})
	for range 2 {
		if err := c.Close(); err != nil {
			t.Fatal(err)
		}
	}
	if err := c.Do(context.Background(), func() error { t.Error("ran after Close"); return nil }); !errors.Is(err, ErrClosed) {
		t.Errorf("Do after Close: %v", err)
	}
}

func TestCloseInsideDoIsRefused(t *testing.T) {
	c := open(t, Options{})
	if err := c.Do(context.Background(), c.Close); err == nil {
		t.Error("Close inside Do succeeded")
	}
	if err := c.Do(context.Background(), func() error { return nil }); err != nil {
		t.Errorf("and the context is gone: %v", err)
	}
}

// blockingAndSpinning runs a test with a context that blocks in Do and one that spins
// first.
func blockingAndSpinning(t *testing.T, test func(t *testing.T, c *Context)) {
	for _, procs := range []int{2, spinCores} {
		t.Run(fmt.Sprintf("procs=%d", procs), func(t *testing.T) {
			defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(procs))
			test(t, open(t, Options{}))
		})
	}
}

func TestDoRunsOnOneThreadFromManyGoroutines(t *testing.T) {
	blockingAndSpinning(t, runsOnOneThread)
}

func runsOnOneThread(t *testing.T, c *Context) {
	const goroutines, calls = 16, 200
	sum, inside := 0, 0 // guarded by the GL thread alone
	var group sync.WaitGroup
	for range goroutines {
		group.Go(func() {
			for range calls {
				err := c.Do(context.Background(), func() error {
					if inside++; inside != 1 || !c.onThread() {
						return errors.New("two functions at once")
					}
					sum++
					inside--
					return nil
				})
				if err != nil {
					t.Error(err)
				}
			}
		})
	}
	group.Wait()
	if sum != goroutines*calls {
		t.Errorf("%d calls ran, not %d", sum, goroutines*calls)
	}
}

func TestCloseWhileOthersCallDo(t *testing.T) { blockingAndSpinning(t, closeWhileOthersCall) }

func closeWhileOthersCall(t *testing.T, c *Context) {
	var group sync.WaitGroup
	for range 8 {
		group.Go(func() {
			for {
				if err := c.Do(context.Background(), func() error { return nil }); err != nil {
					if !errors.Is(err, ErrClosed) {
						t.Error(err)
					}
					return
				}
			}
		})
	}
	if err := c.Close(); err != nil {
		t.Error(err)
	}
	group.Wait()
}

func TestDoInsideDoRunsAtOnce(t *testing.T) {
	c := open(t, Options{})
	var order []string
	err := c.Do(context.Background(), func() error {
		order = append(order, "before")
		err := c.Do(context.Background(), func() error { order = append(order, "inside"); return errors.New("inner") })
		order = append(order, "after")
		return err
	})
	if fmt.Sprint(order) != "[before inside after]" || err == nil || err.Error() != "inner" {
		t.Errorf("%v, %v", order, err)
	}
}

func TestPanicInDoIsAnError(t *testing.T) {
	c := open(t, Options{})
	cause := errors.New("the cause")
	for _, value := range []any{"boom", cause, 42} {
		err := c.Do(context.Background(), func() error { panic(value) })
		var p *PanicError
		if !errors.As(err, &p) || p.Value != value || !strings.Contains(p.Stack, "context_test.go") || strings.Contains(err.Error(), "\n") {
			t.Errorf("panic(%v) gave %v", value, err)
		}
	}
	err := c.Do(context.Background(), func() error { panic(cause) })
	if !errors.Is(err, cause) {
		t.Errorf("the panic's error is lost in %v", err)
	}
	var nothing *int
	if err := c.Do(context.Background(), func() error { *nothing = 1; return nil }); err == nil || !strings.Contains(err.Error(), "nil pointer") {
		t.Errorf("a nil pointer gave %v", err)
	}
	if err := c.Do(context.Background(), func() error { return nil }); err != nil {
		t.Errorf("the context did not survive: %v", err)
	}
}

func TestGoexitInDoClosesTheContext(t *testing.T) {
	c := open(t, Options{})
	if err := c.Do(context.Background(), func() error { runtime.Goexit(); return nil }); err == nil {
		t.Error("Goexit gave no error")
	}
	if err := c.Do(context.Background(), func() error { return nil }); !errors.Is(err, ErrClosed) {
		t.Errorf("Do afterwards: %v", err)
	}
}

func TestLiveCountsAndLeaksAreReported(t *testing.T) {
	c, err := Open(Options{})
	if err != nil {
		t.Fatal(err)
	}
	c.Track("texture", 3)
	c.Track("program", 1)
	c.Track("texture", -1)
	c.Track("program", -1)
	if live := c.Live(); !maps.Equal(live, map[string]int{"texture": 2}) {
		t.Errorf("alive: %v", live)
	}
	err = c.Close()
	if !errors.Is(err, ErrLeak) || !strings.Contains(err.Error(), "texture 2") {
		t.Errorf("Close: %v", err)
	}
}

func TestSeveralContextsKeepTheirOwnState(t *testing.T) {
	const n = 6
	var contexts []*Context
	for i := range n {
		c := open(t, Options{})
		contexts = append(contexts, c)
		err := c.Do(context.Background(), func() error {
			gl.ClearColor(float32(i)/n, 0, 0, 0)
			gl.Viewport(0, 0, int32(10+i), 1)
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	// Closing one leaves the others, which share its display, as they are.
	if err := contexts[2].Close(); err != nil {
		t.Fatal(err)
	}
	var group sync.WaitGroup
	for i, c := range contexts {
		if i == 2 {
			continue
		}
		group.Go(func() {
			for range 100 {
				err := c.Do(context.Background(), func() error {
					var box [4]int32
					gl.GetIntegerv(gl.VIEWPORT, &box[0])
					if box[2] != int32(10+i) {
						return fmt.Errorf("context %d has the viewport %v", i, box)
					}
					return nil
				})
				if err != nil {
					t.Error(err)
				}
			}
		})
	}
	group.Wait()
}

func TestFiftyContextsLeakNothing(t *testing.T) {
	open1 := func() {
		c, err := Open(Options{})
		if err != nil {
			t.Fatal(err)
		}
		if err := c.Close(); err != nil {
			t.Fatal(err)
		}
	}
	open1() // what a driver loads once stays loaded
	open1()
	files, threads := count(t, "/proc/self/fd"), count(t, "/proc/self/task")
	for range 50 {
		open1()
	}
	displays.Lock()
	inUse := len(displays.users)
	displays.Unlock()
	if inUse != 0 {
		t.Errorf("%d displays still in use", inUse)
	}
	// The Go runtime may have started threads of its own in the meantime.
	if f, th := count(t, "/proc/self/fd"), count(t, "/proc/self/task"); f > files+2 || th > threads+8 {
		t.Errorf("%d files and %d threads became %d and %d", files, threads, f, th)
	}
}

func count(t *testing.T, dir string) int {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	return len(entries)
}

func BenchmarkDo(b *testing.B) {
	c := open(b, Options{})
	for b.Loop() {
		if err := c.Do(context.Background(), func() error { return nil }); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkNestedDo(b *testing.B) {
	c := open(b, Options{})
	_ = c.Do(context.Background(), func() error {
		for b.Loop() {
			_ = c.Do(context.Background(), func() error { return nil })
		}
		return nil
	})
}

func BenchmarkCheck(b *testing.B) {
	for _, debug := range []bool{false, true} {
		b.Run(fmt.Sprintf("debug=%v", debug), func(b *testing.B) {
			c := open(b, Options{Debug: debug})
			_ = c.Do(context.Background(), func() error {
				for b.Loop() {
					_ = c.Check("x")
				}
				return nil
			})
		})
	}
}

func BenchmarkOpenClose(b *testing.B) {
	for b.Loop() {
		c, err := Open(Options{})
		if err != nil {
			b.Fatal(err)
		}
		_ = c.Close()
	}
}

// A caller is back when its context ends, while the GL thread is still at work for another or for
// itself. What had not begun never runs.
func TestDoEndsWithItsContext(t *testing.T) {
	c := open(t, Options{})
	begun, end := make(chan struct{}), make(chan struct{})
	first, stop := context.WithCancel(context.Background())
	left := make(chan error, 1)
	go func() {
		left <- c.Do(first, func() error {
			close(begun)
			<-end
			return nil
		})
	}()
	<-begun
	if c.Abandoned() {
		t.Error("a caller that waits has gone")
	}
	for range 3 { // more than the way to the GL thread holds
		ctx, cancel := context.WithTimeout(context.Background(), time.Millisecond)
		if err := c.Do(ctx, func() error { t.Error("it ran"); return nil }); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("%v", err)
		}
		cancel()
	}
	stop()
	if err := <-left; !errors.Is(err, context.Canceled) || !c.Abandoned() {
		t.Errorf("%v, abandoned %v", err, c.Abandoned())
	}
	close(end)
	ran := false
	if err := c.Do(context.Background(), func() error { ran = true; return nil }); err != nil || !ran || c.Abandoned() {
		t.Errorf("%v, ran %v", err, ran)
	}
	if err := c.Do(first, func() error { t.Error("it ran"); return nil }); !errors.Is(err, context.Canceled) {
		t.Errorf("%v", err)
	}
}

// A lost context reports its loss at every call; an error says it once.
func TestALostContextIsSaidOnce(t *testing.T) {
	c := open(t, Options{})
	lost := &GLError{Where: "pass P", Code: gl.CONTEXT_LOST}
	err := c.Do(context.Background(), func() error {
		c.defect = lost // what Check finds after f
		return lost
	})
	if !errors.Is(err, ErrContextLost) || !errors.Is(err, ErrFault) || strings.Count(err.Error(), "context lost") != 1 {
		t.Errorf("%v", err)
	}
}
