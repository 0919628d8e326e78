package main

import (
	"cmp"
	"fmt"
	"go/parser"
	"go/token"
	"html"
	"io/fs"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"os"
)

const (
	module              = "github.com/stencildb/stencildb/"
	architecturePicture = "docs/pictures/architecture.svg"
)

// floors are the rooms of the house from top to bottom, by what they do. A room is a folder of the
// repository with all that is in it, but for plan/glsl, which writes GLSL: plan itself knows none.
var floors = []struct {
	title string
	rooms []string
}{
	{"asking and looking", []string{"cmd", "driver", "trace", "bench", "demos", "papers"}},
	{"running", []string{"engine"}},
	{"backends", []string{"aggregates", "predicates", "fused", "compute", "relational", "primitives", "cpu"}},
	{"the graphics pipeline", []string{"plan/glsl", "pass", "textures", "occlusion", "shaders", "glctx"}},
	{"planning, no\u00a0GL", []string{"sql", "plan", "cost", "expr"}},
	{"data, no\u00a0GL", []string{"storage", "generate", "ingest", "table", "sqlstate"}},
}

// elsewhere are folders of Go that are no rooms: what all use, and data of tests.
var elsewhere = []string{"internal", "testdata"}

// roomOf returns the room of a path.
func roomOf(path string) string {
	if path == "plan/glsl" || strings.HasPrefix(path, "plan/glsl/") {
		return "plan/glsl"
	}
	room, _, _ := strings.Cut(path, "/")
	return room
}

// imports returns which rooms each room imports, tests left out.
func imports(root string) (map[string]map[string]bool, error) {
	all := map[string]map[string]bool{}
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		name, err := filepath.Rel(root, path)
		if err != nil {
			return err
		}
		name = filepath.ToSlash(name)
		room, inside := roomOf(name), strings.Contains(name, "/")
		switch {
		case d.IsDir():
			if strings.HasPrefix(room, ".") && room != "." || room == "docs" || room == "data" || slices.Contains(elsewhere, room) {
				return fs.SkipDir
			}
			return nil
		case !inside || !strings.HasSuffix(name, ".go") || strings.HasSuffix(name, "_test.go"):
			return nil
		}
		file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.ImportsOnly)
		if err != nil {
			return err
		}
		if file.Name.Name == "main" {
			return nil // a program that uses the house, such as this one
		}
		if all[room] == nil {
			all[room] = map[string]bool{}
		}
		for _, i := range file.Imports {
			if to, ok := strings.CutPrefix(strings.Trim(i.Path.Value, `"`), module); ok {
				to = roomOf(to)
				if to != room && !slices.Contains(elsewhere, to) {
					all[room][to] = true
				}
			}
		}
		return nil
	})
	return all, err
}

// floorOf returns the number of a room's floor from the top, and false where the house has no such room.
func floorOf(room string) (int, bool) {
	at := slices.IndexFunc(floors, func(f struct {
		title string
		rooms []string
	}) bool {
		return slices.Contains(f.rooms, room)
	})
	return at, at >= 0
}

// checkHouse says which imports break the floors: a room that is on no floor, and an import that points up.
func checkHouse(all map[string]map[string]bool) error {
	for room, uses := range all {
		from, ok := floorOf(room)
		if !ok {
			return fmt.Errorf("room %s is on no floor of the picture: add it to floors in demos/site/architecture.go", room)
		}
		for to := range uses {
			if below, ok := floorOf(to); ok && below < from {
				return fmt.Errorf("%s imports %s, which is on a floor above", room, to)
			}
		}
	}
	for _, f := range floors {
		for _, room := range f.rooms {
			if all[room] == nil {
				return fmt.Errorf("the picture has a room %s, which is not there", room)
			}
		}
	}
	return nil
}

// direct returns the imports of a room that do not follow from its other ones: the arrows of the picture.
func direct(all map[string]map[string]bool, room string) []string {
	var list []string
	for _, to := range slices.Sorted(maps.Keys(all[room])) {
		indirect := false
		for other := range all[room] {
			indirect = indirect || other != to && reached(all, other)[to] && !reached(all, to)[other]
		}
		if !indirect {
			list = append(list, to)
		}
	}
	return list
}

