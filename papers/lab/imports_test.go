package lab_test

import (
	"go/parser"
	"go/token"
	"io/fs"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// Imports point one way. Package bench, and the tests, import papers, which import lab, scan and what is below the engine. No paper
// imports another one, and nothing else imports any. Of lab what bench takes, the data and the clock, imports no paper.
func TestImportsPointOneWay(t *testing.T) {
	const module = "github.com/stencildb/stencildb/"
	root := filepath.Join("..", "..")
	seen := 0
	err := filepath.WalkDir(root, func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() && (strings.HasPrefix(d.Name(), ".") && name != root || d.Name() == "testdata") {
			if err == nil {
				err = fs.SkipDir
			}
			return err
		}
		if d.IsDir() || !strings.HasSuffix(name, ".go") || strings.HasSuffix(name, "_test.go") {
			return nil
		}
		f, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.ImportsOnly)
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(root, filepath.Dir(name))
		if err != nil {
			return err
		}
		from := filepath.ToSlash(rel)
		for _, i := range f.Imports {
			to, err := strconv.Unquote(i.Path.Value)
			if err != nil {
				return err
			}
			to, ours := strings.CutPrefix(to, module)
			if !ours {
				continue
			}
			shared := slices.Contains([]string{"papers/lab", "papers/scan"}, to)
			switch paper := strings.HasPrefix(to, "papers/"); {
			case strings.HasPrefix(from, "papers/"):
				seen++
				if slices.Contains([]string{"engine", "bench", "cmd", "sql", "server", "driver", "relational", "compute", "cpu"}, strings.Split(to, "/")[0]) || paper && !shared || paper && path.Base(from) == "lab" {
					t.Errorf("%s imports %s", name, to)
				}
			case paper && from != "bench" && !strings.HasPrefix(from, "bench/"):
				t.Errorf("%s imports %s", name, to)
			}
		}
		return nil
	})
	if err != nil || seen == 0 {
		t.Errorf("%v, %d imports of papers", err, seen)
	}
}
