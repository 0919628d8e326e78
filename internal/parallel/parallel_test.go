package parallel

import (
	"context"
	"errors"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// A panic of one goroutine comes to who waits, once, after the others have ended.
func TestGroupWaitsAndPanics(t *testing.T) {
	var g Group
	ended := make([]bool, 8)
	for i := range ended {
		g.Go(func() {
			ended[i] = true
			if i == 3 {
				var none []int
				_ = none[i]
			}
		})
	}
	p := func() (p *Panic) {
		defer func() { p = Caught(recover()) }()
		g.Wait()
		return nil
	}()
	if p == nil || !strings.Contains(p.Error(), "index out of range") || !strings.Contains(string(p.Stack), "parallel_test.go") {
		t.Errorf("panic %v", p)
	}
	if slices.Contains(ended, false) {
		t.Errorf("ended: %v", ended)
	}
	g.Wait()
}

// In a group of errors a panic is the error of its goroutine: the context of the others ends.
func TestErrorsHaveThePanic(t *testing.T) {
	g, ctx := WithContext(context.Background())
	cause := errors.New("the cause")
	g.Go(func() error { panic(cause) })
	g.Go(func() error {
		<-ctx.Done()
		return ctx.Err()
	})
	err := g.Wait()
	if p := new(Panic); !errors.As(err, &p) || !errors.Is(err, cause) || err.Error() != "panic: the cause" {
		t.Errorf("error %v", err)
	}
	var plain Errors
	plain.Go(func() error { panic("at once") })
	if err := plain.Wait(); err == nil || err.Error() != "panic: at once" {
		t.Errorf("error %v", err)
	}
}

// Of a goroutine for which nobody waits its panic is told.
func TestGoTellsOfThePanic(t *testing.T) {
	told := make(chan *Panic)
	Go(func() { panic("alone") }, func(p *Panic) { told <- p })
	if p := <-told; p.Value != "alone" {
		t.Errorf("told %v", p)
	}
}

// Goroutines of the engine, and of what it calls, are started here alone: elsewhere a panic would end the process. The GL thread and
// the main thread of package glctx catch those of what they run.
func TestNothingElseStartsGoroutines(t *testing.T) {
	apart := []string{"bench", "cmd", "demos", "docs", "internal/gltest", "internal/oracle", "internal/parallel", "testdata"}
	threads := map[string]int{"glctx/main_thread.go": 1, "glctx/context.go": 1}
	files := 0
	err := filepath.WalkDir("../..", func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		name, _ := filepath.Rel("../..", path)
		name = filepath.ToSlash(name)
		if d.IsDir() {
			if slices.Contains(apart, name) || name != "." && strings.HasPrefix(d.Name(), ".") {
				return fs.SkipDir
			}
			return nil
		}
		if !strings.HasSuffix(name, ".go") || strings.HasSuffix(name, "_test.go") {
			return nil
		}
		tree, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		files++
		started := 0
		ast.Inspect(tree, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.GoStmt:
				started++
			case *ast.SelectorExpr:
				if x, ok := n.X.(*ast.Ident); ok && (x.Name == "errgroup" || x.Name == "sync" && n.Sel.Name == "WaitGroup") {
					t.Errorf("%s: %s.%s: take one of package parallel", name, x.Name, n.Sel.Name)
				}
			}
			return true
		})
		if started != threads[name] {
			t.Errorf("%s starts %d goroutines by itself, want %d: take package parallel", name, started, threads[name])
		}
		return nil
	})
	if err != nil || files < 300 {
		t.Errorf("%d files looked at: %v", files, err)
	}
}
