package compute

import (
	"fmt"
	"math/bits"
	"slices"
	"strings"

	"github.com/stencildb/stencildb/pass"
	"github.com/stencildb/stencildb/plan"
	"github.com/stencildb/stencildb/plan/glsl"
	"github.com/stencildb/stencildb/plan/physical"
	"github.com/stencildb/stencildb/plan/predicate"
	"github.com/stencildb/stencildb/shaders"
	"github.com/stencildb/stencildb/textures"
)

// Grouping is what is asked of the groups of a chunk. A group's slot is a number whose digits are
// the codes of the columns that the keys read; NULL is a digit behind the codes.
type Grouping struct {
	Cols    []int        // that the keys read
	Made    []string     // keys that are computed
	numbers []slotDigit  // by dimension of the star; a size of 0 where the keys read nothing of it
	Size    int          // slots
	Values  []GroupValue // of a slot's state
	Words   int          // of it
	at      map[string]int
	filters map[*predicate.Pred]*Marks
	parts   []groupPart // one an aggregate
	In      memory
	place   []int // by piece: where its slots lie in the result
}

// slotDigit is a digit of slots: its factor and how many values it has. of is the build whose slots it numbers; nil for none.
type slotDigit struct {
	factor, size int
	of           *built
}

func NewGrouping() *Grouping {
	return &Grouping{at: map[string]int{}, filters: map[*predicate.Pred]*Marks{}}
}

// GroupValue is a part of a state, to which each record has a value.
type GroupValue struct {
	How   valueKind
	words []string // of the records' values, low first: GLSL, of four records
	At    int      // its first word in a state
	Size  int      // its words there
	bits  int      // of a record's value
	kept  int      // in that of a thread
}

type valueKind uint8

const (
	Raised valueKind = iota // the largest
	added                   // the sum
)

// groupPart is where the words of an aggregate are.
type groupPart struct {
	physical.GroupAggregate
	none  bool  // no record has a value
	n     int   // the word of their number
	terms []int // the values of the terms of the sum; -1 for the records themselves, -2 for codes that are all 0
	end   int   // the value of the end
}

const (
	ofRecords = -1
	ofZeros   = -2
)

// The first words of a state.
const (
	firstRow = 0 // of the bits of its number the complement
	Records  = 1
)

