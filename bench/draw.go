package bench

import (
	"bytes"
	"cmp"
	"fmt"
	"image/color"
	"io"
	"math"
	"slices"
	"strconv"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/font"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/vgimg"
	"gonum.org/v1/plot/vg/vgsvg"

	"github.com/stencildb/stencildb/papers/lab"
)

// look is how a system is drawn: no two have the same marker and dashes, so that
// figures can be read in grey.
type look struct {
	system string
	label  string
	color  color.RGBA
	dashes []vg.Length
	glyph  draw.GlyphDrawer
}

func rgb(r, g, b uint8) color.RGBA { return color.RGBA{r, g, b, 255} }

// looks are those of the systems, in the order of the legend.
var looks = []look{
	{classic, "classic", rgb(0, 0, 0), nil, draw.CircleGlyph{}},
	{copyExcluded, "classic, copy excluded", rgb(0, 0, 0), dash(6, 3), draw.RingGlyph{}},
	{classicCounts, "classic, counts only", rgb(70, 70, 70), dash(10, 3), draw.TriangleGlyph{}},
	{classicBare, "classic, no guard", rgb(110, 110, 110), dash(4, 1), draw.PyramidGlyph{}},
	{classicFloat, "classic in float32", rgb(0, 0, 0), dash(3, 1, 1, 1), draw.SquareGlyph{}},
	{classicAlone, "classic, not counted", rgb(110, 110, 110), dash(2, 2), draw.BoxGlyph{}},
	{mipmapSum, "mipmap (approximate)", rgb(110, 110, 110), dash(1, 2), draw.CrossGlyph{}},
	{"fused", "fused", rgb(213, 94, 0), dash(8, 2, 2, 2), draw.TriangleGlyph{}},
	{"compute", "compute", rgb(0, 114, 178), nil, draw.SquareGlyph{}},
	{"cpu", "cpu", rgb(0, 130, 90), dash(3, 2), draw.PyramidGlyph{}},
	{cpuScalar, "cpu, no SIMD", rgb(0, 130, 90), dash(1, 2), draw.PlusGlyph{}},
	{"auto", "auto", rgb(200, 30, 60), dash(5, 2, 1, 2), draw.CrossGlyph{}},
	{quickSelect, "quickselect, one core", rgb(160, 90, 150), dash(8, 3), draw.CrossGlyph{}},
	{"duckdb", "DuckDB", rgb(190, 150, 0), dash(4, 2, 1, 2), draw.BoxGlyph{}},
	{"sqlite", "SQLite", rgb(130, 130, 130), dash(8, 2, 1, 2, 1, 2), draw.RingGlyph{}},
}

func dash(lengths ...vg.Length) []vg.Length { return lengths }

// legend are the names of the systems in the order of the legend.
func (r *Report) legend() []string {
	var names []string
	for _, l := range looks {
		names = append(names, l.system)
	}
	for _, l := range r.suite().systems {
		names = append(names, l.Name)
	}
	return distinct(append(names, r.systems()...), func(name string) string { return name })
}

// lookOf is that of a system. Those of experiments are told apart by their places in the suite's list.
func (r *Report) lookOf(system string) look {
	if i := slices.IndexFunc(looks, func(l look) bool { return l.system == system }); i >= 0 {
		return looks[i]
	}
	list := r.suite().systems
	i := slices.IndexFunc(list, func(l lab.System) bool { return l.Name == system })
	if i < 0 {
		return look{system, system, rgb(90, 90, 90), nil, draw.PlusGlyph{}}
	}
	l := nthLook(i, cmp.Or(list[i].Label, system))
	l.system = system
	return l
}

// labelled is the look of what a panel shows beside what was measured, as its n-th counter: dotted, without marks.
func (l look) labelled(label string, n int) look {
	if label != "" {
		l.label, l.dashes, l.glyph = l.label+": "+label, dash(vg.Length(2*n-1), 2), nil
	}
	return l
}

// The palette of what has no look of its own: colours that the colour-blind tell apart (Okabe and Ito). Glyphs and dashes repeat after
// another number each, so that the first 42 differ in grey, too.
var (
	palette = []color.RGBA{rgb(0, 114, 178), rgb(213, 94, 0), rgb(0, 130, 90), rgb(0, 0, 0), rgb(160, 90, 150), rgb(190, 150, 0), rgb(86, 160, 210), rgb(110, 110, 110)}
	glyphs  = []draw.GlyphDrawer{draw.CircleGlyph{}, draw.SquareGlyph{}, draw.TriangleGlyph{}, draw.RingGlyph{}, draw.BoxGlyph{}, draw.PyramidGlyph{}, draw.CrossGlyph{}}
	strokes = [][]vg.Length{nil, dash(6, 3), dash(2, 2), dash(8, 2, 2, 2), dash(4, 1), dash(8, 2, 1, 2, 1, 2)}
)

