package prose

import (
	"fmt"
	"go/ast"
	"go/doc/comment"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// rooms are the folders whose comments have short sentences. So have those of tests, of names that are not exported, and within functions.
var rooms = []string{"aggregates", "bench", "cmd", "compute", "cost", "cpu", "demos", "driver", "engine", "expr", "fused", "generate", "glctx", "ingest", "internal",
	"occlusion", "papers", "pass", "plan", "predicates", "primitives", "relational", "shaders", "sql", "sqlstate", "storage", "table", "testdata", "textures", "trace"}

func TestDocComments(t *testing.T) {
	for _, room := range rooms {
		var found []string
		files := 0
		err := filepath.WalkDir("../../"+room, func(path string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() || !strings.HasSuffix(path, ".go") {
				return err
			}
			files++
			list, err := long(path)
			found = append(found, list...)
			return err
		})
		if err != nil || files == 0 {
			t.Fatalf("%s: %d files, %v", room, files, err)
		}
		if len(found) > 0 {
			t.Errorf("%s has sentences of more than %d words:\n%s", room, Longest, strings.Join(found, "\n"))
		}
	}
}

// broken matches what gofmt makes of a list's item whose second line begins at the margin: code that begins with a sign.
var broken = regexp.MustCompile(`(?m)^\t- |^ +- .*[a-z,]\n\n[a-z]`)

// long returns the long sentences of a file's comments. What stands before import "C" is C.
func long(path string) (found []string, err error) {
	set := token.NewFileSet()
	file, err := parser.ParseFile(set, path, nil, parser.ParseComments)
	if err != nil || ast.IsGenerated(file) {
		return nil, err
	}
	docs := slices.DeleteFunc(file.Comments, func(c *ast.CommentGroup) bool {
		return slices.ContainsFunc(file.Decls, func(d ast.Decl) bool { g, ok := d.(*ast.GenDecl); return ok && g.Tok == token.IMPORT && g.Doc == c })
	})
	for _, d := range docs {
		if broken.MatchString(d.Text()) {
			found = append(found, fmt.Sprintf("%s: a list has lost the indent of a line", set.Position(d.Pos())))
		}
		for _, text := range paragraphs(d.Text()) {
			for _, s := range Sentences(text) {
				if n := Words(s); n > Longest {
					found = append(found, fmt.Sprintf("%s: %d words: %s", set.Position(d.Pos()), n, strings.Join(strings.Fields(s), " ")))
				}
			}
		}
	}
	return found, nil
}

// paragraphs are those of a doc comment, and the items of its lists. Code is left out.
func paragraphs(text string) (list []string) {
	var p comment.Parser
	var blocks func([]comment.Block)
	blocks = func(all []comment.Block) {
		for _, b := range all {
			switch b := b.(type) {
			case *comment.Paragraph:
				list = append(list, plain(b.Text))
			case *comment.List:
				for _, item := range b.Items {
					blocks(item.Content)
				}
			}
		}
	}
	blocks(p.Parse(text).Content)
	return list
}

// plain is a text without its links.
func plain(all []comment.Text) string {
	var b strings.Builder
	for _, x := range all {
		switch x := x.(type) {
		case comment.Plain:
			b.WriteString(string(x))
		case comment.Italic:
			b.WriteString(string(x))
		case *comment.Link:
			b.WriteString(plain(x.Text))
		case *comment.DocLink:
			b.WriteString(plain(x.Text))
		}
	}
	return b.String()
}

func TestWordsAreCounted(t *testing.T) {
	for text, want := range map[string]bool{"  - one\n    two\n  - three\n": false, "  - one\n\ntwo three.\n": true, "two\n\n\t- three\n": true} {
		if broken.MatchString(text) != want {
			t.Errorf("%q: broken is not %v", text, want)
		}
	}
	var counts []int
	for _, p := range paragraphs("One two. Three [four] - five?\n\n\tcode is no text\n\nA list:\n\n  - six seven\n  - eight\n\nNine (e.g. ten)\n") {
		for _, s := range Sentences(p) {
			if n := Words(s); n > 0 {
				counts = append(counts, n)
			}
		}
	}
	if diff := cmp.Diff(counts, []int{2, 3, 2, 2, 1, 3}); diff != "" {
		t.Error(diff)
	}
}
