package trace

import (
	"fmt"
	"maps"
	"math"
	"slices"

	"github.com/stencildb/stencildb/internal/xslices"
	"github.com/stencildb/stencildb/textures"
)

// Panel is one picture of a pass.
type Panel struct {
	Title string `json:"title"`
	// Kind says what a cell's number is. "codes" is the code + 1, 0 for NULL; "depth" the window depth;
	// "stencil" the value. "share" is how many records of the block, and "texels" the first of a texel's four
	// words. "undefined" has none: nothing has been written there yet.
	Kind  string `json:"kind"`
	Image int    `json:"image"`
	Unit  uint32 `json:"unit,omitempty"` // depths are integers divided by it
	// Column is the column whose depths they are: where it is NULL, a depth is none.
	Column string `json:"column,omitempty"`
	Note   string `json:"note,omitempty"`
	// Lo and Hi are the ends of the colour scale, Ends what they are in words.
	Lo   float64   `json:"lo"`
	Hi   float64   `json:"hi"`
	Ends [2]string `json:"ends"`
	// Stops, where there are any, are the numbers (codes, or depths times Unit) that lie evenly on the scale,
	// from Lo to Hi. So shades of a skewed column go by rank.
	Stops  []uint64 `json:"stops,omitempty"`
	Quads  []Quad   `json:"quads,omitempty"`  // what depths are compared with
	Legend []Level  `json:"legend,omitempty"` // of stencil values
	Total  int      `json:"total"`            // of a share: records of the chunk
	Fate   string   `json:"fate,omitempty"`   // of a share: "dropped", or "" for records that pass or are selected
	// Of is the buffer, depth or stencil, and When it is seen, before or after the pass;
	// both are "" of other pictures.
	Of     string `json:"of,omitempty"`
	When   string `json:"when,omitempty"`
	Same   bool   `json:"same,omitempty"`   // as before the pass
	Copied bool   `json:"copied,omitempty"` // what the pass before has copied to depth
	// Cols, Lines and Step are those of texels, which are no picture of records.
	Cols  int `json:"cols,omitempty"`
	Lines int `json:"lines,omitempty"`
	Step  int `json:"step,omitempty"`
	// Blank says that texels whose four words are all ones hold nothing.
	Blank bool `json:"blank,omitempty"`

	// Plane is the column of which it is a bit plane, a small picture; "" of others.
	Plane string `json:"plane,omitempty"`
	Bit   int    `json:"-"` // which of its bits
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

func (l *look) show(p ...Panel) { l.Panels = append(l.Panels, p...) }

// undefined stands for a picture of what holds nothing yet.
func undefined(title string) Panel {
	return Panel{Title: title, Kind: "undefined", Note: "undefined: no pass has written to it yet"}
}

func (t *tracer) share(l *look, title string, in func(row int) bool) Panel {
	each, total := l.grid.count(in)
	return Panel{Title: title, Kind: "share", Image: t.images.add(narrow(each)), Total: total}
}

// codes is the picture of numbers of records, NULL being 0 and others one more, on a
// scale up to top; name writes its ends.
func (t *tracer) codes(title string, cells []uint64, top uint64, name func(code uint64) string) Panel {
	var values []uint64
	for _, c := range cells {
		if c > 0 {
			values = append(values, c-1)
		}
	}
	return Panel{Title: title, Kind: "codes", Image: t.images.add(narrow(cells)), Hi: float64(top), Stops: stops(values, 0, top), Ends: [2]string{name(0), name(top)}}
}

// codesOf is the picture of so many bits of a column's codes, from bit low up.
func (t *tracer) codesOf(l *look, what string, col, low, bits int, cells []uint64) Panel {
	seg, name := t.segment(l, col), t.columnName(col)
	if low == 0 && bits >= seg.Bits {
		return t.codes(what+"codes of "+name, cells, seg.Max, t.valueName(l.Chunk, col))
	}
	title := fmt.Sprintf("%sbits %d..%d of the codes of %s", what, low, min(low+bits, seg.Bits)-1, name)
	return t.codes(title, cells, min(seg.Max>>low, 1<<bits-1), plainName)
}

// stops spreads a scale from lo to hi by the ranks of values. Each eighth of them has a part of the scale, as
// far as they differ.
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
func (t *tracer) texture(l *look, ref textures.Ref) []Panel {
	switch {
	case ref.Words != nil:
		return nil
	case ref.Temp != nil:
		return []Panel{t.temp(l, ref.Temp, "read")}
	}
	low, bits := 0, 2*textures.LimbBits
	switch {
	case ref.High:
		low, bits = 2*textures.LimbBits, textures.LimbBits
	case ref.Form == textures.LowWords:
		bits = textures.PartBits
	case ref.Form == textures.HighWords:
		low, bits = textures.PartBits, textures.PartBits
	}
	texels := t.texels(l.grid, ref)
	var list []Panel
	for ch, col := range ref.Cols {
		if col < 0 || ch > 0 && !ref.Packed {
			continue
		}
		cells := xslices.Map(texels, func(texel []uint32) uint64 { return codeOf(ref, texel[ch:]) })
		if ref.Form == textures.ValidBits {
			list = append(list, t.codes("texture read: validity bits of "+t.columnName(col), cells, 1, plainName))
		} else {
			list = append(list, t.codesOf(l, "texture read: ", col, low, bits, cells))
		}
	}
	return list
}

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

// lines returns a function that reads a line of a texture back; the line read last is kept.
func (t *tracer) lines(ref textures.Ref) func(y int) []uint32 {
	have, line := -1, []uint32(nil)
	return func(y int) []uint32 {
		if y != have {
			var err error
			if line, err = t.store.ReadLine(ref, y); t.fail(err) {
				width, _, words := ref.Texels()
				line = make([]uint32, width*words)
			}
			have = y
		}
		return line
	}
}

// texels reads the texels of the cells' first records; of integer textures, which hold
// several records to a texel, the record's own word.
func (t *tracer) texels(g *grid, ref textures.Ref) [][]uint32 {
	width, _, words := ref.Texels()
	records, lines := ref.Records(), t.lines(ref)
	out := make([][]uint32, len(g.cells))
	for i, row := range g.cells {
		x, line := row%(width*records), lines(row/(width*records))
		switch {
		case ref.Form == textures.ValidBits:
			out[i] = []uint32{line[x/records] >> (x % records) & 1}
		case ref.Form != textures.Floats:
			out[i] = line[x : x+1]
		default:
			out[i] = line[x*words : (x+1)*words]
		}
	}
	return out
}

// temp is the picture of a texture that a pass of the statement drew: a mask or a
// bitmap of records, or partial results.
func (t *tracer) temp(l *look, temp *textures.Temp, what string) Panel {
	lines := t.lines(textures.Ref{Temp: temp})
	switch temp.Words {
	case 4:
		return t.words("partial results "+what, "four words", temp, false)
	case 1: // package fused: 32 records a texel, four of each of eight stretches of a line
		width := textures.LineShape(l.grid.Rows).Width
		in := func(row int) bool {
			x := row % width
			return lines(row / width)[x/4%temp.Width]>>(x/4/temp.Width*4+x%4)&1 != 0
		}
		t.holds(l, in)
		return t.share(l, "bitmap "+what, in)
	}
	in := func(row int) bool { return lines(row / temp.Width)[row%temp.Width] != 0 }
	t.holds(l, in)
	return t.share(l, "mask "+what, in)
}

// sampled is every step-th texel of every step-th line of a texture of four words.
func (t *tracer) sampled(temp *textures.Temp) (words []uint32, step int) {
	step = (max(temp.Width, temp.Height) + MaxSide - 1) / MaxSide
	lines := t.lines(textures.Ref{Temp: temp})
	for y := 0; y < temp.Height; y += step {
		for x, line := 0, lines(y); x < temp.Width; x += step {
			texel := line[4*x : 4*x+4]
			if temp.Floats {
				texel = keysOf(texel)
			}
			words = append(words, texel...)
		}
	}
	return words, step
}

// keysOf is a texel of four keys that blend, NULL as 0 where it comes first: all ones where the first is no record's.
func keysOf(texel []uint32) []uint32 {
	out := []uint32{math.MaxUint32, math.MaxUint32, math.MaxUint32, math.MaxUint32}
	for i, key := range texel {
		if texel[0] <= textures.NullLimb && key <= textures.NullLimb {
			out[i] = key
		}
	}
	return out
}

// words is the picture of a texture of four words by the first of them. blank says that those whose
// words are all ones hold nothing; what names the words.
func (t *tracer) words(title, what string, temp *textures.Temp, blank bool) Panel {
	words, step := t.sampled(temp)
	var first []uint64
	for i := 0; i < len(words); i += 4 {
		if !blank || words[i] != math.MaxUint32 || words[i+3] != math.MaxUint32 {
			first = append(first, uint64(words[i]))
		}
	}
	top := slices.Max(append(first, 0))
	p := Panel{Title: title, Kind: "texels", Step: step, Cols: (temp.Width + step - 1) / step, Lines: (temp.Height + step - 1) / step, Blank: blank,
		Note: fmt.Sprintf("%d x %d texels of %s; the colour is the first word", temp.Width, temp.Height, what),
		Hi:   float64(top), Ends: [2]string{"0", fmt.Sprint(top)}, Image: t.images.add(words)}
	if blank {
		p.Note += ", blank where there is no record"
		p.Stops = stops(first, 0, top)
	}
	if step > 1 {
		p.Note += fmt.Sprintf("; every %dth texel of every %dth line is shown", step, step)
	}
	return p
}

func (t *tracer) stencil(g *grid, title string, values []uint8) Panel {
	seen := map[uint8]int{}
	for _, v := range values {
		seen[v]++
	}
	p := Panel{Title: title, Kind: "stencil", Image: t.images.add(at(g, values))}
	for _, v := range slices.Sorted(maps.Keys(seen)) {
		p.Legend = append(p.Legend, Level{v, seen[v]})
	}
	return p
}
