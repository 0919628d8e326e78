package compute

import (
	"fmt"
	"math/bits"
	"strings"

	"github.com/stencildb/stencildb/pass"
	"github.com/stencildb/stencildb/plan"
	"github.com/stencildb/stencildb/plan/physical"
	"github.com/stencildb/stencildb/plan/predicate"
	"github.com/stencildb/stencildb/textures"
)

// grouping is what is asked of the groups of a chunk. A group's slot is a number whose digits are
// the codes of the columns that the keys read; NULL is a digit behind the codes.
type grouping struct {
	cols    []int        // that the keys read
	numbers []slotDigit  // by dimension of the star; a size of 0 where the keys read nothing of it
	size    int          // slots
	values  []groupValue // of a slot's state
	words   int          // of it
	at      map[string]int
	filters map[*predicate.Pred]*marks
	parts   []groupPart // one an aggregate
	in      memory
	place   []int // by piece: where its slots lie in the result
}

// slotDigit is a digit of slots: what it is multiplied by, and how many values it has.
type slotDigit struct{ factor, size int }

func newGrouping() *grouping {
	return &grouping{at: map[string]int{}, filters: map[*predicate.Pred]*marks{}}
}

// groupValue is a part of a state, to which each record has a value.
type groupValue struct {
	how   valueKind
	words []string // of the records' values, low first: GLSL, of four records
	at    int      // its first word in a state
	size  int      // its words there
	bits  int      // of a record's value
	kept  int      // in that of a thread
}

type valueKind uint8

const (
	raised valueKind = iota // the largest
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
	records  = 1
)

// group queues the aggregation of the selected records by the query's keys.
func (x *chunk) group() error {
	if x.tree.op == predicate.False || x.Rows == 0 {
		return nil
	}
	g := newGrouping()
	w := newWriter(x)
	t := &groupText{writer: w, grouping: g, read: map[string]bool{}}
	if err := t.write(); err != nil {
		return err
	}
	tree := x.tree
	if tree.op != predicate.True {
		var err error
		if tree, err = x.mark(tree); err != nil {
			return err
		}
	}
	selection := "uvec4(0xffffffffu)"
	if tree.op != predicate.True {
		selection = w.marks(tree.leaf.marks)
	}
	c := &code{name: "groups.comp", files: []string{"units.glsl", "codes.glsl"}, after: []string{"groups.comp"}, slots: w.slots, steps: 32 * 5}
	defines := append(x.accumulate(g, c), fmt.Sprintf("WORDS %du", g.words), "SELECTION "+selection)
	c.defines = c.device.defines(defines...)
	if c.regional {
		c.defines = x.defines(c.device, defines...)
	}
	c.text = t.text()
	c.each = c.text
	if n := len(c.slots) + 1; n > c.device.maxBlocks() {
		return &plan.Declined{Why: fmt.Sprintf("the groups read %d storage blocks, the device has %d in a compute program", n, c.device.maxBlocks())}
	}
	op := x.groupOp(g)
	op.In = g.in
	list := w.kernels(c, op)
	for _, k := range list {
		g.place = append(g.place, x.alloc(g.size*g.words))
		op.At = g.place[len(g.place)-1]
		k.op, k.own[0] = op, int32(op.At)
	}
	if words := x.compiler.words; 4*int64(words) > x.device.MaxBlock && x.device.MaxBlock > 0 || words > mostGroupWords && x.q.Bound == nil {
		return tooManyWords(words)
	}
	x.grouping = g
	x.stage(list...)
	return nil
}

