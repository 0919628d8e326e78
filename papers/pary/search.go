package pary

import (
	_ "embed"
	"fmt"
	"math/bits"
	"slices"

	"github.com/stencildb/stencildb/papers/lab"
	"github.com/stencildb/stencildb/pass"
	"github.com/stencildb/stencildb/primitives"
	"github.com/stencildb/stencildb/shaders"
	"github.com/stencildb/stencildb/textures"
)

var (
	//go:embed keys.glsl
	keysText string
	//go:embed binary.comp
	binaryText string
	//go:embed pary.comp
	paryText string
)

// Scheme is how the threads of a p-ary search read the boundaries of their parts (section 3).
type Scheme string

// The published schemes.
const (
	Own    Scheme = "OWN"    // each both of its part: 2p reads a step
	Shared Scheme = "SHARED" // neighbours share one: p + 1
	Reused Scheme = "REUSED" // those of the range are known from the step before: p - 1
)

// Schemes lists them.
var Schemes = []Scheme{Own, Shared, Reused}

// PEs is the number of processing elements of a multiprocessor in the text: p.
const PEs = 8

// Shapes are those of the work groups.
type Shapes struct {
	Local     int // threads of a work group, about
	MaxLocal  int // the most that the device has
	MaxGroups int // in one direction
}

// ShapesOf are those for a device. The text does not say how many threads a block has.
func ShapesOf(d *lab.Device) Shapes {
	caps := d.Context.Caps()
	s := Shapes{Local: 128, MaxLocal: int(caps.Limits["MAX_COMPUTE_WORK_GROUP_INVOCATIONS"]), MaxGroups: d.Shapes.MaxGroups}
	if caps.Software {
		s.Local = 32
	}
	return s
}

// Searched is what is searched for where: the keys, four words each, the queries likewise, and a word for the place of each.
type Searched struct{ Keys, Queries, Places primitives.Vector }

// Counts are what an instrumented search counts: the steps of teams of p threads, the reads of keys, and the conflicts. A
// conflict is a read of a key that several threads of a team read in the same step. The zero Vector counts nothing.
type Counts struct {
	Words primitives.Vector // three words
	Lanes int               // of a team, of a binary search
}

// n and batch are the numbers of keys and of queries.
func (s Searched) n() int     { return s.Keys.N / 4 }
func (s Searched) batch() int { return s.Queries.N / 4 }

// check refuses sizes that do not fit.
func (s Searched) check(sh Shapes, p int) error {
	switch {
	case p < 2 || p > sh.MaxLocal:
		return fmt.Errorf("pary: p is %d: a search takes 2 to %d threads, those of a work group", p, sh.MaxLocal)
	case s.Keys.N%4 != 0 || s.Queries.N%4 != 0:
		return fmt.Errorf("pary: %d words of keys and %d of queries: a string has four", s.Keys.N, s.Queries.N)
	case s.Places.N < s.batch():
		return fmt.Errorf("pary: %d places for %d queries", s.Places.N, s.batch())
	}
	return nil
}

// Binary is the text's parallel binary search: a thread a query. Places are [Missing] where there is no such key.
func Binary(r pass.Runner, sh Shapes, s Searched, c Counts) error {
	lanes := max(2, c.Lanes)
	if err := s.check(sh, lanes); err != nil {
		return err
	}
	return dispatch{paper("binary search", s.batch()), "binary.comp", binaryText, nil, sh.multiple(lanes), lanes, s.batch(), BinarySteps(s.n())}.run(r, sh, s, c)
}

// PAry is the text's p-ary search: p threads a query.
func PAry(r pass.Runner, sh Shapes, scheme Scheme, p int, s Searched, c Counts) error {
	if err := s.check(sh, p); err != nil {
		return err
	}
	return dispatch{paper(fmt.Sprintf("p-ary search, p = %d", p), s.batch()), "pary.comp", paryText, []string{string(scheme)}, sh.multiple(p), p,
		p * s.batch(), PArySteps(s.n(), p)}.run(r, sh, s, c)
}

// Launch is an empty program over as many work groups.
func Launch(r pass.Runner, sh Shapes, p int, s Searched) error {
	return dispatch{paper("launch", s.batch()), "launch.comp", "layout(local_size_x = LOCAL) in;\nvoid main() {}\n", nil, sh.multiple(p), p, p * s.batch(), 0}.run(r, sh, s, Counts{})
}

func paper(name string, batch int) lab.Op {
	return lab.Op{Paper: "pary", Name: name, Over: fmt.Sprintf("%d queries", batch)}
}

// multiple is the size of a work group that holds whole teams.
func (sh Shapes) multiple(p int) int { return max(1, sh.Local/p) * p }

// dispatch is one search.
type dispatch struct {
	op                           lab.Op
	name, text                   string
	defines                      []string
	local, lanes, threads, steps int
}

func (d dispatch) run(r pass.Runner, sh Shapes, s Searched, c Counts) error {
	if s.batch() == 0 {
		return nil
	}
	groups := [2]int{(d.threads + d.local - 1) / d.local, 1}
	if most := sh.MaxGroups; groups[0] > most {
		groups = [2]int{most, (groups[0] + most - 1) / most}
	}
	_, err := r.Run(&pass.Pass{
		Op: d.op, Program: d.program(!c.Words.None()),
		Uniforms: []shaders.Uniform{shaders.Uint("n", uint32(s.batch())), shaders.Uint("limit", uint32(s.n())), shaders.Uint("steps", uint32(d.steps))},
		Dispatch: &pass.Dispatch{Groups: groups, Blocks: []textures.Block{s.Keys.Block, s.Queries.Block, s.Places.Block, c.Words.Block}},
	})
	return err
}

// program is its GLSL.
func (d dispatch) program(counts bool) shaders.Source {
	defines := append(slices.Clip(d.defines), fmt.Sprintf("LOCAL %d", d.local), fmt.Sprintf("LANES %du", d.lanes))
	if counts {
		defines = append(defines, "COUNT")
	}
	return shaders.ComposeCompute(d.name, nil, defines, keysText+d.text)
}

// BinarySteps is the largest number of steps of a binary search among n keys.
func BinarySteps(n int) int { return bits.Len(uint(n)) }

// PArySteps is the number of steps after which a p-ary search among n keys has one key left. A step leaves a p-th of the range, rounded
// up.
func PArySteps(n, p int) (steps int) {
	for n > 0 {
		steps++
		if n = (n + p - 1) / p; n == 1 {
			break
		}
	}
	return steps
}
