package render

import (
	"bytes"
	"image/color"
	"io"
	"slices"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/font"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/vgimg"
	"gonum.org/v1/plot/vg/vgsvg"

	"github.com/stencildb/stencildb/bench/report"
	"github.com/stencildb/stencildb/papers/lab"
)

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
func (r Page) draw(f lab.Figure, c draw.Canvas) error {
	c.SetColor(color.White) // on pages with a dark background too
	c.Fill(c.Rectangle.Path())
	panels := r.Panels(f)
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
func (r Page) sizeOf(f lab.Figure) (w, h vg.Length) {
	panels := r.Panels(f)
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
func (r Page) legendWidth(panels []lab.Panel) vg.Length {
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
func (r Page) plot(p lab.Panel, legend func(label string, thumbs ...plot.Thumbnailer)) (*plot.Plot, error) {
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
func (r Page) bars(pl *plot.Plot, p lab.Panel, legend func(string, ...plot.Thumbnailer)) error {
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
func (r Page) places(p lab.Panel, list []series) (names []string) {
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

// svgFont is how gonum/plot names the font of each text. svgFonts is what is written instead, so that a font
// of the same measures stands in where it is not installed.
var (
	svgFont  = []byte("font-family:Liberation Sans;font-variant:normal;font-weight:normal;font-style:normal;")
	svgFonts = []byte("font-family:Liberation Sans,Arial,Helvetica,sans-serif;")
)

// SVG writes a figure as an SVG image.
func (r Page) SVG(f lab.Figure, w io.Writer) error {
	c := vgsvg.New(r.sizeOf(f))
	if err := r.draw(f, draw.New(c)); err != nil {
		return err
	}
	text, err := report.Bytes(func(w io.Writer) error {
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
func (r Page) PNG(f lab.Figure, out io.Writer) error {
	w, h := r.sizeOf(f)
	c := vgimg.NewWith(vgimg.UseWH(w, h), vgimg.UseDPI(pngDPI))
	if err := r.draw(f, draw.New(c)); err != nil {
		return err
	}
	_, err := vgimg.PngCanvas{Canvas: c}.WriteTo(out)
	return err
}
