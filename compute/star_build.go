package compute

import (
	"fmt"
	"math/bits"
	"slices"
	"sort"

	"github.com/stencildb/stencildb/expr"
	"github.com/stencildb/stencildb/pass"
	"github.com/stencildb/stencildb/plan"
	"github.com/stencildb/stencildb/plan/physical"
	"github.com/stencildb/stencildb/plan/predicate"
	"github.com/stencildb/stencildb/primitives"
	"github.com/stencildb/stencildb/textures"
)

// built is what a device has made of a [physical.Build]: the bitmap of the keys and, where something tells rows apart, a digit by key. The digit is
// one more than the slot of the row that has the key, and 0 where none has.
type built struct {
	bits   *textures.Scratch
	digits *textures.Scratch // nil where nothing tells rows apart
	bytes  int               // of a digit
	anti   bool

	// ranks number the slots that there are: a pair of words for 32 slots, which of them there are, and how many there are before. The builds of
	// a query share them: those of this one are n pairs from first on. Nil where slots are numbers.
	ranks    *textures.Scratch
	first, n int
}

// slot is the one of a number.
func (b *built) slot(number uint32) uint32 {
	if b.ranks == nil {
		return number
	}
	pairs := b.ranks.Init[2*b.first:]
	at := sort.Search(b.n, func(i int) bool { return pairs[2*i+1] > number }) - 1
	seen := pairs[2*at]
	for range number - pairs[2*at+1] {
		seen &= seen - 1
	}
	return uint32(32*at + bits.TrailingZeros32(seen))
}

// pendingBuild is a build whose passes have run, and what is to be read of it.
type pendingBuild struct {
	of     *physical.Dimension
	done   *physical.Dimension
	at     int // of the counts in the result
	slots  int
	result textures.Block
	words  int
	child  bool // another build probes it: its slots are its numbers
}

// The words of a build's result: how many rows have found a place, how many keys several have, and the slots, a bit each.
const (
	buildFound = iota
	buildRepeated
	buildSeen
)

// withBuilds is the query whose dimensions are built. Their passes run one after the other, and then all is read, so that the device is waited
// for once. The slots that there are become numbers: groups have no others.
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
	ranks := &textures.Scratch{}
	for _, p := range pending {
		if err := p.finish(run, ranks); err != nil {
			return nil, err
		}
	}
	for len(ranks.Init)%4 != 0 {
		ranks.Init = append(ranks.Init, 0)
	}
	ranks.Words = len(ranks.Init)
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
	on := &built{bits: &textures.Scratch{Words: (b.Places + 127) / 128 * 4}, bytes: b.DigitBytes(), anti: b.Anti}
	if on.bytes > 0 {
		on.digits = &textures.Scratch{Words: (b.Places*on.bytes + 15) / 16 * 4}
		if n := 4 * int64(on.digits.Words); n > d.MaxBlock && d.MaxBlock > 0 {
			return &plan.Declined{Why: fmt.Sprintf("what is looked up of %s takes %d bytes, a storage block of the device has at most %d", p.of.Name, n, d.MaxBlock)}
		}
	}
	for _, s := range []*textures.Scratch{on.bits, on.digits} {
		if err := zero(run, d, s); err != nil {
			return err
		}
	}
	done := *p.of
	done.Built, done.Size = on, p.slots
	p.done = &done
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

// zero has working memory begin with zeros, where it is some. Much of it is written by a pass: what GL clears makes an H200 forget how addresses are
// translated.
func zero(run pass.Runner, d Profile, s *textures.Scratch) error {
	if s == nil {
		return nil
	}
	if s.Zero = d.Software || s.Words <= smallZero; s.Zero {
		return nil
	}
	return primitives.Map(run, d.Primitives, primitives.Expr("0u"), primitives.Of(s, s.Words))
}

// smallZero is up to how many words GL writes zeros without such a clear: 32 KiB (package textures, scope.go).
const smallZero = 8 << 10

// build queues the pass that fills a build with the records of the chunk that are selected and have partners.
func (x *ChunkWork) build(p *pendingBuild, on *built) error {
	b := p.of.Build
	w := NewWriter(x)
	t := &groupText{Writer: w, Grouping: NewGrouping(), read: map[string]bool{}}
	t.Arg(p.at, b.Places, 0)
	if err := t.lookups(); err != nil {
		return err
	}
	if len(x.Q.Groups.Keys) > 0 {
		if err := t.ownKeys(); err != nil {
			return err
		}
	}
	if t.starKeys(); b.ByRow {
		t.body.WriteString("    slot = uint(arg(OWN + 2)) + quad * 4u + uvec4(0u, 1u, 2u, 3u);\n")
	}
	code := t.codes(b.Key)
	if code == zeros {
		code = "uvec4(0u)"
	}
	fmt.Fprintf(&t.body, "    uvec4 place = %s + uint(arg(%d));\n", code, t.Arg(int(uint32(x.Segment(b.Key).Base-p.of.Base))))
	if valid := t.valid([]int{b.Key}, nil); valid != "" {
		fmt.Fprintf(&t.body, "    taken &= %s;\n", valid)
	}
	tree, selection := x.Tree, "uvec4(0xffffffffu)"
	if tree.Op != predicate.True {
		var err error
		if tree, err = x.Mark(tree); err != nil {
			return err
		}
		selection = w.marks(tree.Leaf.Marks)
	}
	defines := []string{"SELECTION " + selection, fmt.Sprintf("QUADS %d", x.Device.forGroups().quads()), "KEYS " + w.Block(Source{scratch: on.bits}, "uint", "")}
	if on.digits != nil {
		defines = append(defines, fmt.Sprintf("BYTES %d", on.bytes), "DIGITS "+w.Block(Source{scratch: on.digits}, "uint", ""))
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
	list := w.Kernels(c, Build{Result: NoResult, Of: p.of})
	for i, k := range list {
		k.own[2] = int32(x.Pieces[i].From)
	}
	x.Stage(list...)
	return nil
}

// finish reads what a build has found, and numbers its slots: the ranks go to those of the query.
func (p *pendingBuild) finish(run pass.Runner, ranks *textures.Scratch) error {
	b, on := p.of.Build, p.done.Built.(*built)
	words := make([]uint32, max(p.words, p.at+buildSeen+(p.slots+31)/32))
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
	n, all := uint32(0), words[buildSeen:][:(p.slots+31)/32]
	on.ranks, on.first, on.n = ranks, len(ranks.Init)/2, len(all)
	ranks.Init = slices.Grow(ranks.Init, 2*len(all)+4)
	for _, seen := range all {
		ranks.Init = append(ranks.Init, seen, n)
		n += uint32(bits.OnesCount32(seen))
	}
	p.done.Size = max(1, int(n))
	return nil
}

// Build fills the build side of a join.
type Build struct {
	Result
	Of *physical.Dimension
}

// String implements pass.Op.
func (b Build) String() string {
	kind := "bitmap"
	if b.Of.Build.DigitBytes() > 0 {
		kind = "array"
	}
	return fmt.Sprintf("Build(%s: %s of %d)", b.Of.Name, kind, b.Of.Build.Places)
}

// Counts implements pass.Op.
func (b Build) Counts() string {
	text := "the rows that meet the condition, by their key: " + b.Of.On
	switch slots := b.Of.Build.Slots(); {
	case b.Of.Build.ByRow:
		text += "; each has its own slot"
	case slots > 1:
		text += fmt.Sprintf("; which of %d combinations of codes they have", slots)
	}
	return text
}
