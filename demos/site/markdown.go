package main

import (
	"bytes"
	"cmp"
	"html/template"
	"os"
	"path"
	"path/filepath"
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
func markdown(root, file, dir string) (template.HTML, error) {
	source, err := os.ReadFile(filepath.Join(root, file))
	if err != nil {
		return "", err
	}
	doc := reader.Parser().Parse(text.NewReader(source))
	err = ast.Walk(doc, func(n ast.Node, entering bool) (ast.WalkStatus, error) {
		var to *[]byte
		switch n := n.(type) {
		case *ast.Link:
			to = &n.Destination
		case *ast.Image:
			to = &n.Destination
		}
		if entering && to != nil {
			*to = []byte(relink(file, dir, string(*to)))
		}
		return ast.WalkContinue, nil
	})
	if err != nil {
		return "", err
	}
	var b bytes.Buffer
	if err := reader.Renderer().Render(&b, source, doc); err != nil {
		return "", err
	}
	return template.HTML(b.String()), nil
}

// relink returns what a link of a file of the repository is on a page in the folder dir.
func relink(file, dir, link string) string {
	to, fragment, found := strings.Cut(link, "#")
	if to == "" || strings.Contains(to, "://") {
		return link
	}
	// Both are relative to the repository, so there is a way from one to the other.
	to, _ = filepath.Rel(dir, pageOf(path.Join(path.Dir(file), to)))
	to = filepath.ToSlash(to)
	if found {
		to += "#" + fragment
	}
	return to
}

// pageOf returns the page that is made of a file of the repository, or the file itself.
func pageOf(file string) string {
	pages := map[string]string{"docs/README.md": "docs/index.html", "demos/README.md": "docs/lessons/index.html", "demos/GLOSSARY.md": "docs/lessons/glossary.html"}
	for _, l := range lessons.All() {
		pages["demos/"+l.Name+"/README.md"] = "docs/lessons/" + l.Name + ".html"
	}
	return cmp.Or(pages[file], file)
}