// nthLook is the n-th of the palette.
func nthLook(n int, name string) look {
	return look{name, name, palette[n%len(palette)], strokes[n%len(strokes)], glyphs[n%len(glyphs)]}
}

// Sizes of a drawing.
const (
	panelWidth  = 12 * vg.Centimeter
	panelHeight = 8 * vg.Centimeter
	nameWidth   = 1.1 * vg.Centimeter // of a name on the axis
	leastLegend = 6.2 * vg.Centimeter
	thumbWidth  = 1.1 * vg.Centimeter
	titleHeight = 0.9 * vg.Centimeter
	mostColumns = 2 // of panels
	pngDPI      = 144
)

// Sans serif, whose measures other fonts share that a browser may have instead.
func init() { plot.DefaultFont = font.Font{Typeface: "Liberation", Variant: "Sans"} }

// draw draws a figure on a canvas of the size that sizeOf gives.
func (r *Report) draw(f lab.Figure, c draw.Canvas) error {
	c.SetColor(color.White) // on pages with a dark background too
	c.Fill(c.Rectangle.Path())
	panels := r.panels(f)
	style := plot.New().Title.TextStyle
	style.Font.Size = vg.Points(13)
	style.XAlign, style.YAlign = draw.XLeft, draw.YCenter
	c.FillText(style, vg.Point{X: c.Min.X + vg.Points(8), Y: c.Max.Y - titleHeight/2}, f.Heading())
	legend := plot.NewLegend()
	legend.Top, legend.Left = true, true
	legend.TextStyle = legendStyle()
	legend.ThumbnailWidth = thumbWidth
	legend.Padding = vg.Points(3)
	var shown []string
	columns, lines, _ := layout(panels)
	grid := make([][]*plot.Plot, lines)
	for i := range grid {
		grid[i] = make([]*plot.Plot, columns)
	}
	for i, p := range panels {
		pl, err := r.plot(p, func(label string, thumbs ...plot.Thumbnailer) {
			if !slices.Contains(shown, label) {
				shown = append(shown, label)
				legend.Add(label, thumbs...)
			}
		})
		if err != nil {
			return err
		}
		grid[i/columns][i%columns] = pl
	}
	for i, p := range panels {
		if p.Of != lab.Warm { // on one scale with the first, as all others of its times are
			for j := range i {
				if panels[j].Of != p.Of {
					one(&grid[j/columns][j%columns].Y, &grid[i/columns][i%columns].Y)
				}
			}
		}
	}
	legendWidth := r.legendWidth(panels)
	body := draw.Crop(c, vg.Points(4), -legendWidth, vg.Points(4), -titleHeight)
	tiles := draw.Tiles{Rows: lines, Cols: len(grid[0]), PadX: vg.Points(10), PadY: vg.Points(10)}
	for i, line := range plot.Align(grid, tiles, body) {
		for j, canvas := range line {
			if grid[i][j] != nil {
				grid[i][j].Draw(canvas)
			}
		}
	}
	legend.Draw(draw.Crop(c, c.Max.X-c.Min.X-legendWidth+vg.Points(8), 0, 0, -titleHeight))
	return nil
}

// one makes the scales of two axes the same.
func one(a, b *plot.Axis) {
	a.Min, a.Max = min(a.Min, b.Min), max(a.Max, b.Max)
	b.Min, b.Max = a.Min, a.Max
}

// sizeOf is the size of a figure's drawing.
func (r *Report) sizeOf(f lab.Figure) (w, h vg.Length) {
	panels := r.panels(f)
	columns, lines, width := layout(panels)
	return vg.Length(columns)*width + r.legendWidth(panels), vg.Length(lines)*panelHeight + titleHeight
}

// legendStyle is how the names in a legend are written.
func legendStyle() draw.TextStyle {
	style := plot.NewLegend().TextStyle
	style.Font.Size = vg.Points(10)
	return style
}

// legendWidth is that of the legend of panels, whose names it has room for.
func (r *Report) legendWidth(panels []lab.Panel) vg.Length {
	width, style := leastLegend, legendStyle()
	for _, p := range panels {
		for _, s := range r.series(p) {
			width = max(width, 1.1*style.Width(s.label)+thumbWidth+vg.Points(20)) // a browser may have a wider font
		}
	}
	return width
}

