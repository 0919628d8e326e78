package main

import (
	"bytes"
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/stencildb/stencildb/bench/report"
)

var binary string

// The binary is built once, into a folder with a space in its name.
func TestMain(m *testing.M) {
	dir, err := os.MkdirTemp("", "stencildb test ")
	if err == nil {
		binary = filepath.Join(dir, "stencildb")
		build := exec.Command("go", "build", "-buildvcs=false", "-tags", "egl", "-o", binary, ".")
		build.Stderr = os.Stderr
		err = build.Run()
	}
	status := 1
	if err == nil {
		status = m.Run()
	}
	if err := errors.Join(err, os.RemoveAll(dir)); err != nil {
		fmt.Fprintln(os.Stderr, err)
		status = 1
	}
	os.Exit(status)
}

// start runs the binary and returns its streams and exit status.
func start(t *testing.T, args ...string) (out, errOut string, status int) {
	t.Helper()
	var o, e bytes.Buffer
	c := exec.Command(binary, args...)
	c.Stdout, c.Stderr = &o, &e
	var exit *exec.ExitError
	if err := c.Run(); err != nil && !errors.As(err, &exit) {
		t.Fatal(err)
	}
	return o.String(), e.String(), c.ProcessState.ExitCode()
}

func TestExitStatuses(t *testing.T) {
	for _, c := range []struct {
		args   []string
		status int
		out    string
	}{
		{[]string{"query", "--backend", "cpu", "--format", "csv", "SELECT COUNT(*) FROM flights"}, 0, "count\n200000\n"},
		{[]string{"query", "--backend", "cpu", "SELECT COUNT(*) FROM nowhere"}, 1, ""},
		{[]string{"query", "--load", "t=missing.csv", "SELECT COUNT(*) FROM t"}, 1, ""},
		{[]string{"query", "--nosuch"}, 2, ""},
		{[]string{"nosuch"}, 2, ""},
	} {
		out, errOut, status := start(t, c.args...)
		if status != c.status || out != c.out {
			t.Errorf("%v: status %d, output %q, want %d, %q", c.args, status, out, c.status, c.out)
		}
		if failed := status != 0; failed != strings.HasPrefix(errOut, "error: ") || failed && strings.Count(errOut, "\n") != 1 {
			t.Errorf("%v: error output %q", c.args, errOut)
		}
	}
}

// The suite load runs the binary itself, over files that it writes and removes.
func TestBenchOfProcesses(t *testing.T) {
	t.Setenv("TMPDIR", t.TempDir())
	for _, from := range [][]string{{"--rows", "1k"}, {"--load", "t=testdata/flights-200k.parquet", "--table", "t", "--rows", "500"}} {
		args := append([]string{"bench", "--suite", "load", "--backends", "cpu", "--peers", "none", "--rounds", "1", "--format", "json"}, from...)
		out, errOut, status := start(t, args...)
		if status != 0 {
			t.Fatalf("%v: status %d: %s", from, status, errOut)
		}
		r, err := report.ReadJSON(strings.NewReader(out))
		if err != nil {
			t.Fatal(err)
		}
		if len(r.Results) != 4 || len(r.Skipped) > 0 {
			t.Errorf("%v: %d results, left out %v", from, len(r.Results), r.Skipped)
		}
		for _, x := range r.Results {
			if len(x.MS) != 1 || x.CPU[0] <= 0 || len(x.Answer) == 0 {
				t.Errorf("%v: %+v", from, x)
			}
		}
	}
	if left, err := filepath.Glob(filepath.Join(os.TempDir(), "*")); err != nil || len(left) > 0 {
		t.Errorf("left behind are %v (%v)", left, err)
	}
}

// A reader that closes the pipe before anything is written ends the run quietly.
func TestClosedPipe(t *testing.T) {
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := r.Close(); err != nil {
		t.Fatal(err)
	}
	c := exec.Command(binary, "query", "--backend", "cpu", "SELECT COUNT(*) FROM flights")
	var errOut bytes.Buffer
	c.Stdout, c.Stderr = w, &errOut
	if err := errors.Join(c.Run(), w.Close()); err != nil || errOut.Len() > 0 {
		t.Errorf("%v, error output %q", err, errOut.String())
	}
}

