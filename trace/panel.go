package trace

import (
	"fmt"
	"maps"
	"slices"

	"github.com/stencildb/stencildb/textures"
)

// Panel is one picture of a pass.
type Panel struct {
	Title string `json:"title"`
	// Kind says what a cell's number is: of "codes" the code + 1, 0 for NULL; of
	// "depth" the window depth; of "stencil" the value; of "share" how many records of
	// the block; of "texels" the first of a texel's four words. "undefined" has none:
	// nothing has been written there yet.
	Kind  string `json:"kind"`
	Image int    `json:"image"`
	Unit  uint32 `json:"unit,omitempty"` // depths are integers divided by it
	// Column is the column whose depths they are: where it is NULL, a depth is none.
	Column string `json:"column,omitempty"`
	Note   string `json:"note,omitempty"`
	Small  bool   `json:"small,omitempty"`
	// Lo and Hi are the ends of the colour scale, Ends what they are in words.
	Lo   float64   `json:"lo"`
	Hi   float64   `json:"hi"`
	Ends [2]string `json:"ends"`
	// Stops, where there are, are the numbers (codes, or depths times Unit) that lie
	// evenly on the scale, from Lo to Hi: of a skewed column shades go by rank.
	Stops  []uint64 `json:"stops,omitempty"`
	Quads  []Quad   `json:"quads,omitempty"`  // what depths are compared with
	Legend []Level  `json:"legend,omitempty"` // of stencil values
	Total  int      `json:"total"`            // of a share: records of the chunk
	Same   bool     `json:"same,omitempty"`   // as before the pass
	// Cols, Lines and Step are those of texels, which are no picture of records.
	Cols  int `json:"cols,omitempty"`
	Lines int `json:"lines,omitempty"`
	Step  int `json:"step,omitempty"`

	bit int // of a plane
}

// Quad is a depth that the stored ones are compared with: the quad's, or a depth bound.
type Quad struct {
	At   float64 `json:"at"` // between Lo and Hi of the panel, or beyond
	Text string  `json:"text"`
}

// Level is how many records of a chunk have a stencil value.
type Level struct {
	Value   uint8 `json:"value"`
	Records int   `json:"records"`
}

// undefined stands for a picture of what holds nothing yet.
func undefined(title string) Panel {
	return Panel{Title: title, Kind: "undefined", Note: "undefined: no pass has written to it yet"}
}

// share is the picture of a set of records.
func (t *tracer) share(l *look, title string, in func(row int) bool) (Panel, error) {
	each, total := l.grid.count(in)
	i, err := t.images.add(narrow(each))
	return Panel{Title: title, Kind: "share", Image: i, Total: total}, err
}

// codes is the picture of numbers of records, NULL being 0 and others one more, on a
// scale up to top; name writes its ends.
func (t *tracer) codes(title string, cells []uint64, top uint64, name func(code uint64) string) (Panel, error) {
	var values []uint64
	for _, c := range cells {
		if c > 0 {
			values = append(values, c-1)
		}
	}
	i, err := t.images.add(narrow(cells))
	return Panel{Title: title, Kind: "codes", Image: i, Hi: float64(top), Stops: stops(values, 0, top), Ends: [2]string{name(0), name(top)}}, err
}

// stops spreads a scale from lo to hi by the ranks of values: each eighth of them has a
// part of it, as far as they differ.
func stops(values []uint64, lo, hi uint64) []uint64 {
	const parts = 8
	slices.Sort(values)
	list := []uint64{lo}
	for i := 1; i < parts && len(values) > 0; i++ {
		if v := values[len(values)*i/parts]; v > list[len(list)-1] && v < hi {
			list = append(list, v)
		}
	}
	if hi > lo {
		list = append(list, hi)
	}
	return list
}

// columnName names a column as the table does.
func (t *tracer) columnName(col int) string { return t.plan.Table.Field(col).Name }

// valueName writes a code of a column with its value.
func (t *tracer) valueName(chunk, col int) func(uint64) string {
	seg := t.plan.Table.Chunks[chunk].Segments[col]
	return func(code uint64) string {
		if code > seg.Max || seg.NonNull() == 0 {
			return fmt.Sprintf("code %d", code)
		}
		return fmt.Sprintf("%v (code\u00a0%d)", seg.Decode(code), code)
	}
}

func plainName(code uint64) string { return fmt.Sprint(code) }

