package compute_test

import (
	"fmt"
	"os"
	"testing"
	"time"

	"github.com/stencildb/stencildb/glctx"
	"github.com/stencildb/stencildb/pass"
	"github.com/stencildb/stencildb/textures"
)

// stopwatch is a runner that notes when the device is done with what comes before the first large read.
type stopwatch struct {
	pass.Runner
	gl    *glctx.Context
	start time.Time
	there time.Duration // until then; 0 before
}

func (s *stopwatch) Read(b textures.Block, words []uint32) error {
	if len(words) > 1<<16 && s.there == 0 {
		s.gl.Finish()
		s.there = time.Since(s.start)
	}
	return s.Runner.Read(b, words)
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

// logPasses lists the passes of a benchmark and what each takes, where STENCILDB_BENCH_PASSES is set.
func logPasses(b *testing.B, what string, g *pass.GL, gl *glctx.Context, do func(pass.Runner) error) {
	if os.Getenv("STENCILDB_BENCH_PASSES") == "" {
		return
	}
	for range 3 { // programs are compiled, and clocks go up
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
