package engine

import (
	"go/ast"
	"go/doc"
	"go/parser"
	"go/token"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// Each exported name of the package is named on its page, or marked as being for bench, trace and tests.
// So is each method of what a user calls first. None is both, but for the two that the page ends with.
func TestPageNamesWhatUsersCall(t *testing.T) {
	const marker = "For bench, trace and tests."
	paths, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	files := token.NewFileSet()
	var list []*ast.File
	for _, path := range paths {
		if strings.HasSuffix(path, "_test.go") {
			continue
		}
		f, err := parser.ParseFile(files, path, nil, parser.ParseComments)
		if err != nil {
			t.Fatal(err)
		}
		list = append(list, f)
	}
	page, err := doc.NewFromFiles(files, list, "github.com/stencildb/stencildb/engine")
	if err != nil {
		t.Fatal(err)
	}
	named := map[string]bool{}
	for _, m := range regexp.MustCompile(`\[([A-Z]\w*(?:\.\w+)?)\]`).FindAllStringSubmatch(page.Doc, -1) {
		named[m[1]] = true
	}
	there := map[string]bool{}
	check := func(name, comment string) {
		there[name] = true
		isMarked := slices.Contains(strings.Split(comment, "\n"), marker)
		switch ends := name == "Inside" || name == "Inspect"; {
		case !isMarked && !named[name]:
			t.Errorf("%s is neither on the package's page nor marked: %s", name, marker)
		case isMarked && named[name] && !ends:
			t.Errorf("%s is on the package's page, and marked: %s", name, marker)
		case !isMarked && ends:
			t.Errorf("%s is not marked: %s", name, marker)
		}
	}
	values := func(list []*doc.Value) {
		for _, v := range list {
			for _, name := range v.Names {
				if ast.IsExported(name) {
					check(name, v.Doc)
				}
			}
		}
	}
	functions := func(list []*doc.Func) {
		for _, f := range list {
			check(f.Name, f.Doc)
		}
	}
	values(page.Vars)
	values(page.Consts)
	functions(page.Funcs)
	for _, typ := range page.Types {
		check(typ.Name, typ.Doc)
		functions(typ.Funcs)
		values(typ.Vars)
		values(typ.Consts)
		if slices.Contains([]string{"DB", "Statement", "Rows"}, typ.Name) {
			for _, m := range typ.Methods {
				check(typ.Name+"."+m.Name, m.Doc)
			}
		}
	}
	if len(there) < 60 {
		t.Errorf("%d names", len(there))
	}
	for name := range named {
		if !there[name] {
			t.Errorf("the package's page names %s, which is not there", name)
		}
	}
}