// layout is how many panels stand beside each other, and how wide each is: as many names as an axis has, too. Two that are
// wide stand below each other.
func layout(panels []lab.Panel) (columns, lines int, width vg.Length) {
	width = panelWidth
	for _, p := range panels {
		width = max(width, vg.Length(len(p.Names))*nameWidth)
	}
	if columns = max(1, min(mostColumns, len(panels))); width > 1.5*panelWidth {
		columns = 1
	}
	return columns, (len(panels) + columns - 1) / columns, width
}

// plot makes the plot of a panel and adds its systems to the legend.
func (r *Report) plot(p lab.Panel, legend func(label string, thumbs ...plot.Thumbnailer)) (*plot.Plot, error) {
	pl := plot.New()
	pl.Title.Text = p.Title
	pl.X.Label.Text, pl.Y.Label.Text = p.XLabel, r.yLabel(p)
	grid := plotter.NewGrid()
	grid.Horizontal.Color, grid.Vertical.Color = color.Gray{225}, color.Gray{235}
	pl.Add(grid)
	if p.As != lab.Lines {
		return pl, r.bars(pl, p, legend)
	}
	pl.Y.Scale, pl.Y.Tick.Marker = plot.LogScale{}, plot.TickerFunc(logTicks)
	if p.Shows == lab.Rate {
		pl.Y.Tick.Marker = plot.TickerFunc(rateTicks)
	}
	var places []float64
	list := r.series(p)
	for i, s := range list {
		shift := 0.0
		if p.Names != nil {
			shift = (float64(i) - float64(len(list)-1)/2) * min(0.2, 0.8/float64(len(list)))
		}
		for i := range s.XYs {
			places = append(places, s.XYs[i].X)
			s.XYs[i].X += shift
		}
		if err := s.add(pl, p.Names == nil, legend); err != nil {
			return nil, err
		}
	}
	slices.Sort(places)
	axis(pl, p, slices.Compact(places))
	return pl, nil
}

// bars adds bars: of each place one a system, or one of parts.
func (r *Report) bars(pl *plot.Plot, p lab.Panel, legend func(string, ...plot.Thumbnailer)) error {
	list := r.series(p)
	names := r.places(p, list)
	width := panelWidth * 0.6 / vg.Length(max(1, len(names)))
	if p.As == lab.Bars {
		width /= vg.Length(len(list))
	}
	var below *plotter.BarChart
	for i, s := range list {
		heights := make(plotter.Values, len(names))
		for _, at := range s.XYs {
			heights[int(at.X)-1] = at.Y
		}
		b, err := plotter.NewBarChart(heights, width)
		if err != nil {
			return err
		}
		b.Color, b.LineStyle.Width, b.XMin = s.color, 0, 1
		if p.As == lab.Bars {
			b.Offset = width * vg.Length(float64(i)-float64(len(list)-1)/2)
		} else if below != nil {
			b.StackOn(below)
		}
		below = b
		pl.Add(b)
		legend(s.label, b)
	}
	ticks := make([]plot.Tick, len(names))
	for i, name := range names {
		ticks[i] = plot.Tick{Value: float64(i + 1), Label: name}
	}
	pl.X.Tick.Marker = plot.ConstantTicks(ticks)
	pl.X.Min, pl.X.Max, pl.Y.Min = 0.4, float64(len(names))+0.6, 0
	return nil
}

// places are the names of the places of bars. The points of series that have other places than 1, 2, ... are moved to these.
func (r *Report) places(p lab.Panel, list []series) (names []string) {
	if p.As == lab.Stacked {
		for _, b := range r.stacked(p) {
			names = append(names, b.name)
		}
		return names
	}
	var at []float64
	for _, s := range list {
		for _, xy := range s.XYs {
			at = append(at, xy.X)
		}
	}
	slices.Sort(at)
	at = slices.Compact(at)
	for _, s := range list {
		for i := range s.XYs {
			s.XYs[i].X = float64(slices.Index(at, s.XYs[i].X) + 1)
		}
	}
	for _, x := range at {
		name := tick(p, x)
		if n := int(x); p.Names != nil && n >= 1 && n <= len(p.Names) {
			name = p.Names[n-1]
		}
		names = append(names, name)
	}
	return names
}

