package main

import (
	"context"
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
	"github.com/stencildb/stencildb/demos/draw"
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
	Title     string
	Number    int    // of a lesson, 0 for other pages
	File      string // from the folder of the site
	Home      string // the way from the page to the site's folder: "" or "../"
	Head      template.HTML
	Text      template.HTML // after the figure
	Figure    string        // of which lesson the live figure is, if there is one
	Front     *front        // of the front page alone
	Command   string
	Output    template.HTML // what the program prints
	Measured  bool          // some of it was measured
	Timed     bool          // times were
	Programs  []listing
	Solution  *listing
	Exercises []exercise
	Before    *page // the page before and the one after
	After     *page
	Lessons   []*page // for the navigation

	source string         // its text, from the root of the repository
	lesson *lesson.Lesson // nil for other pages
}

// Count is how many exercises a lesson's page has.
func (p *page) Count() int {
	if p.lesson == nil {
		return 0
	}
	return len(p.lesson.Exercises)
}

// Trace is the trace of a lesson's query.
func (p *page) Trace() *lesson.Trace {
	if p.lesson == nil {
		return nil
	}
	return &p.lesson.Trace
}

// Name is the lesson's, or that of the page's file without its ending.
func (p *page) Name() string { return strings.TrimSuffix(path.Base(p.File), ".html") }

type listing struct{ Path, Text string }

// exercise is one on the page, and what its answers are judged by.
type exercise struct {
	Number int
	Ask    template.HTML
	Key    *lesson.Key
}

// folder of the lessons in the site.
const folder = "lessons/"

// write builds the site into a folder: pages, and pictures by way of play.
func write(root, dir string, play player) error {
	pages, err := build(root, play)
	if err != nil {
		return err
	}
	for name, text := range pages {
		if err := os.MkdirAll(filepath.Dir(filepath.Join(dir, name)), 0o777); err != nil {
			return err
		}
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
	site, err := scripts()
	if err != nil {
		return nil, err
	}
	site[folder+"style.css"] = draw.CSS() + style
	pages := []*page{{Title: "Lessons", File: folder + "index.html", source: "demos/README.md"}}
	for _, l := range lessons.All() {
		pages = append(pages, &page{Title: l.Title, Number: l.Number, File: folder + l.Name + ".html", Figure: l.Name, Command: "stencildb demo " + l.Name,
			source: "demos/" + l.Name + "/README.md", lesson: l})
	}
	pages = append(pages, &page{Title: "Glossary", File: folder + "glossary.html", source: "demos/GLOSSARY.md"})
	for i, p := range pages[1:] {
		p.Before, pages[i].After = pages[i], p
	}
	numbers, err := headlines(root)
	if err != nil {
		return nil, err
	}
	others, err := textPages(root)
	if err != nil {
		return nil, err
	}
	others = append(others, &page{Title: "stencildb", File: "index.html", source: "docs/README.md", Figure: "predicate", Front: numbers})
	for _, p := range slices.Concat(pages, others) {
		p.Lessons = pages
		p.Home = strings.Repeat("../", strings.Count(p.File, "/"))
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

// textPages returns a page for each text in docs that is not a page of another kind, and for
// the one of demos/evalcnf.
func textPages(root string) (list []*page, err error) {
	for _, pattern := range []string{"docs/*.md", "docs/*/*.md", "demos/evalcnf/README.md"} {
		found, err := filepath.Glob(filepath.Join(root, pattern))
		if err != nil {
			return nil, err
		}
		for _, file := range found {
			file, err := filepath.Rel(root, file)
			if err != nil {
				return nil, err
			}
			source := filepath.ToSlash(file)
			if source == "docs/README.md" {
				continue
			}
			title, err := titleOf(root, source)
			if err != nil {
				return nil, err
			}
			list = append(list, &page{Title: title, File: strings.TrimPrefix(pageOf(source), "docs/"), source: source})
		}
	}
	return list, nil
}

// fill sets the text of the page, and of a lesson's what it prints, its programs and its
// exercises.
func (p *page) fill(root string, play player) error {
	text, err := markdown(root, p.source, path.Dir("docs/"+p.File))
	if err != nil {
		return err
	}
	p.Head, p.Text = p.cut(text)
	if p.lesson == nil {
		return nil
	}
	said, err := play(p.lesson)
	if err != nil {
		return err
	}
	p.Output = output(said)
	p.Measured = strings.Contains(string(p.Output), `class="measured"`)
	p.Timed = strings.Contains(said, " ms")
	for i, e := range p.lesson.Exercises {
		key, err := e.Key(context.Background())
		if err != nil {
			return err
		}
		ask, err := inline(e.Ask)
		if err != nil {
			return err
		}
		p.Exercises = append(p.Exercises, exercise{i + 1, ask, key})
	}
	for _, name := range []string{p.lesson.Name + ".go", "answer.go"} {
		source, err := demos.Files.ReadFile(p.lesson.Name + "/" + name)
		if err != nil {
			return err
		}
		x := listing{path.Dir(p.source) + "/" + name, string(source)}
		if name == "answer.go" {
			p.Solution = &x
		} else {
			p.Programs = append(p.Programs, x)
		}
	}
	return nil
}

// cut cuts a text where the live figure comes: behind the first picture of a lesson's,
// behind the first paragraph of the front page's. The last section of a lesson's says
// where the exercises are, and goes.
func (p *page) cut(text template.HTML) (head, rest template.HTML) {
	before, after := "", "</p>\n"
	switch {
	case p.Figure == "":
		return "", text
	case p.lesson != nil:
		before = "<p><img "
		text = text[:strings.Index(string(text), `<h2 id="exercises">`)]
	}
	at := strings.Index(string(text), before)
	end := at + strings.Index(string(text[at:]), after) + len(after)
	return text[:end], text[end:]
}

var measured = regexp.MustCompile(`(?m)\d+\.\d{3} ms( +\d+$)?|llvmpipe \([^)]*\)`)

// output is what a lesson printed as HTML, with what was measured marked.
func output(said string) template.HTML {
	said = template.HTMLEscapeString(strings.TrimSpace(said))
	return template.HTML(measured.ReplaceAllString(said, `<span class="measured">$0</span>`))
}
