package textures

import (
	"fmt"
	"math/bits"
	"slices"
	"strings"

	"github.com/stencildb/stencildb/table"
)

// Content is what a [Block] holds.
type Content uint8

// The contents of a block.
const (
	// Planes are the bit planes of a column that vary (see PlaneSet).
	Planes Content = iota
	// Validity is one plane: bit set where the column is not NULL.
	Validity
	// Codes are the codes themselves, row after row, 1, 2 or 4 bytes each; a NULL's
	// is 0.
	Codes
)

func (c Content) String() string { return [...]string{"bit planes", "validity plane", "codes"}[c] }

func (c Content) kind() Kind { return Kind(c.String()) }

// The order of records in a plane. Rows are cut into groups of GroupRows; a group
// takes UnitsPerGroup units, and a unit is a uvec4 of every plane. Bit i of
// component j of unit u is row
//
//	(u/64)*8192 + i*256 + (u%64)*4 + j
//
// of the window. A thread that owns a unit and walks i reads four
// neighbouring codes at a time. Neighbouring threads read neighbouring ones. The
// planes of a run of UnitsPerRun units follow each other, 4 KiB each. Plane p of unit
// u is uvec4 (u/256)*256*P + p*256 + u%256 of a block with P planes. (In shorter runs
// a page of memory holds several planes, which a CPU does not read ahead.)
const (
	GroupRows     = 8192
	UnitsPerGroup = 64
	UnitsPerRun   = 256
	runRows       = UnitsPerRun / UnitsPerGroup * GroupRows
)

// Units returns the number of units that n rows take; the last group may be partly
// filled.
func Units(n int) int { return (n + GroupRows - 1) / GroupRows * UnitsPerGroup }

// planeBytes is the memory of that many planes of n rows, in whole runs.
func planeBytes(n, planes int) int64 {
	return 16 * int64((n+runRows-1)/runRows*UnitsPerRun) * int64(planes)
}

// PlaneWord returns where a unit's uvec4 of a plane lies in a block with that many
// planes, counted in words.
func PlaneWord(unit, plane, planes int) int {
	return 4 * (unit/UnitsPerRun*UnitsPerRun*planes + plane*UnitsPerRun + unit%UnitsPerRun)
}

// PlaneRow returns the row of a window at a bit of a unit's component.
func PlaneRow(unit, component, bit int) int {
	return unit/UnitsPerGroup*GroupRows + bit*256 + unit%UnitsPerGroup*4 + component
}

// PlaneBit returns where the bit of a row of a window lies: the inverse of [PlaneRow].
func PlaneBit(row int) (unit, component, bit int) {
	group, r := row/GroupRows, row%GroupRows
	return group*UnitsPerGroup + r%256/4, r % 4, r / 256
}

// PartBits is how many bits of a code one block holds: wider codes have two parts.
const PartBits = 32

// Window is a run of a chunk's rows whose blocks the device can bind, From a
// multiple of GroupRows.
type Window struct{ From, Rows int }

// Windows cuts n rows so that each block of a window takes at most limit bytes. Of
// planes that is so where the limit has room for a run of them.
func Windows(n int, limit int64) []Window {
	step := int(min(limit/4, 1<<32))
	whole := runRows
	if step < runRows {
		whole = GroupRows
	}
	step = max(step/whole*whole, GroupRows)
	var w []Window
	for from := 0; from < n; from += step {
		w = append(w, Window{from, min(step, n-from)})
	}
	return w
}

// Block names the content of a shader storage block. What is resident is known by the
// segment that the column has in the chunk: chunks that share a segment share its
// blocks. The zero Block is none.
type Block struct {
	Chunk   *table.Chunk
	Col     int
	Content Content
	Part    int // bits 32*Part.. of the code, for Planes and Codes
	// Plus is added to the codes, for Planes: those of NULLs, too. The sums have 64 bits.
	Plus   uint64
	Window Window
	// Scratch, when set, is working memory instead.
	Scratch *Scratch
}

func (b Block) key() key {
	k := key{content: b.Content, part: b.Part, plus: b.Plus, window: b.Window, scratch: b.Scratch}
	if b.Chunk != nil {
		k.segments[0] = b.Chunk.Segments[b.Col]
	}
	return k
}

// Scratch is working memory of a query, undefined at first except for its first
// words, which are Init; its pointer is its identity.
type Scratch struct {
	Words int
	Init  []uint32
	// Zero asks for zeros behind Init.
	Zero bool
}

// ScratchBlock names working memory.
func ScratchBlock(s *Scratch) Block { return Block{Scratch: s} }

// None reports the zero Block.
func (b Block) None() bool { return b.Chunk == nil && b.Scratch == nil }

// CodeType returns the GLSL type that holds four neighbouring codes of a Codes block
// of a segment.
func CodeType(s *table.Segment) string {
	return map[int]string{1: "uint", 2: "uvec2", 4: "uvec4"}[CodeBytes(s)]
}

// CodeDefines tells a program the type of four neighbouring codes of a Codes block, CODE,
// and what reads them, FETCH_CODE (units.glsl).
func CodeDefines(s *table.Segment) []string {
	code := CodeType(s)
	return []string{"CODE " + code, "FETCH_CODE FETCH_" + strings.ToUpper(code)}
}

// CodeBytes returns the bytes that a code takes in a Codes block of a segment.
func CodeBytes(s *table.Segment) int {
	switch {
	case s.Codes.U8 != nil:
		return 1
	case s.Codes.U16 != nil:
		return 2
	}
	return 4
}

// Parts returns how many parts the codes of a segment are held in, 1 or 2.
func Parts(s *table.Segment) int {
	if s.Codes.U64 != nil {
		return 2
	}
	return 1
}

// Bytes returns the memory of the block.
func (b Block) Bytes() int64 {
	if b.Scratch != nil {
		return 4 * int64(b.Scratch.Words)
	}
	switch b.Content {
	case Planes:
		return planeBytes(b.Window.Rows, bits.OnesCount32(b.Stored()))
	case Validity:
		return planeBytes(b.Window.Rows, 1)
	}
	return 128 * int64(Units(b.Window.Rows)) * int64(CodeBytes(b.Chunk.Segments[b.Col]))
}

// Stored returns which of the part's 32 planes a Planes block holds, lowest first. They are those
// that vary, or, of sums, all up to the highest bit.
func (b Block) Stored() uint32 {
	seg := b.Chunk.Segments[b.Col]
	planes := seg.Varying()
	if b.Plus != 0 {
		planes = 1<<bits.Len64(seg.Max+b.Plus) - 1
	}
	return uint32(planes >> (PartBits * b.Part))
}

func (b Block) describe(t *table.Table) string {
	if b.Scratch != nil {
		return "working memory"
	}
	if t != nil && !slices.Contains(t.Chunks, b.Chunk) {
		return fmt.Sprintf("%d numbers", b.Chunk.Rows) // of a dimension, or of texts
	}
	return fmt.Sprintf("the %v of %s of a chunk of %d rows", b.Content, describeColumns(t, b.Col), b.Chunk.Rows)
}