// reached returns the rooms that a room imports, directly or by way of others.
func reached(all map[string]map[string]bool, from string) map[string]bool {
	found, next := map[string]bool{}, []string{from}
	for len(next) > 0 {
		room := next[0]
		next = next[1:]
		for to := range all[room] {
			if !found[to] {
				found[to] = true
				next = append(next, to)
			}
		}
	}
	return found
}

// The picture's measures.
const (
	pictureWidth, margin         = 640, 8
	labelWidth                   = 104 // the column of the floors' titles, which no arrow crosses
	titleLetters                 = 12  // of a title in a line
	boxWidth, boxHeight, perRow  = 112, 38, 4
	rowGap, floorGap, bandInside = 46, 22, 14
	laneGap                      = 5 // between arrows that pass between the same boxes
)

type point struct{ x, y int }

// box is a room in the picture, by its middle.
type box struct {
	room string
	row  int
	point
}

// band is a floor in the picture: its title, and the lines between which it lies.
type band struct {
	title       []string // in lines
	top, bottom int
}

// arrow is an import. Between two rooms of a row it is a curve below the row's boxes, by its three points. Otherwise it goes
// from point to point, straight down between the boxes of the rows on its way.
type arrow struct {
	from, to string
	points   []point
	curve    bool
}

// drawing is the picture of the rooms, laid out.
type drawing struct {
	bands  []band
	boxes  map[string]box
	arrows []arrow
	height int
}

// layout places the rooms: a floor in as many rows as it needs, what imports above what is imported, and below what imports it.
func layout(all map[string]map[string]bool) *drawing {
	d := &drawing{boxes: map[string]box{}, height: margin}
	var rows [][]string
	for _, f := range floors {
		n := (len(f.rooms) + perRow - 1) / perRow
		list := slices.Clone(f.rooms)
		slices.SortStableFunc(list, func(a, b string) int { return cmp.Compare(depthIn(all, f.rooms, a), depthIn(all, f.rooms, b)) })
		y := d.height + bandInside
		for row := range slices.Chunk(list, (len(list)+n-1)/n) {
			slices.SortStableFunc(row, func(a, b string) int { return cmp.Compare(d.above(all, a), d.above(all, b)) })
			step := (pictureWidth - 2*margin - labelWidth) / len(row)
			for i, room := range row {
				d.boxes[room] = box{room, len(rows), point{margin + labelWidth + step*i + step/2, y + boxHeight/2}}
			}
			rows = append(rows, row)
			y += boxHeight + rowGap
		}
		bottom := y - rowGap + bandInside
		d.bands = append(d.bands, band{wrapped(f.title, titleLetters), d.height, bottom})
		d.height = bottom + floorGap
	}
	d.height += margin - floorGap
	d.connect(all, rows)
	return d
}

// wrapped breaks a title into lines of so many letters at most; a longer word is a line.
func wrapped(title string, letters int) (lines []string) {
	for _, word := range strings.Split(title, " ") {
		if n := len(lines); n > 0 && len(lines[n-1])+1+len(word) <= letters {
			lines[n-1] += " " + word
		} else {
			lines = append(lines, word)
		}
	}
	return lines
}

// depthIn is how many rooms of a floor lead by imports to one of them, one after the other.
func depthIn(all map[string]map[string]bool, floor []string, room string) (depth int) {
	for _, other := range floor {
		if other != room && reached(all, other)[room] && !reached(all, room)[other] {
			depth = max(depth, 1+depthIn(all, floor, other))
		}
	}
	return depth
}

// above is where the rooms lie on an average that import a room and are placed.
func (d *drawing) above(all map[string]map[string]bool, room string) int {
	sum, n := 0, 0
	for _, b := range d.boxes {
		if slices.Contains(direct(all, b.room), room) {
			sum, n = sum+b.x, n+1
		}
	}
	if n == 0 {
		return pictureWidth / 2
	}
	return sum / n
}

