package trace

import "fmt"

// Picture is a panel as numbers, for those who draw it: cells line by line, without gaps.
type Picture struct {
	Cols, Lines int
	Cells       []Cell

	grid *grid // nil where cells are no records
}

// Cell is a cell of a picture.
type Cell struct {
	Number float64 // as the panel's kind has it
	Place  float64 // on the panel's scale, or the share of the cell's records, 0 to 1
	Null   bool    // it stands for NULL
	Passes bool    // the first record passes the draw
}

// Picture returns a panel of a pass as numbers; without cells where nothing has been written yet.
func (t *Trace) Picture(p *Pass, panel Panel) Picture {
	g := t.Grids[p.Chunk]
	if panel.Kind == "undefined" {
		return Picture{Cols: g.Cols, Lines: g.Lines}
	}
	numbers := t.numbers(panel.Image)
	if panel.Kind == "texels" {
		out := Picture{Cols: panel.Cols, Lines: panel.Lines}
		for i := 0; i < len(numbers); i += 4 {
			out.Cells = append(out.Cells, Cell{Number: numbers[i], Place: panel.place(numbers[i])})
		}
		return out
	}
	out := Picture{g.Cols, g.Lines, make([]Cell, len(numbers)), g}
	isNull := t.nulls(panel.Column, p.Chunk)
	var fates []float64
	if p.Fates >= 0 && p.Passed != nil && 0 < *p.Passed && *p.Passed < uint64(g.Rows) {
		fates = t.numbers(p.Fates)
	}
	for i, v := range numbers {
		c := Cell{Number: v, Place: panel.place(v), Passes: fates != nil && fates[i] != 0}
		switch panel.Kind {
		case "share":
			c.Place = v / float64(g.size(i))
		case "codes":
			c.Place, c.Null = panel.place(v-1), v == 0
		case "depth":
			c.Null = isNull(i)
		}
		out.Cells[i] = c
	}
	return out
}

// numbers are those of an image.
func (t *Trace) numbers(image int) []float64 {
	switch of := t.Images[image].of.(type) {
	case []uint8:
		return floats(of)
	case []uint16:
		return floats(of)
	case []uint32:
		return floats(of)
	case []float32:
		return floats(of)
	case []float64:
		return of
	}
	return nil // texts
}

func floats[T uint8 | uint16 | uint32 | float32](list []T) []float64 {
	out := make([]float64, len(list))
	for i, v := range list {
		out[i] = float64(v)
	}
	return out
}

// nulls tells which cells of a chunk are NULL in a column; "" for none.
func (t *Trace) nulls(column string, chunk int) func(cell int) bool {
	for _, col := range t.Stage.Plan.Reads() {
		if t.tracer.columnName(col) == column {
			seg := t.Stage.Plan.Table.Chunks[chunk].Segments[col]
			return func(cell int) bool { return seg.IsNull(t.Grids[chunk].cells[cell]) }
		}
	}
	return func(int) bool { return false }
}

// place is where a number lies on the panel's scale.
func (p Panel) place(v float64) float64 {
	if p.Hi <= p.Lo {
		return 0
	}
	if len(p.Stops) < 2 {
		return (v - p.Lo) / (p.Hi - p.Lo)
	}
	if p.Kind == "depth" {
		v *= float64(p.Unit)
	}
	i, last := 0, len(p.Stops)-1
	for i < last-1 && float64(p.Stops[i+1]) <= v {
		i++
	}
	from, to := float64(p.Stops[i]), float64(p.Stops[i+1])
	return (float64(i) + (v-from)/(to-from)) / float64(last)
}

// Selection returns the picture of the records of a chunk that the statement selects, computed
// on the host.
func (t *Trace) Selection(chunk int) Panel {
	l := &look{Pass: &Pass{Chunk: chunk}, grid: t.Grids[chunk]}
	p := t.tracer.share(l, "selected records", t.tracer.selection(chunk).Get)
	t.Images = t.tracer.images.list
	return p
}

// Row returns the first record of the cell at a place; none where there is no record.
func (p Picture) Row(x, y int) (row int, ok bool) {
	cell := y*p.Cols + x
	if p.grid == nil || x < 0 || x >= p.Cols || y < 0 || cell >= len(p.grid.cells) {
		return 0, false
	}
	return p.grid.cells[cell], true
}

// CellOf returns the cell that a record lies in; -1 where cells are no records.
func (p Picture) CellOf(row int) int {
	if p.grid == nil {
		return -1
	}
	return p.grid.cell(row)
}

// Reduced says what a cell is of several records, "" where it is one.
func (p Picture) Reduced(kind string) string {
	if p.grid == nil || p.grid.Step == 1 {
		return ""
	}
	what := "the first of"
	if kind == "share" {
		what = "the share of"
	}
	return fmt.Sprintf("a cell: %s %d x %d records", what, p.grid.Step, p.grid.Step)
}
