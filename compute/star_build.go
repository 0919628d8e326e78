package compute

import (
	"fmt"
	"math/bits"
	"slices"

	"github.com/stencildb/stencildb/expr"
	"github.com/stencildb/stencildb/pass"
	"github.com/stencildb/stencildb/plan"
	"github.com/stencildb/stencildb/plan/physical"
	"github.com/stencildb/stencildb/plan/predicate"
	"github.com/stencildb/stencildb/shaders"
	"github.com/stencildb/stencildb/textures"
)

// built is what a device has made of a [physical.Build]: the bitmap of the keys. Where something tells rows apart, it has a digit of so
// many bytes for each key, 0 where no row has the key.
type built struct {
	bits   *textures.Scratch
	digits *textures.Scratch // nil where nothing tells rows apart
	bytes  int
	combos []uint32 // by digit - 1 the combination of codes; nil where digits are combinations
	anti   bool
}

// pendingBuild is a build whose passes have run, and what is to be read of it.
type pendingBuild struct {
	of     *physical.Dimension
	done   *physical.Dimension
	at     int // of the counts in the result
	slots  int
	result textures.Block
	words  int
	child  bool // another build probes it
}

// The words of a build's result: how many rows have found a place, how many keys several have, and the combinations, a bit each.
const (
	buildFound = iota
	buildRepeated
	buildSeen
)

// withBuilds is the query whose dimensions are built. They are built one after the other, and then read together, so that the device is waited for
// once. The combinations that there are become numbers, and the digits of keys these.
func withBuilds(run pass.Runner, d Profile, q *physical.Query) (*physical.Query, error) {
	if !slices.ContainsFunc(q.Star, func(l *physical.Dimension) bool { return l.Build != nil && l.Built == nil }) {
		return q, nil
	}
	d.Together = 1
	var pending []*pendingBuild
	out := *q
	star, err := startBuilds(run, d, q.Star, false, &pending)
	if err != nil {
		return nil, err
	}
	out.Star = star
	for _, p := range pending {
		if err := p.finish(run, d); err != nil {
			return nil, err
		}
	}
	return &out, nil
}

// startBuilds runs the passes of builds, those first that others probe.
func startBuilds(run pass.Runner, d Profile, star []*physical.Dimension, child bool, pending *[]*pendingBuild) (out []*physical.Dimension, err error) {
	for _, l := range star {
		if l.Build == nil {
			out = append(out, l)
			continue
		}
		p := &pendingBuild{of: l, child: child}
		if err := p.start(run, d, pending); err != nil {
			return nil, err
		}
		*pending, out = append(*pending, p), append(out, p.done)
	}
	return out, nil
}

// start runs the passes of a build.
func (p *pendingBuild) start(run pass.Runner, d Profile, pending *[]*pendingBuild) error {
	b := p.of.Build
	q := *b.Query
	var err error
	if q.Star, err = startBuilds(run, d, b.Query.Star, true, pending); err != nil {
		return err
	}
	p.slots = b.Slots()
	words := (b.Places + 127) / 128 * 4
	on := &built{bits: &textures.Scratch{Words: words, Zero: true}, bytes: 4, anti: b.Anti}
	if p.slots > 1 {
		on.digits = &textures.Scratch{Words: (b.Places + 3) / 4 * 4, Zero: true}
	}
	done := *p.of
	done.Built, done.Size = on, p.slots
	p.done = &done
	if n := 4 * int64(b.Places); on.digits != nil && n > d.MaxBlock && d.MaxBlock > 0 {
		return &plan.Declined{Why: fmt.Sprintf("what is looked up of %s takes %d bytes, a storage block of the device has at most %d", p.of.Name, n, d.MaxBlock)}
	}
	c, err := NewCompiler(d, &q)
	if err != nil {
		return err
	}
	x := c.Chunks[0]
	if err := x.open(q.Chunks[0]); err != nil {
		return err
	}
	p.at = c.Alloc(buildSeen + (p.slots+31)/32)
	if x.Tree.Op != predicate.False && x.Rows > 0 {
		if err := x.build(p, on); err != nil {
			return err
		}
	}
	c.Flush()
	p.words = c.words
	if len(c.passes) == 0 {
		return nil
	}
	p.result, err = c.Dispatch(run)
	return err
}