// connect draws the arrows.
func (d *drawing) connect(all map[string]map[string]bool, rows [][]string) {
	leaving, coming := map[string][]string{}, map[string][]string{}
	for _, from := range slices.Sorted(maps.Keys(d.boxes)) {
		for _, to := range direct(all, from) {
			leaving[from], coming[to] = append(leaving[from], to), append(coming[to], from)
		}
	}
	byPlace := func(a, b string) int { return cmp.Compare(d.boxes[a].x, d.boxes[b].x) }
	// at is where an arrow meets the edge of a box. The arrows of a box lie side by side in the order of their other
	// ends.
	at := func(room, other string, list []string) int {
		list = slices.Clone(list)
		slices.SortStableFunc(list, byPlace)
		return d.boxes[room].x - boxWidth/2 + boxWidth*(slices.Index(list, other)+1)/(len(list)+1)
	}
	lanes := map[point]int{}
	for _, from := range slices.Sorted(maps.Keys(leaving)) {
		for _, to := range leaving[from] {
			p, q := d.boxes[from], d.boxes[to]
			start, end := point{at(from, to, leaving[from]), p.y + boxHeight/2}, point{at(to, from, coming[to]), q.y - boxHeight/2}
			if p.row == q.row {
				end.y = start.y
				d.arrows = append(d.arrows, arrow{from, to, []point{start, {(start.x + end.x) / 2, start.y + 2*bandInside}, end}, true})
				continue
			}
			step := 1
			if q.row < p.row {
				step, start.y, end.y = -1, p.y-boxHeight/2, q.y+boxHeight/2
			}
			way := []point{start}
			for row := p.row + step; row != q.row; row += step {
				y := d.boxes[rows[row][0]].y
				last := way[len(way)-1]
				straight := last.x + (end.x-last.x)*(y-last.y)/(end.y-last.y)
				x := nearest(gaps(d, rows[row]), straight)
				n := lanes[point{x, row}]
				lanes[point{x, row}]++
				x += laneGap * ((n + 1) / 2) * (1 - 2*(n%2))
				way = append(way, point{x, y - step*boxHeight/2}, point{x, y + step*boxHeight/2})
			}
			d.arrows = append(d.arrows, arrow{from, to, append(way, end), false})
		}
	}
}

// gaps are the middles of what is free in a row.
func gaps(d *drawing, row []string) (list []int) {
	from := margin + labelWidth
	for _, room := range row {
		list = append(list, (from+d.boxes[room].x-boxWidth/2)/2)
		from = d.boxes[room].x + boxWidth/2
	}
	return append(list, (from+pictureWidth-margin)/2)
}

// nearest is the number of a list that is nearest to x.
func nearest(list []int, x int) int {
	return slices.MinFunc(list, func(a, b int) int { return cmp.Compare(max(a-x, x-a), max(b-x, x-b)) })
}

// pictureStyle has the colours by day and by night.
const pictureStyle = `<style>
.ground{fill:#fff}.band{fill:#eef2f7}.box{fill:#fff;stroke:#0b4f8a}.room{fill:#111}.title{fill:#333}.way{fill:none;stroke:#444}.tip{fill:#444}
@media (prefers-color-scheme:dark){.ground{fill:#16181b}.band{fill:#23272d}.box{fill:#16181b;stroke:#7ab8ee}.room{fill:#eee}.title{fill:#ccc}.way{stroke:#aaa}.tip{fill:#aaa}}
</style>
`

