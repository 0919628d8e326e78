package main

import (
	"bytes"
	_ "embed"
	"fmt"
	"html/template"
	"image"
	"os"
	"path/filepath"
	"regexp"
	"strings"

	"github.com/stencildb/stencildb/demos/draw"
	"github.com/stencildb/stencildb/demos/lesson"
	"github.com/stencildb/stencildb/demos/lessons"
)

//go:embed page.html
var pageText string

//go:embed style.css
var style string

// page is what page.html shows.
type page struct {
	Title    string
	File     string
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

// listing is a file of a lesson.
type listing struct{ Path, Text string }

// place is a page by its file and its title.
type place struct{ File, Title string }

// write builds the site into a folder: pages and pictures.
func write(root, dir string) error {
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return err
	}
	pages, err := build(root, func(l *lesson.Lesson) (string, error) {
		return play(l, func(name string, img image.Image) error { return draw.WritePNG(filepath.Join(dir, name), img) })
	})
	if err != nil {
		return err
	}
	for name, text := range pages {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o666); err != nil {
			return err
		}
	}
	return nil
}

// play runs a lesson on the software device and returns what it prints.
func play(l *lesson.Lesson, picture func(name string, img image.Image) error) (string, error) {
	var said strings.Builder
	err := l.Play(lesson.Options{Device: "software", Out: &said, Picture: picture})
	return said.String(), err
}

// player runs a lesson and returns what it prints.
type player func(l *lesson.Lesson) (string, error)

// build returns the files of the site by their names; play says what a lesson prints.
func build(root string, play player) (map[string]string, error) {
	files := map[string]string{"style.css": style}
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
		menu = append(menu, place{p.File, p.Title})
	}
	for i, p := range pages {
		p.Lessons = menu
		if i > 0 {
			p.Before = &menu[i-1]
		}
		if i+1 < len(menu) {
			p.After = &menu[i+1]
		}
		var b bytes.Buffer
		if err := t.Execute(&b, p); err != nil {
			return nil, err
		}
		files[p.File] = b.String()
	}
	return files, nil
}

// collect makes all pages, in their order: the index, the lessons, the glossary.
func collect(root string, play player) ([]*page, error) {
	index, err := markdown(root, "demos/README.md")
	if err != nil {
		return nil, err
	}
	pages := []*page{{Title: "Lessons", File: "index.html", Text: index}}
	for _, l := range lessons.All() {
		p, err := lessonPage(root, l, play)
		if err != nil {
			return nil, err
		}
		pages = append(pages, p)
	}
	glossary, err := markdown(root, "demos/GLOSSARY.md")
	if err != nil {
		return nil, err
	}
	return append(pages, &page{Title: "Glossary", File: "glossary.html", Text: glossary}), nil
}

// lessonPage runs a lesson and makes its page.
func lessonPage(root string, l *lesson.Lesson, play player) (*page, error) {
	folder := "demos/" + l.Name + "/"
	text, err := markdown(root, folder+"README.md")
	if err != nil {
		return nil, err
	}
	said, err := play(l)
	if err != nil {
		return nil, err
	}
	p := &page{Title: fmt.Sprintf("%d %s", l.Number, l.Title), File: l.Name + ".html", Text: text,
		Command: "stencildb demo " + l.Name, Output: output(said)}
	p.Measured = strings.Contains(string(p.Output), `class="measured"`)
	entries, err := l.Files.ReadDir(".")
	if err != nil {
		return nil, err
	}
	for _, e := range entries {
		source, err := l.Files.ReadFile(e.Name())
		if err != nil {
			return nil, err
		}
		x := listing{folder + e.Name(), string(source)}
		switch e.Name() {
		case "README.md":
		case "answer.go":
			p.Solution = &x
		default:
			p.Programs = append(p.Programs, x)
		}
	}
	return p, nil
}

var measured = regexp.MustCompile(`\d+\.\d{3} ms( +\d+$)?|llvmpipe \([^)]*\)`)

// output is what a lesson printed as HTML, with what was measured marked.
func output(said string) template.HTML {
	said = template.HTMLEscapeString(strings.TrimSpace(said))
	lines := strings.Split(said, "\n")
	for i, l := range lines {
		lines[i] = measured.ReplaceAllString(l, `<span class="measured">$0</span>`)
	}
	return template.HTML(strings.Join(lines, "\n"))
}