// axis sets the ticks and the ranges.
func axis(pl *plot.Plot, p lab.Panel, places []float64) {
	ticks := make([]plot.Tick, len(places))
	for i, x := range places {
		ticks[i] = plot.Tick{Value: x, Label: tick(p, x)}
		if p.Names != nil {
			ticks[i].Label = p.Names[int(x)-1]
		}
	}
	first, last := places[0], places[len(places)-1]
	pl.X.Tick.Marker = plot.ConstantTicks(ticks)
	switch {
	case p.LogX:
		pl.X.Scale = plot.LogScale{}
		pl.X.Min, pl.X.Max = first/1.15, last*1.15
	case first == last:
		pl.X.Min, pl.X.Max = first-1, last+1
	default:
		margin := (last - first) / 20
		if p.Names != nil {
			margin = 0.6
		}
		pl.X.Min, pl.X.Max = first-margin, last+margin
	}
	pl.Y.Min, pl.Y.Max = pl.Y.Min/1.3, pl.Y.Max*1.3
	if p.Names == nil {
		thin(pl, ticks)
	}
}

// thin leaves only every so many of the labels of the x axis, so that none touches the next.
func thin(pl *plot.Plot, ticks []plot.Tick) {
	const plotWidth = panelWidth - 2*vg.Centimeter // without what stands beside the y axis
	touch := func(stride int) bool {
		for i := stride; i < len(ticks); i += stride {
			apart := vg.Length(pl.X.Norm(ticks[i].Value)-pl.X.Norm(ticks[i-stride].Value)) * plotWidth
			if apart < (pl.X.Tick.Label.Width(ticks[i].Label)+pl.X.Tick.Label.Width(ticks[i-stride].Label))/2+vg.Points(4) {
				return true
			}
		}
		return false
	}
	stride := 1
	for stride < len(ticks) && touch(stride) {
		stride++
	}
	for i := range ticks {
		if i%stride != 0 {
			ticks[i].Label = ""
		}
	}
}

// add draws a system, its medians joined by a line.
func (s series) add(pl *plot.Plot, joined bool, legend func(string, ...plot.Thumbnailer)) error {
	line, marks, err := plotter.NewLinePoints(s)
	if err != nil {
		return err
	}
	line.Color, line.Dashes, line.Width = s.color, s.dashes, vg.Points(1.2)
	marks.Color, marks.Shape, marks.Radius = s.color, s.glyph, vg.Points(3.2)
	if slices.ContainsFunc(s.YErrors, func(e struct{ Low, High float64 }) bool { return e.High > 0 }) {
		spread, err := plotter.NewYErrorBars(s)
		if err != nil {
			return err
		}
		spread.Color, spread.CapWidth, spread.Width = s.color, vg.Points(4), vg.Points(0.7)
		pl.Add(spread)
	}
	switch {
	case s.glyph == nil:
		pl.Add(line)
		legend(s.label, line)
	case joined:
		pl.Add(line, marks)
		legend(s.label, line, marks)
	default:
		pl.Add(marks)
		legend(s.label, marks)
	}
	return nil
}

// logTicks labels the powers of ten, and 2 and 5 times them where there are few.
func logTicks(lo, hi float64) []plot.Tick {
	var ticks []plot.Tick
	few := math.Log10(hi/lo) < 2.5
	for e := math.Floor(math.Log10(lo)); math.Pow(10, e) <= hi; e++ {
		for m := 1.0; m < 10; m++ {
			v := m * math.Pow(10, e)
			if v < lo || v > hi {
				continue
			}
			t := plot.Tick{Value: v}
			if m == 1 || few && (m == 2 || m == 5) {
				t.Label = strconv.FormatFloat(v, 'f', max(0, -int(e)), 64)
			}
			ticks = append(ticks, t)
		}
	}
	return ticks
}

// rateTicks are logTicks with units.
func rateTicks(lo, hi float64) []plot.Tick {
	ticks := logTicks(lo, hi)
	for i, t := range ticks {
		if t.Label != "" {
			ticks[i].Label = short(t.Value)
		}
	}
	return ticks
}

// tick is a number on a panel's axis.
func tick(p lab.Panel, x float64) string {
	if n := int(x); p.Binary && n >= 1<<10 {
		if n%(1<<20) == 0 {
			return fmt.Sprintf("%d Mi", n>>20)
		}
		return fmt.Sprintf("%d Ki", n>>10)
	}
	return short(x)
}

// short writes a number with its unit: 62.5 K, 1 M.
func short(x float64) string {
	for _, u := range []struct {
		unit string
		size float64
	}{{" G", 1e9}, {" M", 1e6}, {" K", 1e3}} {
		if x >= u.size {
			return strconv.FormatFloat(x/u.size, 'g', 3, 64) + u.unit
		}
	}
	return strconv.FormatFloat(x, 'g', 4, 64)
}

