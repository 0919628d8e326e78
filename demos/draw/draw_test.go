package draw

import (
	"bytes"
	"image"
	"image/color"
	"image/png"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"golang.org/x/image/font"

	"github.com/stencildb/stencildb/textures"
)

func TestShadesGoByRank(t *testing.T) {
	shades := Ramp([]float32{5, -1, 1000, 5, 5})
	if shades[0] != shades[3] || shades[0] != shades[4] || shades[1] >= shades[0] || shades[0] >= shades[2] || shades[2] >= Grey+Levels {
		t.Errorf("shades %v", shades)
	}
	tinted := Tint(shades, func(i int) bool { return i == 2 })
	if tinted[2] != shades[2]+Tinted-Grey || tinted[2] >= White || !slices.Equal(tinted[3:], shades[3:]) || &tinted[0] == &shades[0] {
		t.Errorf("tinted %v of %v", tinted, shades)
	}
	if got := Values([]uint8{0, 1, 2, 3}); !slices.Equal(got, []uint8{Stencil, Stencil + 1, Stencil + 2, Stencil + 2}) {
		t.Errorf("stencil colours %v", got)
	}
}

func canvas(t *testing.T, w, h int) *Canvas {
	t.Helper()
	f, err := NewFonts(Sizes{Title: 33, Body: 20, Small: 20, Mono: 21}, font.HintingNone)
	if err != nil {
		t.Fatal(err)
	}
	c := f.New(w, h)
	c.Fill(c.Rect, Colors[White])
	return c
}

func TestLinesKeepWithinTheirWidth(t *testing.T) {
	c := canvas(t, 10, 10)
	const text = "one two three four five six seven eight nine ten"
	lines := c.Body.Wrap(text, 120)
	if strings.Join(lines, " ") != text || len(lines) < 3 {
		t.Errorf("lines %q", lines)
	}
	for _, l := range lines {
		if w := c.Body.Width(l); w > 120 {
			t.Errorf("%q is %d pixels wide", l, w)
		}
	}
	if c.Body.Wrap("", 120) != nil {
		t.Error("no words make a line")
	}
}

// Row r of a texture is drawn at its texel; what lies behind the last row is not.
func TestTexels(t *testing.T) {
	sh := textures.ShapeOf(10) // 4 x 3, two texels of the last line unused
	colors := make([]uint8, 10)
	for i := range colors {
		colors[i] = uint8(i)
	}
	c := canvas(t, 8, 8)
	c.Texels(0, 0, 8, sh, colors)
	for _, at := range []struct {
		x, y int
		want uint8
	}{{0, 0, 0}, {1, 1, 0}, {2, 0, 1}, {7, 1, 3}, {0, 2, 4}, {3, 5, 9}, {4, 4, White}, {7, 7, White}} {
		if got := c.Reduced().ColorIndexAt(at.x, at.y); got != at.want {
			t.Errorf("pixel (%d, %d) is %d, want %d", at.x, at.y, got, at.want)
		}
	}
}

// A chart stays within its panel, whatever its values.
func TestChartsStayInside(t *testing.T) {
	for name, d := range map[string]Drawing{
		"bars":  Bars{{Label: "a", To: 0, Text: "0"}, {Label: "b", To: 1e9, Text: "1,000,000,000"}},
		"spans": Bars{{Label: "x", From: 0, To: 8, At: 4, Text: "y"}, {Label: "x", From: 7, To: 8, At: 8, Text: "y"}},
		"plot": Plot{X: Axis{Name: "x", Hi: 10}, Y: Axis{Name: "y", Lo: -5, Hi: 5}, High: 150,
			Points: []Point{{X: 0, Y: -5, Index: Ink}, {X: 10, Y: 5, Index: Ink}, {X: 11, Y: 0, Index: Ink}, {X: 3, Y: 99, Index: Ink, Bar: true}},
			Levels: []Level{{Left: -5, Right: -5, Text: "low"}, {Left: -90, Right: 90, Text: "steep"}}},
		"down": Plot{X: Axis{Name: "x", Hi: 10}, Y: Axis{Name: "y", Hi: 5}, High: 150, Down: true, Levels: []Level{{Left: 5, Right: 5, Text: "low"}}},
	} {
		const w, edge = 400, 20
		h := d.Height(w)
		c := canvas(t, w+2*edge, h+2*edge)
		in := image.Rect(edge, edge, edge+w, edge+h)
		d.Draw(c, in)
		drawn := false
		for y := range c.Rect.Dy() {
			for x := range c.Rect.Dx() {
				if c.RGBAAt(x, y) == (color.RGBA{255, 255, 255, 255}) {
					continue
				}
				drawn = true
				if !(image.Pt(x, y).In(in.Inset(-2))) {
					t.Fatalf("%s draws at (%d, %d), outside %v", name, x, y, in)
				}
			}
		}
		if !drawn {
			t.Errorf("%s draws nothing", name)
		}
	}
}

func TestSheetIsWrittenAsASmallPalette(t *testing.T) {
	s := &Sheet{Title: "title", Columns: 2, Width: 100, Panels: []Panel{
		{Title: "a", Draw: Records{textures.ShapeOf(4), []uint8{Grey, Tinted, Stencil, Ink}}, Note: "some words below"},
		{Title: "b", Draw: Bars{{Label: "l", To: 1, Text: "t"}}, Legend: []Entry{{Ink, "ink"}, {Mark, "mark"}}},
		{Title: "c", Draw: Bars{{Label: "l", To: 1, Text: "t"}}},
	}}
	img, err := s.Image()
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "sheet.png")
	if err := WritePNG(path, img); err != nil {
		t.Fatal(err)
	}
	r, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	back, err := png.Decode(r)
	if err != nil {
		t.Fatal(err)
	}
	if p, ok := back.(*image.Paletted); !ok || p.Rect != img.Bounds() || p.Rect.Dx() != 2*100+gap+2*margin {
		t.Errorf("%T of %v", back, back.Bounds())
	}
	if err := WritePNG(filepath.Join(t.TempDir(), "no", "folder.png"), img); err == nil {
		t.Error("a folder that is not there is no error")
	}
	before, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := WritePNG(path, &image.Paletted{}); err == nil {
		t.Error("a picture without pixels is written")
	}
	if after, err := os.ReadFile(path); err != nil || !bytes.Equal(before, after) {
		t.Errorf("a picture that cannot be written replaces another (%v)", err)
	}
}
