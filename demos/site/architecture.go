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
	{"planning, no GL", []string{"sql", "plan", "cost", "expr"}},
	{"data, no GL", []string{"storage", "generate", "ingest", "table", "sqlstate"}},
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

// checkHouse says what of the imports is not as the floors have it: a room that is on no floor, and an
// import that points up.
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
	const width, band, boxHeight, boxWidth, left = 960, 118, 40, 112, 16
	type place struct{ x, y int }
	at := map[string]place{}
	var b strings.Builder
	fmt.Fprintf(&b, `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %d %d" font-family="sans-serif" font-size="15">`+"\n", width, band*len(floors)+8)
	b.WriteString("<title>The rooms of stencildb, and which imports which</title>\n")
	b.WriteString(`<defs><marker id="tip" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="7" markerHeight="7" orient="auto"><path d="M0 0L8 4L0 8z" fill="#444"/></marker></defs>` + "\n")
	fmt.Fprintf(&b, `<rect width="%d" height="%d" fill="#fff"/>`+"\n", width, band*len(floors)+8)
	for i, f := range floors {
		y := 8 + i*band
		fmt.Fprintf(&b, `<rect x="8" y="%d" width="%d" height="%d" rx="6" fill="#eef2f7"/><text x="%d" y="%d" font-size="13" fill="#444">%s</text>`+"\n",
			y, width-16, 78, left, y+17, html.EscapeString(f.title))
		step := (width - 2*left) / len(f.rooms)
		for j, room := range f.rooms {
			at[room] = place{left + step*j + step/2, y + 28 + boxHeight/2}
		}
	}
	for _, from := range slices.SortedFunc(maps.Keys(at), func(a, b string) int { return cmp.Compare(a, b) }) {
		for _, to := range direct(all, from) {
			p, q := at[from], at[to]
			switch {
			case p.y == q.y: // below the boxes between them
				fmt.Fprintf(&b, `<path d="M%d %dQ%d %d %d %d" fill="none" stroke="#444" marker-end="url(#tip)"/>`+"\n",
					p.x, p.y+boxHeight/2, (p.x+q.x)/2, p.y+boxHeight/2+40, q.x, q.y+boxHeight/2)
			default:
				fmt.Fprintf(&b, `<path d="M%d %dL%d %d" stroke="#444" marker-end="url(#tip)"/>`+"\n", p.x, p.y+boxHeight/2, q.x, q.y-boxHeight/2)
			}
		}
	}
	for _, f := range floors {
		for _, room := range f.rooms {
			p := at[room]
			fmt.Fprintf(&b, `<rect x="%d" y="%d" width="%d" height="%d" rx="4" fill="#fff" stroke="#0b4f8a"/><text x="%d" y="%d" text-anchor="middle" fill="#111">%s</text>`+"\n",
				p.x-boxWidth/2, p.y-boxHeight/2, boxWidth, boxHeight, p.x, p.y+5, room)
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
	return "a folder of packages", nil
}
