package debugger

import "image"

// The smallest size at which everything has its place, and the usual one, in pixels.
const (
	MinWidth, MinHeight         = 900, 600
	DefaultWidth, DefaultHeight = 1280, 800
)

// The four panes.
const (
	attributePane = iota
	depthPane
	stencilPane
	resultPane
	paneCount
)

const (
	gap       = 14 // between parts
	headHigh  = 22 // above a picture: its title
	footHigh  = 40 // below it: the scale
	topHigh   = 70 // the statement
	lineHigh  = 68 // a number line
	helpHigh  = 22
	maxLines  = 4
	lineHeads = 24 // above a number line's bars
)

// layout is where things are, in pixels from the upper left.
type layout struct {
	size   image.Point
	head   image.Rectangle
	list   image.Rectangle
	panes  [paneCount]image.Rectangle // with title and scale
	state  image.Rectangle
	field  image.Rectangle
	record image.Rectangle
	lines  []image.Rectangle // a constant's number line each
	found  image.Rectangle   // what a search or a sum has found; empty for none
	help   image.Rectangle
}

// fits reports whether everything has its place in a size.
func fits(w, h int) bool { return w >= MinWidth && h >= MinHeight }

// newLayout lays a frame out. A wide frame has the list, the panes, and the rest in columns. In a high one
// the list and the rest lie below the panes. found says whether there is a search or a sum.
func newLayout(w, h, constants int, found bool) layout {
	l := layout{size: image.Pt(w, h)}
	all := image.Rect(gap, gap/2, w-gap, h-gap/2)
	l.head, all = cutTop(all, topHigh)
	l.help, all = cutBottom(all, helpHigh)
	n := min(constants, maxLines)
	parts := n
	if found {
		parts++
	}
	if parts > 0 {
		var lines image.Rectangle
		lines, all = cutBottom(all, lineHigh+gap)
		lines.Min.Y += gap
		for i := range parts {
			l.lines = append(l.lines, part(lines, i, parts))
		}
		if found {
			l.found, l.lines = l.lines[n], l.lines[:n]
		}
	}
	var side image.Rectangle
	if w >= h {
		l.list, all = cutLeft(all, min(max(w*22/100, 210), 330))
		side, all = cutRight(all, min(max(w*27/100, 250), 440))
		var rest image.Rectangle
		l.state, rest = cutTop(side, min(max(side.Dy()*30/100, 150), 250))
		l.record, l.field = cutBottom(rest, min(max(side.Dy()*26/100, 120), 190))
	} else {
		side, all = cutBottom(all, all.Dy()*38/100)
		l.list, side = cutLeft(side, side.Dx()*30/100)
		l.field, side = cutRight(side, side.Dx()/2)
		l.state, l.record = cutTop(side, side.Dy()*55/100)
	}
	high := (all.Dy() - gap) / 2
	for i := range l.panes {
		l.panes[i] = part(all, i%2, 2)
		l.panes[i].Min.Y += i / 2 * (high + gap)
		l.panes[i].Max.Y = l.panes[i].Min.Y + high
	}
	return l
}

// part is the i-th of n parts of a rectangle, from the left.
func part(r image.Rectangle, i, n int) image.Rectangle {
	width := (r.Dx() - (n-1)*gap) / n
	x := r.Min.X + i*(width+gap)
	return image.Rect(x, r.Min.Y, x+width, r.Max.Y)
}

// split cuts a rectangle at x or y, but for a gap.
func split(r image.Rectangle, x, y int) (before, after image.Rectangle) {
	before, after = r, r
	if x > 0 {
		before.Max.X, after.Min.X = x, x+gap
	}
	if y > 0 {
		before.Max.Y, after.Min.Y = y, y+gap/2
	}
	return before, after
}

func cutTop(r image.Rectangle, h int) (cut, rest image.Rectangle) { return split(r, 0, r.Min.Y+h) }

func cutBottom(r image.Rectangle, h int) (cut, rest image.Rectangle) {
	rest, cut = split(r, 0, r.Max.Y-h-gap/2)
	return cut, rest
}

func cutLeft(r image.Rectangle, w int) (cut, rest image.Rectangle) { return split(r, r.Min.X+w, 0) }

func cutRight(r image.Rectangle, w int) (cut, rest image.Rectangle) {
	rest, cut = split(r, r.Max.X-w-gap, 0)
	return cut, rest
}

// picture is where the picture of a chunk lies in a pane: as large as fits, in the
// proportions of its view.
func picture(pane image.Rectangle, width, height int) image.Rectangle {
	return fitted(pane, width, height, footHigh)
}

// fitted is where a picture lies in a part that leaves room below it.
func fitted(part image.Rectangle, width, height, foot int) image.Rectangle {
	room := image.Rectangle{part.Min.Add(image.Pt(0, headHigh)), part.Max.Sub(image.Pt(0, foot))} // which may be none
	w, h := room.Dx(), room.Dx()*height/max(width, 1)
	if h > room.Dy() {
		w, h = room.Dy()*width/max(height, 1), room.Dy()
	}
	w, h = max(w, 1), max(h, 1)
	return image.Rect(room.Min.X, room.Min.Y, room.Min.X+w, room.Min.Y+h)
}

// bar is where the bars of a number line lie.
func bar(line image.Rectangle) image.Rectangle {
	return image.Rect(line.Min.X+2, line.Min.Y+lineHeads, line.Max.X-2, line.Max.Y-16)
}
