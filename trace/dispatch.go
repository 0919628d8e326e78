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

// dispatch looks at a compute pass.
func (t *tracer) dispatch(l *look) (after func() error, err error) {
	window := l.pass.Window
	before := map[*textures.Scratch]*memory{}
	for _, b := range l.pass.Dispatch.Blocks {
		if b.Scratch == nil {
			continue
		}
		m := t.memories[b.Scratch]
		if m == nil {
			m = &memory{window: window}
			m.bitmap = b.Scratch.Init == nil && !b.Scratch.Zero && b.Scratch.Words == 4*textures.Units(window.Rows)
			if b.Scratch.Zero {
				m.words = make([]uint32, b.Scratch.Words)
				copy(m.words, b.Scratch.Init)
			}
		}
		before[b.Scratch] = m
	}
	return func() error { return t.dispatched(l, before) }, nil
}

// dispatched makes the pictures of a dispatch: the columns it read, then its working
// memory.
func (t *tracer) dispatched(l *look, before map[*textures.Scratch]*memory) error {
	bitmaps := false
	for i, b := range l.pass.Dispatch.Blocks {
		if b.Chunk == nil || slices.Contains(l.pass.Dispatch.Blocks[:i], b) {
			continue
		}
		list, err := t.column(l, b)
		if err != nil {
			return err
		}
		l.Panels = append(l.Panels, list...)
	}
	for i, b := range l.pass.Dispatch.Blocks {
		m := before[b.Scratch]
		if b.Scratch == nil || m == nil {
			continue
		}
		delete(before, b.Scratch)
		now := &memory{bitmap: m.bitmap, window: m.window, words: make([]uint32, b.Scratch.Words)}
		if err := t.Read(b, now.words); err != nil {
			return err
		}
		t.memories[b.Scratch] = now
		switch {
		case m.bitmap:
			bitmaps = true
			if err := t.bitmap(l, m, now); err != nil {
				return err
			}
		case b.Scratch.Zero && i == 0:
			l.was, l.words = m.words, now.words
			l.tally()
		}
	}
	if !bitmaps && l.selects() {
		return t.hostSelection(l)
	}
	return nil
}

// counts is what the pass has added to the first word in which it counts records.
func (l *look) counts() (n uint64, ok bool) {
	op, ok := l.pass.Op.(interface{ Place() int })
	if !ok || op.Place() < 0 || op.Place() >= len(l.words) {
		return 0, false
	}
	return uint64(l.words[op.Place()] - l.was[op.Place()]), true
}

// tally tells what a pass counts that counts one thing.
func (l *look) tally() {
	switch l.pass.Op.(type) {
	case compute.Accumulate, compute.Digits:
		return
	}
	if n, ok := l.counts(); ok {
		l.Results = append(l.Results, numbers.Count(n, "record", "records")+" counted by the program")
	}
}

// bitmap makes the pictures of a bitmap before and after the pass.
func (t *tracer) bitmap(l *look, m, now *memory) error {
	same := slices.Equal(m.words, now.words)
	what := "bitmap"
	if _, ok := l.pass.Op.(compute.Decide); ok && !same {
		what = "candidates"
	}
	for i, words := range [][]uint32{m.words, now.words} {
		title := what + [2]string{" before", " after"}[i]
		switch {
		case words == nil || same && i == 1:
			continue
		case same:
			title = "bitmap read"
		}
		p, err := t.share(l, title, planeBits(words, m.window, 1, 0))
		if err != nil {
			return err
		}
		l.Panels = append(l.Panels, p)
	}
	return nil
}

// planeBits reads a plane of a block of several over a window, by row of the chunk.
func planeBits(words []uint32, w textures.Window, planes, plane int) func(row int) bool {
	return func(row int) bool {
		row -= w.From
		if row < 0 || row >= w.Rows {
			return false
		}
		group, in := row/textures.GroupRows, row%textures.GroupRows // see textures.PlaneRow
		at := textures.PlaneWord(group*textures.UnitsPerGroup+in%256/4, plane, planes) + in%4
		return words[at]>>(in/256)&1 != 0
	}
}

// column is the pictures of a block of a column.
func (t *tracer) column(l *look, b textures.Block) ([]Panel, error) {
	list, ok := t.planes[b]
	if !ok {
		var err error
		if list, err = t.readColumn(l, b); err != nil {
			return nil, err
		}
		t.planes[b] = list
	}
	if b.Content != textures.Planes {
		return list, nil
	}
	var some []Panel
	counts, decides := digits(l.pass.Op)
	for _, p := range list {
		if counts == nil || counts.Has(p.bit) || decides != nil && decides.Has(p.bit) {
			some = append(some, p)
		}
	}
	return some, nil
}

// readColumn reads a block back.
func (t *tracer) readColumn(l *look, b textures.Block) ([]Panel, error) {
	words := make([]uint32, b.Bytes()/4)
	if err := t.Read(b, words); err != nil {
		return nil, err
	}
	name := t.columnName(b.Col)
	switch b.Content {
	case textures.Validity:
		p, err := t.share(l, "validity plane read: "+name, planeBits(words, b.Window, 1, 0))
		return []Panel{p}, err
	case textures.Codes:
		p, err := t.codeBlock(l, b, words)
		return []Panel{p}, err
	}
	var list []Panel
	stored := b.Stored()
	planes := bits.OnesCount32(stored)
	for i := range planes {
		bit := textures.PartBits*b.Part + bits.TrailingZeros32(stored)
		stored &= stored - 1
		p, err := t.share(l, fmt.Sprintf("bit %d of %s", bit, name), planeBits(words, b.Window, planes, i))
		if err != nil {
			return nil, err
		}
		p.Small, p.bit = true, bit
		list = append(list, p)
	}
	slices.Reverse(list) // the highest first, as they are read
	return list, nil
}

// codeBlock is the picture of a block of codes.
func (t *tracer) codeBlock(l *look, b textures.Block, words []uint32) (Panel, error) {
	seg := b.Chunk.Segments[b.Col]
	size := textures.CodeBytes(seg)
	cells := make([]uint64, len(l.grid.cells))
	for i, row := range l.grid.cells {
		if row -= b.Window.From; row >= 0 && row < b.Window.Rows {
			per := 4 / size
			cells[i] = uint64(words[row/per]>>(8*size*(row%per))&(1<<(8*size)-1)) + 1
		}
	}
	title, name, top := "codes read: "+t.columnName(b.Col), t.valueName(l.Chunk, b.Col), seg.Max
	if textures.Parts(seg) > 1 {
		title, name = fmt.Sprintf("bits %d.. of the codes read: %s", textures.PartBits*b.Part, t.columnName(b.Col)), plainName
		if top >>= textures.PartBits * b.Part; b.Part == 0 {
			top = 1<<textures.PartBits - 1
		}
	}
	return t.codes(title, cells, top, name)
}
