package gltest

import (
	"context"
	"errors"
	"fmt"
	"os"
	"runtime/debug"
	"slices"
	"testing"
	"time"

	"github.com/stencildb/stencildb/glctx"
	"github.com/stencildb/stencildb/internal/benchsize"
	"github.com/stencildb/stencildb/pass"
	"github.com/stencildb/stencildb/textures"
)

// EachSize runs a benchmark for each number of rows that is asked for.
func EachSize(b *testing.B, benchmark func(b *testing.B, rows int)) {
	for _, rows := range benchsize.List(b, 1<<20, 1<<24) {
		b.Run(fmt.Sprint(rows), func(b *testing.B) { benchmark(b, rows) })
	}
}

// Timed is something that a benchmark times.
type Timed struct {
	Name string
	Do   func() error
	Took []time.Duration
}

// InTurns runs each of a list twice, which makes what it reads resident. Then it runs all of them in turns, so
// many rounds each time. It reports the median wall times, around a finish before each run.
func InTurns(b *testing.B, gl *glctx.Context, rounds int, list []*Timed) {
	run := func(x *Timed) time.Duration {
		gl.Finish()
		start := time.Now()
		if err := x.Do(); err != nil {
			b.Fatal(err)
		}
		return time.Since(start)
	}
	for _, x := range list {
		run(x)
		run(x)
	}
	for b.Loop() {
		for range rounds {
			for _, x := range list {
				x.Took = append(x.Took, run(x))
			}
		}
	}
	b.ReportMetric(0, "ns/op")
	for _, x := range list {
		slices.Sort(x.Took)
		b.ReportMetric(float64(x.Took[len(x.Took)/2].Nanoseconds())/1e6, x.Name+"-ms")
	}
}

// untilRead is a runner that waits for the device at the first large read, and reads nothing then.
type untilRead struct {
	pass.Runner
	gl *glctx.Context
}

var errThere = errors.New("the results are on the device")

func (u untilRead) Read(b textures.Block, words []uint32) error {
	if len(words) > 1<<16 {
		u.gl.Finish()
		return errThere
	}
	return u.Runner.Read(b, words)
}

// untilThere runs do until its results are on the device.
func untilThere(g *pass.GL, gl *glctx.Context, do func(pass.Runner) error) error {
	err := g.Query(context.Background(), func() error { // whose error has its working memory settle
		if err := do(untilRead{g, gl}); err != nil {
			return err
		}
		gl.Finish()
		return errThere
	})
	if errors.Is(err, errThere) {
		return nil
	}
	return err
}

// LeftThere reports the median of what do takes until its results are on the device, where they are left. First it keeps a GPU
// busy for a second: the clocks of one at rest are down, and take that long to come up.
func LeftThere(b *testing.B, name string, g *pass.GL, gl *glctx.Context, do func(pass.Runner) error) {
	defer debug.SetGCPercent(debug.SetGCPercent(-1)) // the results' memory on the host is made and not written to; used again, it would be cleared
	var took []time.Duration
	for begun := time.Now(); len(took) < 9 || !gl.Caps().Software && time.Since(begun) < time.Second; {
		gl.Finish()
		start := time.Now()
		if err := untilThere(g, gl, do); err != nil {
			b.Fatal(err)
		}
		took = append(took, time.Since(start))
	}
	took = took[len(took)-9:]
	slices.Sort(took)
	b.ReportMetric(float64(took[len(took)/2].Nanoseconds())/1e6, name+"-there-ms")
}

// passTimes is a runner that waits for each pass and notes what it took, with what a wait takes.
type passTimes struct {
	pass.Runner
	gl   *glctx.Context
	list []string
}

func (p *passTimes) Run(x *pass.Pass) (pass.Count, error) {
	p.gl.Finish()
	start := time.Now()
	n, err := p.Runner.Run(x)
	p.gl.Finish()
	p.list = append(p.list, fmt.Sprintf("%8.3f ms  %.140v", 1e3*time.Since(start).Seconds(), x.Op))
	return n, err
}

func (p *passTimes) Read(b textures.Block, words []uint32) error {
	start := time.Now()
	err := p.Runner.Read(b, words)
	p.list = append(p.list, fmt.Sprintf("%8.3f ms  read %d words", 1e3*time.Since(start).Seconds(), len(words)))
	return err
}

// LogPasses lists the passes of a benchmark and what each takes, where STENCILDB_BENCH_PASSES is set.
func LogPasses(b *testing.B, what string, g *pass.GL, gl *glctx.Context, do func(pass.Runner) error) {
	if os.Getenv("STENCILDB_BENCH_PASSES") == "" {
		return
	}
	for begun := time.Now(); !gl.Caps().Software && time.Since(begun) < time.Second; { // clocks go up
		if err := untilThere(g, gl, do); err != nil {
			b.Fatal(err)
		}
	}
	for range 2 {
		p := &passTimes{Runner: g, gl: gl}
		err := do(p)
		g.End()
		if err != nil {
			b.Fatal(err)
		}
		if what == "" {
			continue
		}
		fmt.Println(what)
		for _, line := range p.list {
			fmt.Println(line)
		}
	}
}