// groupOp says what the aggregation of the selected records by g does.
func (x *chunk) groupOp(g *grouping) Group {
	op := Group{Slots: g.size, Words: g.words}
	for _, p := range x.partners() {
		op.Star = append(op.Star, p.Dimension)
	}
	for _, col := range g.cols {
		op.Keys = append(op.Keys, x.attribute(col))
	}
	for _, a := range x.q.Groups.Aggs {
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
	inRuns                    // nowhere: the records of a group follow one another
)

// accumulate lays the slots of a thread or a work group out where they fit, and says so.
func (x *chunk) accumulate(g *grouping, c *code) []string {
	d := x.device.forGroups()
	c.device, c.perUnit = d, groupGroups
	if len(x.q.Star) > 0 {
		c.perUnit, c.regional = starGroups, x.regional
		defines := []string{fmt.Sprintf("QUADS %d", d.quads())}
		return append(defines, x.inGroups(g, d)...)
	}
	if g.size == 1 {
		g.in = inRegisters
		return append(x.inGroups(g, d), "ONE")
	}
	own := x.device
	if !own.Software {
		own.local = ownLocal
	}
	words := g.size * g.keep(x.device)
	bytes := 4 * words * own.localSize()
	if bytes > own.ownMemory() {
		g.keepAll()
		return x.inGroups(g, d)
	}
	g.in = inThreads
	c.device, c.mostUnits, c.perUnit = own, ownUnits, min(2048/ownLocal, max(groupGroups, 4*own.Shared/bytes))
	return []string{fmt.Sprintf("KEPT %du", words/g.size), fmt.Sprintf("OWN_WORDS %d", words)}
}

// inGroups lays out slots of work groups, where they fit.
func (x *chunk) inGroups(g *grouping, d Profile) []string {
	room := (g.size + 63) / 64 * 64
	if 4*room*g.words > d.Shared-16*d.localSize() { // codes.glsl has a vector a thread
		return nil
	}
	if g.in == inGlobal {
		g.in = inShared
	}
	return []string{fmt.Sprintf("SLOTS %du", room)}
}

// What programs have that keep the slots of each thread in shared memory: so many threads a work group, each of
// which takes no more units of a piece than ownUnits, and so fewer than 2^ownBits records.
const (
	ownLocal = 128
	ownUnits = 28
	ownBits  = 12
)

// keptBits is how wide the number of records is that the threads of a device add up in one word: those of a work group on
// hardware, one in software.
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
	return d.Shared - 16*d.localSize()
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
	return 32 * textures.UnitsPerGroup / d.localSize()
}

// forGroups is the device with the work groups of programs that aggregate by group.
func (d Profile) forGroups() Profile {
	if !d.Software {
		d.local = scanLocal
	}
	return d
}

// value is the place of a value among those of a state; several aggregates may share it. bits is how wide it is, or
// with rows, how many records there are, how wide their sum.
func (g *grouping) value(how valueKind, bits, rowBits int, words ...string) int {
	name := fmt.Sprint(how, words)
	i, ok := g.at[name]
	if !ok {
		i = len(g.values)
		g.at[name] = i
		v := groupValue{how: how, words: words, at: g.words, size: 1, bits: bits}
		if how == added {
			v.size = max(1, (bits+rowBits+31)/32)
		}
		v.kept = v.size
		g.values, g.words = append(g.values, v), g.words+v.size
	}
	return i
}

// keep is how many words a thread needs to keep of a state.
func (g *grouping) keep(d Profile) (words int) {
	for i := range g.values {
		if v := &g.values[i]; v.how == added {
			v.kept = min(v.size, (v.bits+d.keptBits()+31)/32)
		}
		words += g.values[i].kept
	}
	return words
}

// keepAll has threads keep whole states.
func (g *grouping) keepAll() {
	for i := range g.values {
		g.values[i].kept = g.values[i].size
	}
}

// Group aggregates the selected records by the codes of columns.
type Group struct {
	Keys  []pass.Attribute
	Aggs  []string
	Slots int
	In    memory
	At    int // the word of the result where the slots begin
	Words int // of a slot; the second is the number of its records
	Star  []*physical.Dimension
}

// String implements pass.Op.
func (g Group) String() string {
	var keys []string
	for _, k := range g.Keys {
		keys = append(keys, k.Name)
	}
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
		if words[g.At+slot*g.Words+records] > 0 {
			n++
		}
	}
	return n
}

// Counts implements pass.Op.
func (g Group) Counts() string {
	in := [...]string{inGlobal: "in global memory", inShared: "in shared memory first", inThreads: "in a thread's own slots first", inRegisters: "in registers first", inRuns: "where the sorted records are neighbours"}[g.In]
	text := fmt.Sprintf("for each of %d slots its first record, how many they are, and what the aggregates need, %s", g.Slots, in)
	for i, d := range g.Star {
		text += [...]string{"; of the records that have partners: ", ", then "}[min(i, 1)] + d.On
	}
	return text
}