// svgFont is how gonum/plot names the font of each text, and svgFonts what is written
// instead: where it is not installed, one of the same measures.
var (
	svgFont  = []byte("font-family:Liberation Sans;font-variant:normal;font-weight:normal;font-style:normal;")
	svgFonts = []byte("font-family:Liberation Sans,Arial,Helvetica,sans-serif;")
)

// SVG writes a figure as an SVG image.
func (r *Report) SVG(f lab.Figure, w io.Writer) error {
	c := vgsvg.New(r.sizeOf(f))
	if err := r.draw(f, draw.New(c)); err != nil {
		return err
	}
	text, err := render(func(w io.Writer) error {
		_, err := c.WriteTo(w)
		return err
	})
	if err != nil {
		return err
	}
	_, err = w.Write(bytes.ReplaceAll(text, svgFont, svgFonts))
	return err
}

// PNG writes a figure as a PNG image.
func (r *Report) PNG(f lab.Figure, out io.Writer) error {
	w, h := r.sizeOf(f)
	c := vgimg.NewWith(vgimg.UseWH(w, h), vgimg.UseDPI(pngDPI))
	if err := r.draw(f, draw.New(c)); err != nil {
		return err
	}
	_, err := vgimg.PngCanvas{Canvas: c}.WriteTo(out)
	return err
}

// figures are those that have results.
func (r *Report) figures() []lab.Figure {
	list := r.ownFigures()
	if f := r.suite().Figures; f != nil {
		list = slices.Clone(f)
	}
	return slices.DeleteFunc(list, func(f lab.Figure) bool { return len(r.panels(f))+len(r.published(f)) == 0 })
}

// titleLength is how much of a statement stands above its figure, in characters.
const titleLength = 90

// panelsOf are panels of the times that there are: with what is warm, repeated and cold.
func (r *Report) panelsOf(p lab.Panel) (list []lab.Panel) {
	kinds := []struct {
		title string
		of    lab.Timing
	}{{"columns resident", lab.Warm}, {"with the upload of the columns", lab.Cold}}
	if r.Protocol == fresh {
		kinds[0].title, kinds[1].title = "new parameters, from the text to the last row", "cold: the first execution in a process"
		kinds = slices.Insert(kinds, 1, kinds[0])
		kinds[1].title, kinds[1].of = "repeated: the prepared statement again", lab.Repeated
	}
	for _, k := range kinds {
		p.Title, p.Of = k.title, k.of
		list = append(list, p)
	}
	return list
}

// asked reports whether the report is of statements, whose plots and tables a page has: a user's, or those of the fresh protocol.
func (r *Report) asked() bool { return r.Suite == own || r.Protocol == fresh }

// ownFigures are those of statements: all of them over the largest tables, and each
// over the number of records where there are several tables.
func (r *Report) ownFigures() (list []lab.Figure) {
	if !r.asked() {
		return nil
	}
	asked, loads := r.ownNames()
	title := "Statements"
	if r.Suite != own {
		title = "Suite " + r.Suite
	}
	load := lab.Panel{Title: "from a file to a table", Operations: loads, Names: loads, Largest: true}
	largest := r.panelsOf(lab.Panel{Operations: asked, Names: asked, Largest: true})
	list = append(list, lab.Figure{Title: title + " over the largest tables", Path: r.Suite, Panels: append(largest, load)})
	for _, name := range slices.Concat(asked, loads) {
		sizes := map[int]bool{}
		text := name + ": "
		for _, x := range r.Results {
			if x.Operation == name {
				sizes[x.Rows] = true
				if text = oneLine(x.SQL); slices.Contains(asked, name) {
					text = name + ": " + text
				}
			}
		}
		if len(sizes) < 2 {
			continue
		}
		if short := []rune(text); len(short) > titleLength {
			text = string(short[:titleLength]) + "..."
		}
		if slices.Contains(loads, name) {
			list = append(list, lab.Figure{Title: text, Path: name, Panels: []lab.Panel{overRecords(load.Title, name)}})
			continue
		}
		list = append(list, lab.Figure{Title: text, Path: name, Panels: r.panelsOf(overRecords("", name))})
	}
	return list
}

// render is what f writes.
func render(f func(io.Writer) error) ([]byte, error) {
	var b bytes.Buffer
	err := f(&b)
	return b.Bytes(), err
}