// architecture returns the picture of the rooms as SVG: a floor a band, and an arrow for each import that
// does not follow from others.
func architecture(root string) (string, error) {
	all, err := imports(root)
	if err != nil {
		return "", err
	}
	if err := checkHouse(all); err != nil {
		return "", err
	}
	d := layout(all)
	var b strings.Builder
	fmt.Fprintf(&b, `<svg xmlns="http://www.w3.org/2000/svg" width="%d" height="%d" viewBox="0 0 %[1]d %[2]d" font-family="sans-serif" font-size="17">`+"\n", pictureWidth, d.height)
	b.WriteString("<title>The rooms of stencildb, and which imports which</title>\n" + pictureStyle)
	b.WriteString(`<defs><marker id="tip" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="8" markerHeight="8" orient="auto"><path class="tip" d="M0 0L8 4L0 8z"/></marker></defs>` + "\n")
	fmt.Fprintf(&b, `<rect class="ground" width="%d" height="%d"/>`+"\n", pictureWidth, d.height)
	for _, x := range d.bands {
		fmt.Fprintf(&b, `<rect class="band" x="%d" y="%d" width="%d" height="%d" rx="6"/>`+"\n", margin, x.top, pictureWidth-2*margin, x.bottom-x.top)
		for i, words := range x.title {
			fmt.Fprintf(&b, `<text class="title" font-size="15" x="%d" y="%d">%s</text>`+"\n", 2*margin, x.top+24+18*i, html.EscapeString(words))
		}
	}
	for _, a := range d.arrows {
		path, p := fmt.Sprintf("M%d %d", a.points[0].x, a.points[0].y), a.points[1:]
		if a.curve {
			path += fmt.Sprintf("Q%d %d %d %d", p[0].x, p[0].y, p[1].x, p[1].y)
		} else {
			for _, x := range p {
				path += fmt.Sprintf("L%d %d", x.x, x.y)
			}
		}
		fmt.Fprintf(&b, `<path class="way" d="%s" marker-end="url(#tip)"><title>%s imports %s</title></path>`+"\n", path, a.from, a.to)
	}
	for _, f := range floors {
		for _, room := range f.rooms {
			p := d.boxes[room]
			fmt.Fprintf(&b, `<rect class="box" x="%d" y="%d" width="%d" height="%d" rx="4"/><text class="room" x="%d" y="%d" text-anchor="middle">%s</text>`+"\n",
				p.x-boxWidth/2, p.y-boxHeight/2, boxWidth, boxHeight, p.x, p.y+6, room)
		}
	}
	b.WriteString("</svg>\n")
	return b.String(), nil
}

// roomTable is a line for each room: what its package's comment says first, and which rooms it imports.
func roomTable(root string) (string, error) {
	all, err := imports(root)
	if err != nil {
		return "", err
	}
	if err := checkHouse(all); err != nil {
		return "", err
	}
	var b strings.Builder
	line(&b, "room", "what it is", "imports directly")
	line(&b, "", "", "")
	for _, f := range floors {
		for _, room := range f.rooms {
			what, err := synopsis(filepath.Join(root, room))
			if err != nil {
				return "", err
			}
			line(&b, "["+room+"](../"+room+")", what, strings.Join(direct(all, room), ", "))
		}
	}
	return b.String(), nil
}

// synopsis is the first sentence of the comment of the package in a folder, without the package's name.
func synopsis(dir string) (string, error) {
	list, err := filepath.Glob(filepath.Join(dir, "*.go"))
	if err != nil {
		return "", err
	}
	for _, path := range list {
		text, err := os.ReadFile(path)
		if err != nil {
			return "", err
		}
		file, err := parser.ParseFile(token.NewFileSet(), path, text, parser.PackageClauseOnly|parser.ParseComments)
		if err != nil {
			return "", err
		}
		if file.Doc == nil || strings.HasSuffix(path, "_test.go") {
			continue
		}
		sentence, _, _ := strings.Cut(strings.Join(strings.Fields(file.Doc.Text()), " "), ". ")
		sentence, _, _ = strings.Cut(sentence, ": ")
		sentence = strings.TrimPrefix(sentence, "Package "+file.Name.Name+" ")
		sentence, _, _ = strings.Cut(sentence, ", ")
		return strings.TrimSuffix(sentence, "."), nil
	}
	return "", fmt.Errorf("%s has no package comment, which says what the room is", dir)
}
