package main

import (
	_ "embed"
	"html/template"
	"image"
	"io"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/stencildb/stencildb/demos"
	"github.com/stencildb/stencildb/demos/lesson"
	"github.com/stencildb/stencildb/demos/lessons"
	"github.com/stencildb/stencildb/internal/files"
)

//go:embed page.html
var pageText string

//go:embed style.css
var style string

// page is what page.html shows.
type page struct {
	Title    string
	Number   int    // of a lesson, 0 for other pages
	File     string // from the folder of the site
	Base     string // the way from the page to the lessons' folder
	Text     template.HTML
	Command  string
	Output   template.HTML // what the program prints
	Measured bool          // some of it was measured
	Programs []listing
	Solution *listing
	Before   *place // the page before and the one after
	After    *place
	Lessons  []place // for the navigation
}

// Is reports whether the page is at a place.
func (p *page) Is(at place) bool { return p.File == folder+at.File }

type listing struct{ Path, Text string }

// place is a page among the lessons by its file and its title, a lesson's with its number.
type place struct {
	File   string
	Number int // 0 for none
	Title  string
}

// folder of the lessons in the site.
const folder = "lessons/"

// write builds the site into a folder: pages, and pictures by way of play.
func write(root, dir string, play player) error {
	if err := os.MkdirAll(filepath.Join(dir, folder), 0o777); err != nil {
		return err
	}
	pages, err := build(root, play)
	if err != nil {
		return err
	}
	for name, text := range pages {
		if err := update(filepath.Join(dir, name), text); err != nil {
			return err
		}
	}
	return nil
}

// update writes a page, unless the one that is there differs in what was measured alone.
func update(path, text string) error {
	have, err := os.ReadFile(path)
	if err == nil && slices.Equal(steady(string(have)), steady(text)) {
		return nil
	}
	return files.Write(path, func(w io.Writer) error {
		_, err := io.WriteString(w, text)
		return err
	})
}

var (
	measurement = regexp.MustCompile(`<span class="measured">[^<]*</span>`)
	blanks      = regexp.MustCompile(`[ \n]+`)
)

// steady is a page without what was measured, and without where lines break because
// of that.
func steady(page string) []string {
	page = blanks.ReplaceAllString(measurement.ReplaceAllString(page, ""), " ")
	return strings.SplitAfter(page, "> ")
}

// play runs a lesson on the software device and returns what it prints.
func play(l *lesson.Lesson, picture func(name string, img image.Image) error) (string, error) {
	var said strings.Builder
	err := l.Play(lesson.Options{Device: "software", Out: &said, Picture: picture})
	return said.String(), err
}

// player runs a lesson and returns what it prints.
type player func(l *lesson.Lesson) (string, error)

// build returns the files of the site but for pictures, by their names from its folder;
// play says what a lesson prints.
func build(root string, play player) (map[string]string, error) {
	t, err := template.New("page").Parse(pageText)
	if err != nil {
		return nil, err
	}
	pages, err := collect(root, play)
	if err != nil {
		return nil, err
	}
	var menu []place
	for _, p := range pages {
		menu = append(menu, place{path.Base(p.File), p.Number, p.Title})
	}
	for i, p := range pages {
		if i > 0 {
			p.Before = &menu[i-1]
		}
		if i+1 < len(menu) {
			p.After = &menu[i+1]
		}
	}
	front, err := markdown(root, "docs/README.md", "docs")
	if err != nil {
		return nil, err
	}
	site := map[string]string{folder + "style.css": style}
	for _, p := range append(pages, &page{Title: "stencildb", File: "index.html", Base: folder, Text: front}) {
		p.Lessons = menu
		var b strings.Builder
		if err := t.Execute(&b, p); err != nil {
			return nil, err
		}
		site[p.File] = b.String()
	}
	return site, nil
}

// collect makes the pages of the lessons, in their order: the index, the lessons, the glossary.
func collect(root string, play player) ([]*page, error) {
	index, err := markdown(root, "demos/README.md", "docs/lessons")
	if err != nil {
		return nil, err
	}
	glossary, err := markdown(root, "demos/GLOSSARY.md", "docs/lessons")
	if err != nil {
		return nil, err
	}
	pages := []*page{{Title: "Lessons", File: folder + "index.html", Text: index}}
	for _, l := range lessons.All() {
		p, err := lessonPage(root, l, play)
		if err != nil {
			return nil, err
		}
		pages = append(pages, p)
	}
	return append(pages, &page{Title: "Glossary", File: folder + "glossary.html", Text: glossary}), nil
}

func lessonPage(root string, l *lesson.Lesson, play player) (*page, error) {
	sources := "demos/" + l.Name + "/"
	text, err := markdown(root, sources+"README.md", "docs/lessons")
	if err != nil {
		return nil, err
	}
	said, err := play(l)
	if err != nil {
		return nil, err
	}
	p := &page{Title: l.Title, Number: l.Number, File: folder + l.Name + ".html", Text: text,
		Command: "stencildb demo " + l.Name, Output: output(said)}
	p.Measured = strings.Contains(string(p.Output), `class="measured"`)
	entries, err := demos.Files.ReadDir(l.Name)
	if err != nil {
		return nil, err
	}
	for _, e := range entries {
		source, err := demos.Files.ReadFile(l.Name + "/" + e.Name())
		if err != nil {
			return nil, err
		}
		x := listing{sources + e.Name(), string(source)}
		switch {
		case e.Name() == "answer.go":
			p.Solution = &x
		case e.Name() != "README.md" && !strings.HasSuffix(e.Name(), "_test.go"):
			p.Programs = append(p.Programs, x)
		}
	}
	return p, nil
}

var measured = regexp.MustCompile(`(?m)\d+\.\d{3} ms( +\d+$)?|llvmpipe \([^)]*\)`)

// output is what a lesson printed as HTML, with what was measured marked.
func output(said string) template.HTML {
	said = template.HTMLEscapeString(strings.TrimSpace(said))
	return template.HTML(measured.ReplaceAllString(said, `<span class="measured">$0</span>`))
}
