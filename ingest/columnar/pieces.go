package columnar

import (
	"slices"
	"sync"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/stencildb/stencildb/table"
)

// leastPiece is the fewest rows of a piece of a row group.
const leastPiece = 1 << 12

// largeGroup is a row group of which pieces are groups of their own, since it takes much of the memory that there is.
type largeGroup struct {
	Group
	fields []table.Field
	mu     sync.Mutex
	places map[int]*place // by column
}

// piece is rows of the group as a group.
func (w *largeGroup) piece(from, rows int) Group {
	g := w.Group
	g.Of, g.from, g.Rows = w, from, rows
	g.Column = func(col int) (func(int) (arrow.Array, error), error) { return w.open(col, from, rows) }
	g.Stated = func(col int) Statistics { return w.Stated(col).within() }
	g.Bytes = func(col int) int64 { return w.Bytes(col) * int64(rows) / int64(w.Rows) }
	return g
}

// open begins to read a column of a piece. It goes on where the piece before has ended; else the rows before are passed over. What is read twice, since
// the file does not say its bounds, is kept for the second time.
func (w *largeGroup) open(col, from, rows int) (func(int) (arrow.Array, error), error) {
	w.mu.Lock()
	p := w.places[col]
	if p == nil {
		p = &place{}
		w.places[col] = p
	}
	w.mu.Unlock()
	kept := p.kept
	p.kept = nil
	if kept != nil && p.from == from && p.row == from+rows {
		return func(int) (arrow.Array, error) {
			a := kept[0]
			kept = kept[1:]
			return a, nil
		}, nil
	}
	for _, a := range kept {
		a.Release()
	}
	if p.next == nil || p.row != from {
		var err error
		if p.next, err = w.Column(col); err == nil {
			err = skip(p.next, from)
		}
		if err != nil {
			p.next = nil
			return nil, err
		}
	}
	p.row, p.from = from, from
	_, _, told := w.Stated(col).bounds()
	keep := !told && w.fields[col].Type.Kind != table.Varchar
	return func(n int) (arrow.Array, error) {
		next := p.next
		p.next = nil // of a reading that fails, or panics for want of memory, nobody goes on
		a, err := next(n)
		if err != nil {
			return nil, err
		}
		p.next = next
		if p.row += n; keep {
			a.Retain()
			p.kept = append(p.kept, a)
		}
		return a, nil
	}, nil
}

// place is where the reading of a column of a [largeGroup] stands: pieces are read in order, most of the time.
type place struct {
	next func(n int) (arrow.Array, error)
	row  int           // that comes next
	from int           // of the piece
	kept []arrow.Array // of the piece, which is read twice
}

// InPieces are row groups, those that take more than half of so many bytes in pieces.
func (all Groups) InPieces(t *table.Table, bytes int64) (list Groups) {
	for _, g := range all {
		takes := g.MemoryBytes(t.Fields, t.All())
		if takes <= bytes/2 || g.Rows <= leastPiece {
			list = append(list, g)
			continue
		}
		w := &largeGroup{Group: g, fields: t.Fields, places: map[int]*place{}}
		rows := int(max(leastPiece, bytes/16/max(1, takes/int64(g.Rows))))
		for from := 0; from < g.Rows; from += rows {
			list = append(list, w.piece(from, min(rows, g.Rows-from)))
		}
	}
	return list
}

// joined are groups of which pieces that follow each other are one, so that nobody reads two of a group at a time.
func joined(all Groups) (list Groups) {
	for _, g := range all {
		last := len(list) - 1
		switch {
		case g.Of == nil:
		case last >= 0 && list[last].Of == g.Of && list[last].from+list[last].Rows == g.from:
			list[last] = g.Of.piece(list[last].from, list[last].Rows+g.Rows)
			continue
		case slices.ContainsFunc(list, func(o Group) bool { return o.Of == g.Of }):
			g = (&largeGroup{Group: g.Of.Group, fields: g.Of.fields, places: map[int]*place{}}).piece(g.from, g.Rows)
		}
		list = append(list, g)
	}
	return list
}
