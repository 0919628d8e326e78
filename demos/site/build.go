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
	Before   *page // the page before and the one after
	After    *page
	Lessons  []*page // for the navigation

	source string         // its text, from the root of the repository
	lesson *lesson.Lesson // nil for other pages
}

// Name is the page's file in the lessons' folder.
func (p *page) Name() string { return path.Base(p.File) }

type listing struct{ Path, Text string }

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
	pages := []*page{{Title: "Lessons", File: folder + "index.html", source: "demos/README.md"}}
	for _, l := range lessons.All() {
		pages = append(pages, &page{Title: l.Title, Number: l.Number, File: folder + l.Name + ".html", Command: "stencildb demo " + l.Name,
			source: "demos/" + l.Name + "/README.md", lesson: l})
	}
	pages = append(pages, &page{Title: "Glossary", File: folder + "glossary.html", source: "demos/GLOSSARY.md"})
	for i, p := range pages[1:] {
		p.Before, pages[i].After = pages[i], p
	}
	site := map[string]string{folder + "style.css": style}
	for _, p := range append(pages, &page{Title: "stencildb", File: "index.html", Base: folder, source: "docs/README.md"}) {
		p.Lessons = pages
		if err := p.fill(root, play); err != nil {
			return nil, err
		}
		var b strings.Builder
		if err := t.Execute(&b, p); err != nil {
			return nil, err
		}
		site[p.File] = b.String()
	}
	return site, nil
}

// fill sets the text of the page, and of a lesson's what it prints and its programs.
func (p *page) fill(root string, play player) (err error) {
	if p.Text, err = markdown(root, p.source, path.Dir("docs/"+p.File)); err != nil || p.lesson == nil {
		return err
	}
	said, err := play(p.lesson)
	if err != nil {
		return err
	}
	p.Output = output(said)
	p.Measured = strings.Contains(string(p.Output), `class="measured"`)
	entries, err := demos.Files.ReadDir(p.lesson.Name)
	if err != nil {
		return err
	}
	for _, e := range entries {
		source, err := demos.Files.ReadFile(p.lesson.Name + "/" + e.Name())
		if err != nil {
			return err
		}
		x := listing{path.Dir(p.source) + "/" + e.Name(), string(source)}
		switch {
		case e.Name() == "answer.go":
			p.Solution = &x
		case e.Name() != "README.md" && !strings.HasSuffix(e.Name(), "_test.go"):
			p.Programs = append(p.Programs, x)
		}
	}
	return nil
}

var measured = regexp.MustCompile(`(?m)\d+\.\d{3} ms( +\d+$)?|llvmpipe \([^)]*\)`)

// output is what a lesson printed as HTML, with what was measured marked.
func output(said string) template.HTML {
	said = template.HTMLEscapeString(strings.TrimSpace(said))
	return template.HTML(measured.ReplaceAllString(said, `<span class="measured">$0</span>`))
}
