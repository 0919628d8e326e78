package wisconsin

import (
	"context"
	"fmt"
	"time"

	"github.com/stencildb/stencildb/papers/lab"
	"github.com/stencildb/stencildb/papers/scan"
	"github.com/stencildb/stencildb/pass"
	"github.com/stencildb/stencildb/primitives"
	"github.com/stencildb/stencildb/shaders"
	"github.com/stencildb/stencildb/textures"
)

// GPU is a device as the queries use it.
type GPU struct {
	*lab.Device
	// Local is the local size of the queries' own kernels: 1 as in appendix B and section 4.4, or 256.
	Local int
	// Clock, when set, times the sections of a query.
	Clock *Clock
}

// Input is a table for a query: in host memory, and then it is copied in every run, or resident.
type Input struct {
	*Table
	Resident primitives.Vector
}

// Clock takes the times of the sections of a query, of one level: 0 for the query's own, 1 for those of its scan.
type Clock struct {
	Level    int
	Sections []lab.Section

	level int
}

// part runs a section of a query. With a clock the device is idle before and after it.
func (g *GPU) part(name string, f func() error) error {
	c := g.Clock
	if c == nil {
		return f()
	}
	level := c.level
	c.level++
	defer func() { c.level = level }()
	if level != c.Level {
		return f()
	}
	g.Context.Finish()
	start := time.Now()
	err := f()
	g.Context.Finish()
	c.Sections = append(c.Sections, lab.Section{What: name, Name: name, Took: time.Since(start)})
	return err
}

// The sections of the text's tables.
const (
	initKernel   = "init kernel"
	initMemory   = "init memory"
	execution    = "exec kernel"
	initPass     = "exec init kernel"
	scanning     = "scan"
	resultSet    = "init result set"
	resultMemory = "init result memory"
	finishPass   = "exec finish kernel"
	cleanUp      = "clean up"
	partitioning = "hash partitioning"
)

// query runs f in working memory of its own, which is given back in the last section.
func (g *GPU) query(ctx context.Context, f func() error) error {
	s := g.GL.Open()
	err := s.Do(ctx, f)
	return firstOf(err, g.part(cleanUp, func() error {
		if g.Context.Finish(); err == nil {
			s.Close()
		} else {
			s.Close()
			g.Store.Finish()
		}
		return nil
	}))
}

func firstOf(list ...error) error {
	for _, err := range list {
		if err != nil {
			return err
		}
	}
	return nil
}

// reside makes vectors resident.
func (g *GPU) reside(list ...primitives.Vector) error {
	for _, v := range list {
		if err := g.Store.Reside(v.Block); err != nil {
			return err
		}
	}
	return nil
}

// kernel is a program of a query.
type kernel struct {
	name, text string
	defines    []string
	local      int // 0: the GPU's
}

func (g *GPU) program(k kernel) shaders.Source {
	return shaders.ComposeCompute(k.name, nil, append([]string{fmt.Sprintf("LOCAL %du", g.localOf(k))}, k.defines...), commonText+k.text)
}

func (g *GPU) localOf(k kernel) int {
	if k.local > 0 {
		return k.local
	}
	return max(1, g.Local)
}

// prepare gets programs ready: those of kernels are built once, as the text's are at the start.
func (g *GPU) prepare(list ...kernel) error {
	return g.part(initKernel, func() error {
		for _, k := range list {
			if _, err := g.GL.Programs().Get(g.program(k)); err != nil {
				return err
			}
		}
		return nil
	})
}

// launch runs a kernel with n threads.
func (g *GPU) launch(k kernel, what lab.Op, n int, u []shaders.Uniform, blocks ...primitives.Vector) error {
	if n == 0 {
		return nil
	}
	local := g.localOf(k)
	return g.groups(k, what, (n+local-1)/local, append(u, shaders.Uint("n", uint32(n))), blocks...)
}

// groups runs a kernel with so many work groups.
func (g *GPU) groups(k kernel, what lab.Op, groups int, u []shaders.Uniform, blocks ...primitives.Vector) error {
	size := [2]int{groups, 1}
	if most := g.Shapes.MaxGroups; groups > most {
		size = [2]int{most, (groups + most - 1) / most}
	}
	var list []textures.Block
	for _, v := range blocks {
		list = append(list, v.Block)
	}
	_, err := g.GL.Run(&pass.Pass{Op: what, Program: g.program(k), Uniforms: u, Dispatch: &pass.Dispatch{Groups: size, Blocks: list}})
	return err
}

// scanner is that of the device.
func (g *GPU) scanner() scan.Scanner { return scan.New(g.Device, "wisconsin") }

// word reads the first word of a vector.
func (g *GPU) word(v primitives.Vector) (uint32, error) {
	words, err := v.First(1).Read(g.GL)
	if err != nil {
		return 0, err
	}
	return words[0], nil
}

// read copies a vector to host memory.
func (g *GPU) read(v primitives.Vector) ([]uint32, error) {
	if v.N == 0 {
		return nil, nil
	}
	return v.Read(g.GL)
}

// memory is the vector of a table: the resident one, or a new one for its largest part.
func (g *GPU) memory(in Input) primitives.Vector {
	if !in.Resident.None() {
		return in.Resident
	}
	return primitives.New(g.partSize(in, in.Layout.Words) * in.Layout.Words)
}

// copyTo copies the tuples to the device, unless they are resident.
func (g *GPU) copyTo(in Input, v primitives.Vector) error {
	if !in.Resident.None() || in.N == 0 {
		return nil
	}
	return g.Store.Write(v.Block, 0, in.Words)
}

// parts runs f over parts of a table that a storage block of the device holds, of at most so many words a tuple. f gets the number of
// tuples before each part. A resident table is one part.
func (g *GPU) parts(in Input, width int, f func(from int, part Input) error) error {
	size := g.partSize(in, width)
	for from := 0; from == 0 || from < in.N; from += size {
		part := in
		if size < in.N {
			n := min(size, in.N-from)
			part.Table = &Table{in.Layout, n, in.Words[from*in.Layout.Words : (from+n)*in.Layout.Words]}
		}
		if err := f(from, part); err != nil {
			return err
		}
	}
	return nil
}

func (g *GPU) partSize(in Input, width int) int {
	if !in.Resident.None() {
		return max(1, in.N)
	}
	return max(1, min(in.N, g.Shapes.MaxWords/width))
}

// fits refuses blocks that the device does not hold.
func (g *GPU) fits(what string, words int) error {
	if most := g.Shapes.MaxWords; words > most {
		return fmt.Errorf("wisconsin: %s takes %d bytes, a storage block of the device holds %d", what, 4*words, 4*most)
	}
	return nil
}