// build queues the pass that fills a build with the records of the chunk that are selected and have partners.
func (x *ChunkWork) build(p *pendingBuild, on *built) error {
	b := p.of.Build
	w := NewWriter(x)
	t := &groupText{Writer: w, Grouping: NewGrouping(), read: map[string]bool{}}
	t.Arg(p.at, b.Places)
	if err := t.keys(); err != nil {
		return err
	}
	code := t.codes(b.Key)
	if code == zeros {
		code = "uvec4(0u)"
	}
	fmt.Fprintf(&t.body, "    uvec4 place = %s + uint(arg(%d));\n", code, t.Arg(int(uint32(x.Segment(b.Key).Base-p.of.Base))))
	if valid := t.valid([]int{b.Key}, nil); valid != "" {
		fmt.Fprintf(&t.body, "    taken &= %s;\n", valid)
	}
	tree := x.Tree
	if tree.Op != predicate.True {
		var err error
		if tree, err = x.Mark(tree); err != nil {
			return err
		}
	}
	selection := "uvec4(0xffffffffu)"
	if tree.Op != predicate.True {
		selection = w.marks(tree.Leaf.Marks)
	}
	defines := []string{"SELECTION " + selection, fmt.Sprintf("QUADS %d", x.Device.forGroups().quads()), "KEYS " + w.Block(Source{scratch: on.bits}, "uint", "")}
	if on.digits != nil {
		defines = append(defines, "DIGITS "+w.Block(Source{scratch: on.digits}, "uint", "writeonly"))
	}
	c := &Code{Name: "star_build.comp", Files: []string{"units.glsl", "codes.glsl"}, after: []string{"star_build.comp", "selected_records.glsl"}, Slots: w.Slots,
		steps: 32 * 5, Device: x.Device.forGroups(), PerUnit: starGroups}
	c.Defines = c.Device.defines(defines...)
	c.Text = t.starText() + fmt.Sprintf(`void put(uint place, uint slot);
void fours(uint unit, uint i, uvec4 taken) {
    uint quad = quadOf(unit, i);
%s    for (int j = 0; j < 4; j++)
        if (taken[j] != 0u)
            put(place[j], slot[j]);
}
`, t.Writer.body.String()+t.body.String())
	c.each = c.Text
	if n := len(c.Slots) + 1; n > c.Device.BlockLimit() {
		return &plan.Declined{Why: fmt.Sprintf("the build of %s reads %d storage blocks, the device has %d in a compute program", p.of.Name, n, c.Device.BlockLimit())}
	}
	x.Stage(w.Kernels(c, Build{Result: NoResult, Of: p.of, Slots: p.slots, At: p.at})...)
	return nil
}

// finish reads what a build has found. Its combinations get numbers from 0 on, and its digits become one more than these.
func (p *pendingBuild) finish(run pass.Runner, d Profile) error {
	b, on := p.of.Build, p.done.Built.(*built)
	words := make([]uint32, max(p.words, buildSeen))
	if !p.result.None() {
		if err := run.Read(p.result, words); err != nil {
			return err
		}
	}
	words = words[p.at:]
	if b.Unique && words[buildRepeated] > 0 {
		return &plan.Declined{Why: fmt.Sprintf("%s has several rows of the same %s", p.of.Name, expr.Ident(b.Query.Table.Field(b.Key).Name))}
	}
	p.done.Share = float64(words[buildFound]) / float64(max(1, min(b.Places, b.Query.Table.Rows())))
	if b.Anti {
		p.done.Share = 1 - p.done.Share
	}
	if on.digits == nil || p.child {
		return nil
	}
	var ranks []uint32 // of 32 combinations each: which there are, and how many there are before these
	for at, seen := range words[buildSeen:][:(p.slots+31)/32] {
		ranks = append(ranks, seen, uint32(len(on.combos)))
		for ; seen != 0; seen &= seen - 1 {
			on.combos = append(on.combos, uint32(32*at+bits.TrailingZeros32(seen)))
		}
	}
	p.done.Size = max(1, len(on.combos))
	switch {
	case p.done.Size <= 0xff:
		on.bytes = 1
	case p.done.Size <= 0xffff:
		on.bytes = 2
	}
	per := 4 / on.bytes
	n := (b.Places + per - 1) / per
	digits := &textures.Scratch{Words: (n + 3) / 4 * 4}
	defines, groups := d.ByRow(n)
	_, err := run.Run(&pass.Pass{Op: Numbers{p.of, p.done.Size, p.slots},
		Program:  shaders.Load("star_digits.comp", append(defines, fmt.Sprintf("BYTES %d", on.bytes))...),
		Uniforms: []shaders.Uniform{shaders.Uint("n", uint32(n)), shaders.Uint("places", uint32(b.Places))},
		Dispatch: &pass.Dispatch{Groups: groups, Blocks: []textures.Block{textures.ScratchBlock(on.digits), textures.ScratchBlock(&textures.Scratch{Words: len(ranks), Init: ranks}), textures.ScratchBlock(digits)}}})
	on.digits = digits
	return err
}

// Build fills the build side of a join.
type Build struct {
	Result
	Of    *physical.Dimension
	Slots int
	At    int
}

// String implements pass.Op.
func (b Build) String() string {
	kind := "bitmap"
	if b.Slots > 1 {
		kind = "array"
	}
	return fmt.Sprintf("Build(%s: %s of %d)", b.Of.Name, kind, b.Of.Build.Places)
}

// Counts implements pass.Op.
func (b Build) Counts() string {
	text := "the rows that meet the condition, by their key: " + b.Of.On
	if b.Slots > 1 {
		text += fmt.Sprintf("; which of %d combinations of codes tells them apart", b.Slots)
	}
	return text
}

// Numbers makes digits of the combinations of a build.
type Numbers struct {
	Of    *physical.Dimension
	Size  int
	Slots int
}

// String implements pass.Op.
func (n Numbers) String() string { return fmt.Sprintf("Number(%s)", n.Of.Name) }

// Counts implements pass.Op.
func (n Numbers) Counts() string {
	return fmt.Sprintf("nothing; %d combinations that there are, of %d, become digits of slots", n.Size, n.Slots)
}
