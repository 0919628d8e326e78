package trace

import (
	"fmt"
	"math/bits"
	"slices"

	"github.com/stencildb/stencildb/compute"
	"github.com/stencildb/stencildb/internal/numbers"
	"github.com/stencildb/stencildb/textures"
)

// memory is working memory of compute passes as the pass before left it.
type memory struct {
	bitmap bool // a bit a record of a window of the chunk
	window textures.Window
	words  []uint32 // nil: undefined
}

// dispatch looks at a compute pass. Of one that goes over several chunks the pictures are of
// the first, without its working memory.
func (t *tracer) dispatch(l *look) (after func()) {
	window := l.pass.Window
	one := window.Rows <= t.plan.Table.Chunks[l.Chunk].Rows
	before := map[*textures.Scratch]*memory{}
	for _, b := range l.pass.Dispatch.Blocks {
		if b.Scratch == nil {
			continue
		}
		m := t.memories[b.Scratch]
		if m == nil {
			m = &memory{window: window}
			m.bitmap = one && b.Scratch.Init == nil && !b.Scratch.Zero && b.Scratch.Words == 4*textures.Units(window.Rows)
			if b.Scratch.Zero {
				m.words = make([]uint32, b.Scratch.Words)
				copy(m.words, b.Scratch.Init)
			}
		}
		before[b.Scratch] = m
	}
	return func() { t.dispatched(l, before) }
}

// dispatched makes the pictures of a dispatch: the columns it read, then its working
// memory.
func (t *tracer) dispatched(l *look, before map[*textures.Scratch]*memory) {
	read := slices.Concat(l.pass.Dispatch.Blocks, l.pass.Dispatch.Addressed)
	for i, b := range read {
		if b.Chunk == t.plan.Table.Chunks[l.Chunk] && !slices.Contains(read[:i], b) {
			l.show(t.column(l, b)...)
		}
	}
	bitmaps := false
	for i, b := range l.pass.Dispatch.Blocks {
		m := before[b.Scratch]
		if b.Scratch == nil || m == nil {
			continue
		}
		delete(before, b.Scratch)
		now := &memory{bitmap: m.bitmap, window: m.window, words: t.block(b, b.Scratch.Words)}
		t.memories[b.Scratch] = now
		switch {
		case m.bitmap:
			bitmaps = true
			t.bitmap(l, m, now)
		case b.Scratch.Zero && i == 0:
			l.was, l.words = m.words, now.words
			l.tally()
		}
	}
	if !bitmaps {
		t.hostSelection(l)
	}
}

// block reads words of a storage block back.
func (t *tracer) block(b textures.Block, n int) []uint32 {
	words := make([]uint32, n)
	t.fail(t.Read(b, words))
	return words
}

// tally tells what a pass counts that counts one thing: what it has added to the first
// word in which it counts records.
func (l *look) tally() {
	switch op := l.pass.Op.(type) {
	case compute.Group:
		l.Results = append(l.Results, fmt.Sprintf("%s of %d slots with records", numbers.Count(uint64(op.Found(l.words)), "group", "groups"), op.Slots))
		return
	case compute.Accumulate, compute.Products, compute.Digits:
		return
	}
	if op, ok := l.pass.Op.(interface{ Place() int }); ok && op.Place() >= 0 && op.Place() < len(l.words) {
		n := uint64(l.words[op.Place()] - l.was[op.Place()])
		l.Results = append(l.Results, numbers.Count(n, "record", "records")+" counted by the program")
	}
}

// bitmap makes the pictures of a bitmap before and after the pass.
func (t *tracer) bitmap(l *look, m, now *memory) {
	same := slices.Equal(m.words, now.words)
	t.holds(l, planeBits(now.words, m.window, 1, 0))
	what := "bitmap"
	if _, ok := l.pass.Op.(compute.Decide); ok && !same {
		what = "candidates"
	}
	if same {
		l.show(t.share(l, "bitmap read", planeBits(now.words, m.window, 1, 0)))
		return
	}
	if m.words != nil {
		l.show(t.share(l, what+" before", planeBits(m.words, m.window, 1, 0)))
	}
	l.show(t.share(l, what+" after", planeBits(now.words, m.window, 1, 0)))
}

// planeBits reads a plane of a block of several over a window, by row of the chunk.
func planeBits(words []uint32, w textures.Window, planes, plane int) func(row int) bool {
	return func(row int) bool {
		row -= w.From
		if row < 0 || row >= w.Rows {
			return false
		}
		unit, component, bit := textures.PlaneBit(row)
		return words[textures.PlaneWord(unit, plane, planes)+component]>>bit&1 != 0
	}
}

// column is the pictures of a block of a column: of planes those that the pass reads.
func (t *tracer) column(l *look, b textures.Block) []Panel {
	list, ok := t.planes[b]
	if !ok {
		list = t.readColumn(l, b)
		t.planes[b] = list
	}
	counts, decides := searchBits(l.pass.Op)
	if b.Content != textures.Planes || counts == nil {
		return list
	}
	return slices.DeleteFunc(slices.Clone(list), func(p Panel) bool {
		return !counts.Has(p.Bit) && (decides == nil || !decides.Has(p.Bit))
	})
}

func (t *tracer) readColumn(l *look, b textures.Block) (list []Panel) {
	words, name := t.block(b, int(b.Bytes()/4)), t.columnName(b.Col)
	switch b.Content {
	case textures.Validity:
		return []Panel{t.share(l, "validity plane read: "+name, planeBits(words, b.Window, 1, 0))}
	case textures.Codes:
		return []Panel{t.codeBlock(l, b, words)}
	}
	stored := b.Stored()
	planes := bits.OnesCount32(stored)
	for i := range planes {
		bit := textures.PartBits*b.Part + bits.TrailingZeros32(stored)
		stored &= stored - 1
		p := t.share(l, fmt.Sprintf("bit %d of %s", bit, name), planeBits(words, b.Window, planes, i))
		p.Plane, p.Bit = name, bit
		list = append(list, p)
	}
	slices.Reverse(list) // the highest first, as they are read
	return list
}

func (t *tracer) codeBlock(l *look, b textures.Block, words []uint32) Panel {
	size := textures.CodeBytes(b.Chunk.Segments[b.Col])
	cells := make([]uint64, len(l.grid.cells))
	for i, row := range l.grid.cells {
		if row -= b.Window.From; row >= 0 && row < b.Window.Rows {
			per := 4 / size
			cells[i] = uint64(words[row/per]>>(8*size*(row%per))&(1<<(8*size)-1)) + 1
		}
	}
	return t.codesOf(l, "block read: ", b.Col, textures.PartBits*b.Part, textures.PartBits, cells)
}