// Ctrl-C while a file is being read: the file is a pipe that never ends.
func TestInterrupt(t *testing.T) {
	fifo := filepath.Join(t.TempDir(), "t.csv")
	if err := syscall.Mkfifo(fifo, 0o600); err != nil {
		t.Fatal(err)
	}
	c := exec.Command(binary, "query", "--backend", "cpu", "--load", "t="+fifo, "SELECT COUNT(*) FROM t")
	var out, errOut bytes.Buffer
	c.Stdout, c.Stderr = &out, &errOut
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	// Opening the other end waits until the command has opened its own.
	w, err := os.OpenFile(fifo, os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := w.WriteString("a\n1\n"); err != nil {
		t.Fatal(err)
	}
	if err := c.Process.Signal(os.Interrupt); err != nil {
		t.Fatal(err)
	}
	waited := c.Wait()
	var exit *exec.ExitError
	if !errors.As(waited, &exit) || exit.ExitCode() != 130 || out.Len() > 0 || errOut.String() != "error: interrupted\n" {
		t.Errorf("%v, output %q, error output %q, want status 130 and \"error: interrupted\"", waited, out.String(), errOut.String())
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
}

// The page about the architecture names every room, and only folders that there are.
func TestArchitectureNamesWhatThereIs(t *testing.T) {
	page, err := os.ReadFile("docs/architecture.md")
	if err != nil {
		t.Fatal(err)
	}
	named := regexp.MustCompile("`([a-z]+(?:/[a-z0-9_]+)*(?:/[a-z0-9_]+\\.[a-z]+)?)`").FindAllSubmatch(page, -1)
	files := 0
	for _, n := range named {
		path := string(n[1])
		if !strings.Contains(path, "/") {
			continue // a word
		}
		files++
		if _, err := os.Stat(path); err != nil {
			t.Errorf("%v", err)
		}
	}
	rooms, err := filepath.Glob("*/*.go")
	if err != nil || files < 6 || len(rooms) < 20 {
		t.Errorf("%d files are named of %d: %v", files, len(rooms), err)
	}
	for _, file := range rooms {
		if room := filepath.Dir(file); room != "testdata" && !regexp.MustCompile(`\b`+room+`\b`).Match(page) {
			t.Errorf("%s is not on the page", room)
		}
	}
}

// The glossary of the code has each term once and in order, and names files and exported names that there are.
func TestGlossaryOfTheCodeNamesWhatThereIs(t *testing.T) {
	page, err := os.ReadFile("docs/glossary-code.md")
	if err != nil {
		t.Fatal(err)
	}
	_, rows, _ := strings.Cut(string(page), "|---|---|---|---|\n")
	rows, _, _ = strings.Cut(rows, "\n\n")
	last := ""
	for row := range strings.Lines(rows) {
		cells := strings.Split(strings.Trim(row, "| \n"), " | ")
		if len(cells) != 4 {
			t.Errorf("%d cells, want term, meaning, where, source: %s", len(cells), row)
			continue
		}
		if term := strings.ToLower(cells[0]); term <= last {
			t.Errorf("%q stands behind %q", term, last)
		} else {
			last = term
		}
		folder := map[string]string{} // by the name of the package
		for _, n := range regexp.MustCompile("`([a-z][a-z0-9_/]*\\.go)`").FindAllStringSubmatch(cells[2], -1) {
			if _, err := os.Stat(n[1]); err != nil {
				t.Errorf("%s: %v", cells[0], err)
			}
			folder[filepath.Base(filepath.Dir(n[1]))] = filepath.Dir(n[1])
		}
		for _, n := range regexp.MustCompile("`([a-z]+)\\.([A-Z]\\w*)`").FindAllStringSubmatch(cells[2], -1) {
			declared := regexp.MustCompile(`(?m)^(?:(?:func|type|var|const) |\t)` + n[2] + `\b`)
			files, _ := filepath.Glob(folder[n[1]] + "/*.go")
			if !slices.ContainsFunc(files, func(file string) bool {
				text, err := os.ReadFile(file)
				return err == nil && declared.Match(text)
			}) {
				t.Errorf("%s: no %s.%s in the folder of a file that stands beside it", cells[0], n[1], n[2])
			}
		}
	}
	if last == "" {
		t.Error("no terms")
	}
}

// A name of a file in several folders stands in the glossary of the code, with each of these folders and what the file holds there. Tests, doc.go,
// main.go, what only tests use, and the lessons are not asked.
func TestGlossaryHasFilesOfOneName(t *testing.T) {
	page, err := os.ReadFile("docs/glossary-code.md")
	if err != nil {
		t.Fatal(err)
	}
	_, rows, _ := strings.Cut(string(page), "\n|---|---|\n")
	listed, last := map[string][]string{}, ""
	for row := range strings.Lines(rows) {
		cells := strings.Split(strings.Trim(row, "| \n"), " | ")
		name := strings.Trim(cells[0], "`")
		if len(cells) != 2 || name <= last {
			t.Errorf("want file and what it holds, behind %s: %s", last, row)
			continue
		}
		last = name
		for _, place := range strings.Split(cells[1], "; ") {
			folder, meaning, _ := strings.Cut(place, ": ")
			if meaning == "" {
				t.Errorf("%s: what does it hold in %s?", name, folder)
			}
			listed[name] = append(listed[name], strings.Trim(folder, "`"))
		}
	}
	folders := map[string][]string{}
	err = filepath.WalkDir(".", func(path string, d fs.DirEntry, err error) error {
		switch name := d.Name(); {
		case err != nil:
			return err
		case d.IsDir() && (slices.Contains([]string{"internal", "demos", "testdata"}, path) || strings.HasPrefix(name, ".") && path != "."):
			return fs.SkipDir
		case !d.IsDir() && strings.HasSuffix(name, ".go") && !strings.HasSuffix(name, "_test.go") && name != "doc.go" && name != "main.go":
			folders[name] = append(folders[name], filepath.Dir(path))
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	for name, in := range folders {
		if slices.Sort(in); len(in) > 1 && !slices.Equal(in, listed[name]) {
			t.Errorf("%s is in %v, and listed with %v: name it in docs/glossary-code.md as %s, or give one of them a more exact name", name, in, listed[name], "| `"+name+"` | `folder`: what it holds; ... |")
		}
	}
	for name := range listed {
		if len(folders[name]) < 2 {
			t.Errorf("%s is listed, and in %d folders: take it out of docs/glossary-code.md", name, len(folders[name]))
		}
	}
}

// What a package's page names in brackets is there.
func TestPagesOfPackagesNameWhatThereIs(t *testing.T) {
	var pages []string
	for _, depth := range []string{"*", "*/*", "*/*/*"} {
		list, err := filepath.Glob(depth + "/doc.go")
		if err != nil {
			t.Fatal(err)
		}
		pages = append(pages, list...)
	}
	links := 0
	for _, page := range pages {
		declared, words := map[string]bool{}, ""
		files, err := filepath.Glob(filepath.Dir(page) + "/*.go")
		if err != nil {
			t.Fatal(err)
		}
		for _, path := range files {
			file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.ParseComments)
			if err != nil {
				t.Fatal(err)
			}
			if path == page {
				words = file.Doc.Text()
			}
			for _, d := range file.Decls {
				switch d := d.(type) {
				case *ast.FuncDecl:
					declared[d.Name.Name] = true
				case *ast.GenDecl:
					for _, spec := range d.Specs {
						switch spec := spec.(type) {
						case *ast.TypeSpec:
							declared[spec.Name.Name] = true
						case *ast.ValueSpec:
							for _, name := range spec.Names {
								declared[name.Name] = true
							}
						}
					}
				}
			}
		}
		for _, link := range regexp.MustCompile(`(?m)^[^\t].*`).FindAllString(words, -1) { // a tab begins code
			for _, name := range regexp.MustCompile(`(?:^|[ (])\[\*?(\w+)(?:\.\w+)?\]`).FindAllStringSubmatch(link, -1) {
				if links++; !declared[name[1]] && !strings.Contains(name[0], ".") {
					t.Errorf("%s: there is no %s", page, name[1])
				}
			}
		}
	}
	if len(pages) < 20 || links < 150 {
		t.Errorf("%d names on %d pages", links, len(pages))
	}
}
