package main

import (
	"bytes"
	"cmp"
	"fmt"
	"html/template"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"strings"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/extension"
	"github.com/yuin/goldmark/parser"
	"github.com/yuin/goldmark/text"

	"github.com/stencildb/stencildb/demos/lessons"
)

var reader = goldmark.New(goldmark.WithExtensions(extension.Table), goldmark.WithParserOptions(parser.WithAutoHeadingID()))

// markdown turns a file of the repository into HTML for a page in the folder dir of it.
// A link to what is no part of the site is left out; its words stay.
func markdown(root, file, dir string) (template.HTML, error) {
	source, err := os.ReadFile(filepath.Join(root, file))
	if err != nil {
		return "", err
	}
	doc := reader.Parser().Parse(text.NewReader(source))
	var outside []*ast.Link
	err = ast.Walk(doc, func(n ast.Node, entering bool) (ast.WalkStatus, error) {
		if !entering {
			return ast.WalkContinue, nil
		}
		switch n := n.(type) {
		case *ast.Link:
			if to, ok := relink(file, dir, string(n.Destination)); ok {
				n.Destination = []byte(to)
			} else {
				outside = append(outside, n)
			}
		case *ast.Image:
			to, ok := relink(file, dir, string(n.Destination))
			if !ok {
				return ast.WalkStop, fmt.Errorf("%s shows %s, which is not in docs", file, n.Destination)
			}
			n.Destination = []byte(to)
		}
		return ast.WalkContinue, nil
	})
	if err != nil {
		return "", err
	}
	for _, link := range outside {
		for c := link.FirstChild(); c != nil; c = link.FirstChild() {
			link.Parent().InsertBefore(link.Parent(), link, c)
		}
		link.Parent().RemoveChild(link.Parent(), link)
	}
	return render(source, doc)
}

// short matches code that a line holds, within a text.
var short = regexp.MustCompile(`<code>([^<\n]{1,32})</code>`)

// render writes a parsed text as HTML.
func render(source []byte, doc ast.Node) (template.HTML, error) {
	var b bytes.Buffer
	err := reader.Renderer().Render(&b, source, doc)
	return template.HTML(short.ReplaceAllString(b.String(), `<code class="short">$1</code>`)), err
}

// inline turns a paragraph into HTML, without the paragraph.
func inline(paragraph string) (template.HTML, error) {
	html, err := render([]byte(paragraph), reader.Parser().Parse(text.NewReader([]byte(paragraph))))
	return template.HTML(strings.TrimSuffix(strings.TrimPrefix(string(html), "<p>"), "</p>\n")), err
}

// titleOf returns the heading of a text.
func titleOf(root, file string) (string, error) {
	source, err := os.ReadFile(filepath.Join(root, file))
	if err != nil {
		return "", err
	}
	line, _, _ := strings.Cut(string(source), "\n")
	title, ok := strings.CutPrefix(line, "# ")
	if !ok {
		return "", fmt.Errorf("%s does not begin with its title", file)
	}
	return strings.ReplaceAll(title, "`", ""), nil
}

// relink returns what a link of a file of the repository becomes on a page in the folder dir. It is false
// where the target is no part of the site.
func relink(file, dir, link string) (string, bool) {
	to, fragment, found := strings.Cut(link, "#")
	if to == "" || strings.Contains(to, "://") {
		return link, true
	}
	page := pageOf(path.Join(path.Dir(file), to))
	if !strings.HasPrefix(page, "docs/") {
		return "", false
	}
	// Both are relative to the repository, so there is a way from one to the other.
	to, _ = filepath.Rel(dir, page)
	to = filepath.ToSlash(to)
	if found {
		to += "#" + fragment
	}
	return to, true
}

// pageOf returns the page that is made of a file of the repository, or the file itself.
func pageOf(file string) string {
	pages := map[string]string{"docs/README.md": "docs/index.html", "demos/README.md": "docs/lessons/index.html", "demos/GLOSSARY.md": "docs/lessons/glossary.html",
		"demos/evalcnf/README.md": "docs/lessons/evalcnf.html"}
	for _, l := range lessons.All() {
		pages["demos/"+l.Name+"/README.md"] = "docs/lessons/" + l.Name + ".html"
	}
	if name, ok := strings.CutSuffix(file, ".md"); ok && strings.HasPrefix(file, "docs/") {
		return cmp.Or(pages[file], name+".html")
	}
	return cmp.Or(pages[file], file)
}