// group queues the aggregation of the selected records by the query's keys.
func (x *ChunkWork) group() error {
	if x.Tree.Op == predicate.False || x.Rows == 0 {
		return nil
	}
	g := NewGrouping()
	w := NewWriter(x)
	t := &groupText{Writer: w, Grouping: g, read: map[string]bool{}}
	if err := t.write(); err != nil {
		return err
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
	window := x.slotWindow(g)
	if window < g.Size {
		t.window()
	}
	c := &Code{Name: "groups.comp", Files: []string{"units.glsl", "codes.glsl"}, after: []string{"groups.comp", "selected_records.glsl"}, Slots: w.Slots, steps: 32 * 5}
	defines := append(x.accumulate(g, c), fmt.Sprintf("WORDS %du", g.Words), "SELECTION "+selection)
	c.Defines = c.Device.defines(defines...)
	if c.Regional {
		c.Defines = x.Defines(c.Device, defines...)
	}
	c.Text = t.text()
	c.each = c.Text
	c.Files = append(c.Files, glsl.Parts(t.functions...)...)
	for _, f := range t.functions {
		c.Uniforms = append(c.Uniforms, f.Uniforms...)
		if len(f.Parts) > 0 { // with loops of its own
			c.steps = shaders.MaxTurns
		}
		for _, list := range f.Lookups {
			c.textures = append(c.textures, textures.Buffer(list))
		}
	}
	if n := len(c.Slots) + 1; n > c.Device.BlockLimit() {
		return &plan.Declined{Why: fmt.Sprintf("the groups read %d storage blocks, the device has %d in a compute program", n, c.Device.BlockLimit())}
	}
	op := x.GroupOp(g)
	op.In = g.In
	list := w.Kernels(c, op)
	for _, k := range list {
		g.place = append(g.place, x.Alloc(g.Size*g.Words))
		op.At = g.place[len(g.place)-1]
		k.op, k.own[0] = op, int32(op.At)
	}
	list = inSlotWindows(list, g.Size, window)
	if words := x.Compiler.words; 4*int64(words) > x.Device.MaxBlock && x.Device.MaxBlock > 0 || words > mostGroupWords && x.Q.Bound == nil {
		return tooManyWords(words)
	}
	x.grouping = g
	for sweep := range slices.Chunk(list, len(g.place)) {
		x.Stage(sweep...)
	}
	return nil
}

// cachedWords is how many words of states are added up at random places as fast as records come. The second cache of an H100 holds them. There
// 67 M rows take 3 ms to 65,536 groups. To 42 million they take 82 ms in one sweep, which translates addresses, too.
const cachedWords = 1 << 23

// slotWindow is how many slots a sweep takes in. Where the states of all groups are more than the caches hold, it is as many as they
// hold, and one sweep follows the other.
func (x *ChunkWork) slotWindow(g *Grouping) int {
	if len(x.Q.Star) > 0 || x.Device.SlotWindow == 0 {
		return g.Size
	}
	return min(g.Size, max(1, x.Device.SlotWindow/g.Words))
}

// The arguments of a piece that say which slots a sweep takes in: the first, and how many.
const windowArgs = 2

// inSlotWindows is one kernel after the other for each window of so many slots, each of all pieces.
func inSlotWindows(list []*kernel, slots, window int) (out []*kernel) {
	if window >= slots {
		return list
	}
	for from := 0; from < slots; from += window {
		for _, k := range list {
			of, op := *k, k.op.(Group)
			op.From, op.Taken = from, min(window, slots-from)
			of.op, of.own, of.waits = op, slices.Clone(k.own), from > 0
			of.own[windowArgs], of.own[windowArgs+1] = int32(from), int32(op.Taken)
			out = append(out, &of)
		}
	}
	return out
}

// GroupOp says what the aggregation of the selected records by g does.
func (x *ChunkWork) GroupOp(g *Grouping) Group {
	op := Group{Slots: g.Size, Words: g.Words}
	for _, p := range x.partners() {
		op.Star = append(op.Star, p.Dimension)
	}
	for _, col := range g.Cols {
		op.Keys = append(op.Keys, x.attribute(col))
	}
	op.Made = g.Made
	for _, a := range x.Q.Groups.Aggs {
		op.Aggs = append(op.Aggs, a.String())
	}
	return op
}

// mostGroupWords is how many words the groups of all chunks may take that are all read back.
const mostGroupWords = 1 << 25

// memory is where a program adds records up by slot, before the result.
type memory uint8

const (
	inGlobal    memory = iota // nowhere: in the result itself, but for one slot that a thread has in registers
	inShared                  // in slots of a work group, likewise
	inThreads                 // in slots of each thread, in shared memory
	inRegisters               // in registers: there is one slot
	InRuns                    // nowhere: the records of a group follow one another
)

// accumulate lays the slots of a thread or a work group out where they fit, and says so.
func (x *ChunkWork) accumulate(g *Grouping, c *Code) []string {
	d := x.Device.forGroups()
	c.Device, c.PerUnit = d, groupGroups
	if len(x.Q.Star) > 0 {
		c.PerUnit, c.Regional = starGroups, x.Regional
		defines := []string{fmt.Sprintf("QUADS %d", d.quads())}
		return append(defines, x.inGroups(g, d)...)
	}
	if g.Size == 1 {
		g.In = inRegisters
		return append(x.inGroups(g, d), "ONE")
	}
	own := x.Device
	if !own.Software {
		own.Local = ownLocal
	}
	kept := g.keep(x.Device)
	words := slotRoom(g.Size) * kept
	bytes := 4 * words * own.LocalSize()
	if bytes > own.ownMemory() {
		g.keepAll()
		return x.inGroups(g, d)
	}
	g.In = inThreads
	c.Device, c.MostUnits, c.PerUnit = own, ownUnits, min(2048/ownLocal, max(groupGroups, 4*own.Shared/bytes))
	return []string{fmt.Sprintf("KEPT %du", kept), fmt.Sprintf("OWN_WORDS %d", words)}
}

// slotRoom is for how many slots a program has room that needs n: at most a fourth more. Programs for other numbers of groups are the same then, so
// that a statement with other constants need not wait until one is compiled.
func slotRoom(n int) int {
	step := max(1, 1<<bits.Len(uint(n))>>3)
	return (n + step - 1) / step * step
}

// inGroups lays out slots of work groups, where they fit.
func (x *ChunkWork) inGroups(g *Grouping, d Profile) []string {
	room := max(64, slotRoom(g.Size))
	if 4*room*g.Words > d.Shared-16*d.LocalSize() { // codes.glsl has a vector a thread
		return nil
	}
	if g.In == inGlobal {
		g.In = inShared
	}
	return []string{fmt.Sprintf("SLOTS %du", room)}
}

// For programs that keep the slots of each thread in shared memory. A work group has ownLocal threads, and
// each takes at most ownUnits units of a piece. These are fewer than 2^ownBits records.
const (
	ownLocal = 128
	ownUnits = 28
	ownBits  = 12
)

// keptBits is the width of the number of records that are added up in one word. On hardware these are the records of a
// work group's threads, in software those of one thread.
func (d Profile) keptBits() int {
	if d.Software {
		return bits.Len(threadUnits * 128)
	}
	return ownBits + 7
}

// ownMemory is how much shared memory the slots of a work group's threads may take, in bytes. What software has is
// that of any OpenGL device.
func (d Profile) ownMemory() int {
	if d.Software {
		return 16 << 10
	}
	return d.Shared - 16*d.LocalSize()
}

// Work groups a multiprocessor, for groups and for those of stars: these take more registers.
const (
	groupGroups = 4
	starGroups  = 2
)

// quads is how many times four records a thread looks up partners for together: on hardware as many as are
// its part of 64 units.
func (d Profile) quads() int {
	if d.Software {
		return 1
	}
	return 32 * textures.UnitsPerGroup / d.LocalSize()
}

// forGroups is the device with the work groups of programs that aggregate by group.
func (d Profile) forGroups() Profile {
	if !d.Software {
		d.Local = scanLocal
	}
	return d
}

// value is the place of a value among those of a state; several aggregates may share it. bits is how wide it is, or
// with rows, how many records there are, how wide their sum.
func (g *Grouping) value(how valueKind, bits, rowBits int, words ...string) int {
	name := fmt.Sprint(how, words)
	i, ok := g.at[name]
	if !ok {
		i = len(g.Values)
		g.at[name] = i
		v := GroupValue{How: how, words: words, At: g.Words, Size: 1, bits: bits}
		if how == added {
			v.Size = max(1, (bits+rowBits+31)/32)
		}
		v.kept = v.Size
		g.Values, g.Words = append(g.Values, v), g.Words+v.Size
	}
	return i
}

// keep is how many words a thread needs to keep of a state.
func (g *Grouping) keep(d Profile) (words int) {
	for i := range g.Values {
		if v := &g.Values[i]; v.How == added {
			v.kept = min(v.Size, (v.bits+d.keptBits()+31)/32)
		}
		words += g.Values[i].kept
	}
	return words
}

// keepAll has threads keep whole states.
func (g *Grouping) keepAll() {
	for i := range g.Values {
		g.Values[i].kept = g.Values[i].Size
	}
}

// Group aggregates the selected records by the codes of columns.
type Group struct {
	Keys  []pass.Attribute
	Made  []string // keys that are computed
	Aggs  []string
	Slots int
	// From and Taken say which slots a sweep takes in; Taken is 0 for all.
	From, Taken int
	In          memory
	At          int // the word of the result where the slots begin
	Words       int // of a slot; the second is the number of its records
	Star        []*physical.Dimension
}

// String implements pass.Op.
func (g Group) String() string {
	var keys []string
	for _, k := range g.Keys {
		keys = append(keys, k.Name)
	}
	keys = append(keys, g.Made...)
	text := strings.Join(g.Aggs, ", ")
	var tables []string
	for _, d := range g.Star {
		tables = append(tables, d.Name)
		if d.Digits != nil {
			keys = append(keys, fmt.Sprintf("%d keys of %s", d.Size, d.Name))
		}
	}
	if len(keys) > 0 {
		text = strings.TrimSpace(text + " BY " + strings.Join(keys, ", "))
	}
	if len(tables) > 0 {
		text += " JOIN " + strings.Join(tables, ", ")
	}
	return "Group(" + text + ")"
}

// Found is how many slots have records, given the words of the result.
func (g Group) Found(words []uint32) (n int) {
	for slot := range g.Slots {
		if words[g.At+slot*g.Words+Records] > 0 {
			n++
		}
	}
	return n
}

// Counts implements pass.Op.
func (g Group) Counts() string {
	in := [...]string{inGlobal: "in global memory", inShared: "in shared memory first", inThreads: "in a thread's own slots first", inRegisters: "in registers first", InRuns: "where the sorted records are neighbours"}[g.In]
	text := fmt.Sprintf("for each of %d slots its first record, how many they are, and what the aggregates need, %s", g.Slots, in)
	if g.Taken > 0 {
		text += fmt.Sprintf("; of the %d slots from %d on", g.Taken, g.From)
	}
	for i, d := range g.Star {
		text += [...]string{"; of the records that have partners: ", ", then "}[min(i, 1)] + d.On
	}
	return text
}