// texture is the pictures of a texture that the pass read.
func (t *tracer) texture(l *look, ref textures.Ref) ([]Panel, error) {
	switch {
	case ref.Words != nil:
		return nil, nil
	case ref.Temp != nil:
		return t.temp(l, ref.Temp, "read")
	}
	lines, err := t.cells(l.grid, ref)
	if err != nil {
		return nil, err
	}
	var list []Panel
	channels := 1
	if ref.Packed {
		channels = len(ref.Cols)
	}
	for ch := range channels {
		col := ref.Cols[ch]
		if col < 0 {
			continue
		}
		seg := t.plan.Table.Chunks[l.Chunk].Segments[col]
		cells := make([]uint64, len(lines))
		for i, texel := range lines {
			cells[i] = codeOf(ref, texel[ch:])
		}
		what, name, top := "codes of "+t.columnName(col), t.valueName(l.Chunk, col), seg.Max
		switch {
		case ref.Form == textures.ValidBits:
			what, name, top = "validity bits of "+t.columnName(col), plainName, 1
		case ref.High:
			what, name, top = fmt.Sprintf("bits %d.. of the codes of %s", 2*textures.LimbBits, t.columnName(col)), plainName, top>>(2*textures.LimbBits)
		case ref.Form == textures.HighWords:
			what, name, top = fmt.Sprintf("bits %d.. of the codes of %s", textures.PartBits, t.columnName(col)), plainName, top>>textures.PartBits
		case ref.Form == textures.LowWords && textures.Parts(seg) == 2:
			what, name, top = fmt.Sprintf("bits 0..%d of the codes of %s", textures.PartBits-1, t.columnName(col)), plainName, 1<<textures.PartBits-1
		case ref.Form == textures.Floats && seg.Bits > 2*textures.LimbBits:
			what, name, top = fmt.Sprintf("bits 0..%d of the codes of %s", 2*textures.LimbBits-1, t.columnName(col)), plainName, 1<<(2*textures.LimbBits)-1
		}
		p, err := t.codes("texture read: "+what, cells, top, name)
		if err != nil {
			return nil, err
		}
		list = append(list, p)
	}
	return list, nil
}

// codeOf reads a picture's number from a texel.
func codeOf(ref textures.Ref, texel []uint32) uint64 {
	code := uint64(texel[0])
	switch {
	case ref.Form != textures.Floats:
		return code + 1
	case texel[0] == textures.NullLimb:
		return 0
	case !ref.Packed && len(texel) > 1:
		code |= uint64(texel[1]) << textures.LimbBits
	}
	return code + 1
}

// cells reads the texels of the cells' first records; of integer textures, which hold
// several records to a texel, the record's own word.
func (t *tracer) cells(g *grid, ref textures.Ref) ([][]uint32, error) {
	width, _, words := ref.Texels()
	records := ref.Records()
	out := make([][]uint32, len(g.cells))
	have, line := -1, []uint32(nil)
	for i, row := range g.cells {
		x, y := row%(width*records), row/(width*records)
		if y != have {
			var err error
			if line, err = t.store.ReadLine(ref, y); err != nil {
				return nil, err
			}
			have = y
		}
		switch {
		case ref.Form == textures.ValidBits:
			out[i] = []uint32{line[x/records] >> (x % records) & 1}
		case ref.Form != textures.Floats:
			out[i] = line[x : x+1]
		default:
			out[i] = line[x*words : (x+1)*words]
		}
	}
	return out, nil
}

// temp is the picture of a texture that a pass of the statement drew: a mask or a
// bitmap of records, or partial results.
func (t *tracer) temp(l *look, temp *textures.Temp, what string) ([]Panel, error) {
	all := [][]uint32{}
	for y := range temp.Height {
		line, err := t.store.ReadLine(textures.Ref{Temp: temp}, y)
		if err != nil {
			return nil, err
		}
		all = append(all, line)
	}
	if temp.Words == 4 {
		p, err := t.texels("partial results "+what, temp, all)
		return []Panel{p}, err
	}
	in, title := func(row int) bool { return all[row/l.grid.Width][row%l.grid.Width] != 0 }, "mask "+what
	if temp.Words == 1 { // package fused: 32 records a texel, four of each of eight stretches of a line
		width := textures.LineShape(l.grid.Rows).Width
		in, title = func(row int) bool {
			x, y := row%width, row/width
			return all[y][x/4%temp.Width]>>(x/4/temp.Width*4+x%4)&1 != 0
		}, "bitmap "+what
	}
	p, err := t.share(l, title, in)
	return []Panel{p}, err
}

// texels is the picture of partial results, every Step-th texel of every Step-th line.
func (t *tracer) texels(title string, temp *textures.Temp, lines [][]uint32) (Panel, error) {
	step := (max(temp.Width, temp.Height) + MaxSide - 1) / MaxSide
	p := Panel{Title: title, Kind: "texels", Step: step, Cols: (temp.Width + step - 1) / step, Lines: (temp.Height + step - 1) / step}
	var words []uint32
	top := uint32(0)
	for y := 0; y < temp.Height; y += step {
		for x := 0; x < temp.Width; x += step {
			words = append(words, lines[y][4*x:4*x+4]...)
			top = max(top, lines[y][4*x])
		}
	}
	p.Note = fmt.Sprintf("%d x %d texels of four words; the colour is the first word", temp.Width, temp.Height)
	if step > 1 {
		p.Note += fmt.Sprintf("; every %dth texel of every %dth line is shown", step, step)
	}
	p.Hi, p.Ends = float64(top), [2]string{"0", fmt.Sprint(top)}
	var err error
	p.Image, err = t.images.add(words)
	return p, err
}

// stencil is the picture of stencil values.
func (t *tracer) stencil(g *grid, title string, values []uint8) (Panel, error) {
	cells, seen := make([]uint8, len(g.cells)), map[uint8]int{}
	for i, row := range g.cells {
		cells[i] = values[row]
	}
	for _, v := range values {
		seen[v]++
	}
	p := Panel{Title: title, Kind: "stencil"}
	for _, v := range slices.Sorted(maps.Keys(seen)) {
		p.Legend = append(p.Legend, Level{v, seen[v]})
	}
	var err error
	p.Image, err = t.images.add(cells)
	return p, err
}
