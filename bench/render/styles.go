package render

import (
	"cmp"
	"image/color"
	"slices"

	"github.com/stencildb/stencildb/bench/report"
	"github.com/stencildb/stencildb/internal/xslices"
	"github.com/stencildb/stencildb/papers/lab"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// style is how a system is drawn: no two have the same marker and dashes, so that
// figures can be read in grey.
type style struct {
	system string
	label  string
	color  color.RGBA
	dashes []vg.Length
	glyph  draw.GlyphDrawer
}

func rgb(r, g, b uint8) color.RGBA { return color.RGBA{r, g, b, 255} }

// styles are those of the systems, in the order of the legend.
var styles = []style{
	{report.Classic, "classic", rgb(0, 0, 0), nil, draw.CircleGlyph{}},
	{report.CopyExcluded, "classic, copy excluded", rgb(0, 0, 0), dash(6, 3), draw.RingGlyph{}},
	{report.ClassicCountOnly, "classic, counts only", rgb(70, 70, 70), dash(10, 3), draw.TriangleGlyph{}},
	{report.ClassicNoGuard, "classic, no guard", rgb(110, 110, 110), dash(4, 1), draw.PyramidGlyph{}},
	{report.ClassicFloat, "classic in float32", rgb(0, 0, 0), dash(3, 1, 1, 1), draw.SquareGlyph{}},
	{report.ClassicNoCount, "classic, not counted", rgb(110, 110, 110), dash(2, 2), draw.BoxGlyph{}},
	{report.MipmapSum, "mipmap (approximate)", rgb(110, 110, 110), dash(1, 2), draw.CrossGlyph{}},
	{"fused", "fused", rgb(213, 94, 0), dash(8, 2, 2, 2), draw.TriangleGlyph{}},
	{"compute", "compute", rgb(0, 114, 178), nil, draw.SquareGlyph{}},
	{"cpu", "cpu", rgb(0, 130, 90), dash(3, 2), draw.PyramidGlyph{}},
	{report.CpuScalar, "cpu, no SIMD", rgb(0, 130, 90), dash(1, 2), draw.PlusGlyph{}},
	{"auto", "auto", rgb(200, 30, 60), dash(5, 2, 1, 2), draw.CrossGlyph{}},
	{report.Quickselect, "quickselect, one core", rgb(160, 90, 150), dash(8, 3), draw.CrossGlyph{}},
	{"duckdb", "DuckDB", rgb(190, 150, 0), dash(4, 2, 1, 2), draw.BoxGlyph{}},
	{"sqlite", "SQLite", rgb(130, 130, 130), dash(8, 2, 1, 2, 1, 2), draw.RingGlyph{}},
}

func dash(lengths ...vg.Length) []vg.Length { return lengths }

// legend are the names of the systems in the order of the legend.
func (r Page) legend() []string {
	names := xslices.Map(styles, func(l style) string { return l.system })
	for _, l := range r.Paper.Systems {
		names = append(names, l.Name)
	}
	return report.Distinct(append(names, r.Systems()...), func(name string) string { return name })
}

// styleOf is that of a system. Those of experiments are told apart by their places in the suite's list.
func (r Page) styleOf(system string) style {
	if i := slices.IndexFunc(styles, func(l style) bool { return l.system == system }); i >= 0 {
		return styles[i]
	}
	list := r.Paper.Systems
	i := slices.IndexFunc(list, func(l lab.System) bool { return l.Name == system })
	if i < 0 {
		return style{system, system, rgb(90, 90, 90), nil, draw.PlusGlyph{}}
	}
	l := nthStyle(i, cmp.Or(list[i].Label, system))
	l.system = system
	return l
}

// labelled is the look of what a panel shows beside what was measured, as its n-th counter: dotted, without marks.
func (l style) labelled(label string, n int) style {
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

// nthStyle is the n-th of the palette.
func nthStyle(n int, name string) style {
	return style{name, name, palette[n%len(palette)], strokes[n%len(strokes)], glyphs[n%len(glyphs)]}
}
