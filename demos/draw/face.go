package draw

import (
	"image"
	"image/draw"
	"strings"

	"golang.org/x/image/font"
	"golang.org/x/image/math/fixed"
)

// Face is a font at a size. It keeps the letters that it has drawn, and belongs to one
// goroutine.
type Face struct {
	font.Face
	letters map[place]letter
}

// place is a letter and how far right of a whole pixel it begins.
type place struct {
	r    rune
	part fixed.Int26_6
}

// letter is what [font.Face.Glyph] returns for a letter at the origin.
type letter struct {
	bounds  image.Rectangle
	mask    *image.Alpha
	advance fixed.Int26_6
	found   bool
}

// Glyph implements [font.Face], for whole baselines.
func (f *Face) Glyph(dot fixed.Point26_6, r rune) (image.Rectangle, image.Image, image.Point, fixed.Int26_6, bool) {
	key := place{r, dot.X & 63}
	l, ok := f.letters[key]
	if !ok {
		bounds, mask, at, advance, found := f.Face.Glyph(fixed.Point26_6{X: key.part}, r)
		l = letter{bounds, image.NewAlpha(image.Rectangle{Max: bounds.Size()}), advance, found}
		if found {
			draw.Draw(l.mask, l.mask.Rect, mask, at, draw.Src)
		}
		f.letters[key] = l
	}
	return l.bounds.Add(image.Pt(dot.X.Floor(), dot.Y.Floor())), l.mask, image.Point{}, l.advance, l.found
}

// GlyphAdvance implements [font.Face].
func (f *Face) GlyphAdvance(r rune) (fixed.Int26_6, bool) {
	_, _, _, advance, found := f.Glyph(fixed.Point26_6{}, r)
	return advance, found
}

// Kern implements [font.Face]: the Go fonts have no pairs of letters that come closer.
func (f *Face) Kern(_, _ rune) fixed.Int26_6 { return 0 }

// Width returns how many pixels text takes.
func (f *Face) Width(s string) int { return font.MeasureString(f, s).Ceil() }

// Clip shortens text to a width at its end.
func (f *Face) Clip(s string, width int) string { return f.shorten(s, width, 0) }

// ClipMiddle shortens text to a width in the middle, for names that differ at their ends.
func (f *Face) ClipMiddle(s string, width int) string { return f.shorten(s, width, 2) }

// shorten keeps one in so many letters for the end, 0 for none.
func (f *Face) shorten(s string, width, parts int) string {
	runes := []rune(s)
	for n := len(runes) - 1; n >= 0 && f.Width(s) > width; n-- {
		tail := 0
		if parts > 0 {
			tail = n / parts
		}
		s = strings.TrimRight(string(runes[:n-tail]), " ") + "…" + string(runes[len(runes)-tail:])
	}
	return s
}

// Wrap cuts text into lines of a width; a word that is wider is shortened.
func (f *Face) Wrap(s string, width int) []string {
	lines := Wrap(s, func(line string) bool { return f.Width(line) <= width })
	for i, line := range lines {
		lines[i] = f.Clip(line, width)
	}
	return lines
}

// Wrap cuts text into lines that fit, of a word at least.
func Wrap(s string, fits func(line string) bool) (lines []string) {
	for _, word := range strings.Fields(s) {
		if n := len(lines); n > 0 && fits(lines[n-1]+" "+word) {
			lines[n-1] += " " + word
		} else {
			lines = append(lines, word)
		}
	}
	return lines
}
