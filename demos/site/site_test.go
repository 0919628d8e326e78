package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"image"
	"image/png"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/sync/errgroup"

	"github.com/stencildb/stencildb/cmd"
	"github.com/stencildb/stencildb/demos/lesson"
	"github.com/stencildb/stencildb/demos/lessons"
	"github.com/stencildb/stencildb/internal/numbers"
)

// root is the repository, seen from this package.
const root = "../.."

const committed = root + "/docs"

// The pages in docs/lessons are what the texts and the programs make, but for what
// was measured; the pictures are what the programs draw.
func TestCommittedPagesAreUpToDate(t *testing.T) {
	all := playAll(t)
	files, err := build(root, func(l *lesson.Lesson) (string, error) { return all[l.Name].said, nil })
	if err != nil {
		t.Fatal(err)
	}
	for name, text := range files {
		have, err := os.ReadFile(filepath.Join(committed, name))
		if err != nil {
			t.Errorf("%v: run make docs", err)
			continue
		}
		if diff := cmp.Diff(steady(text), steady(string(have))); diff != "" {
			t.Errorf("%s is not what its sources make: run make docs\n%s", name, diff)
		}
	}
	for _, l := range lessons.All() {
		if len(all[l.Name].pictures) == 0 {
			t.Errorf("lesson %s draws no picture", l.Name)
		}
		for name, img := range all[l.Name].pictures {
			files[folder+name] = ""
			samePicture(t, img, filepath.Join(committed, folder, name))
		}
	}
	for _, name := range names(t, committed+"/"+folder) {
		if _, ok := files[folder+name]; !ok {
			t.Errorf("docs/lessons/%s belongs to no lesson", name)
		}
	}
}

// played is what came of a lesson.
type played struct {
	said     string
	pictures map[string]*image.Paletted
}

// playAll plays the lessons, two at a time.
func playAll(t *testing.T) map[string]*played {
	t.Helper()
	all := map[string]*played{}
	var g errgroup.Group
	g.SetLimit(2)
	for _, l := range lessons.All() {
		p := &played{pictures: map[string]*image.Paletted{}}
		all[l.Name] = p
		g.Go(func() (err error) {
			p.said, err = play(l, func(name string, img image.Image) error {
				p.pictures[name] = img.(*image.Paletted)
				return nil
			})
			return err
		})
	}
	if err := g.Wait(); err != nil {
		t.Fatal(err)
	}
	return all
}

func names(t *testing.T, dir string) (list []string) {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		list = append(list, e.Name())
	}
	return list
}

// samePicture compares a picture with a committed one, and sees that its file is small.
func samePicture(t *testing.T, made *image.Paletted, have string) {
	t.Helper()
	st, err := os.Stat(have)
	if err != nil {
		t.Errorf("%v: run make docs", err)
		return
	}
	if st.Size() > 200_000 {
		t.Errorf("%s has %d bytes", have, st.Size())
	}
	if b := decode(t, have); made.Rect != b.Rect || !bytes.Equal(made.Pix, b.Pix) {
		t.Errorf("%s is not what the lesson draws: run make docs", have)
	}
}

func decode(t *testing.T, file string) *image.Paletted {
	t.Helper()
	r, err := os.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	img, err := png.Decode(r)
	if err != nil {
		t.Fatal(err)
	}
	p, ok := img.(*image.Paletted)
	if !ok {
		t.Fatalf("%s is a %T, want a palette", file, img)
	}
	return p
}

// A page that differs in what was measured alone stays as it is.
func TestPagesAreWrittenWhenSomethingElseThanTimesChanges(t *testing.T) {
	dir := t.TempDir()
	made := func(took string) map[string]string {
		t.Helper()
		err := write(root, dir, func(l *lesson.Lesson) (string, error) {
			return "It took   " + took + " ms on the\nmachine (llvmpipe (LLVM " + took + ")).", nil
		})
		if err != nil {
			t.Fatal(err)
		}
		have := map[string]string{"index.html": read(t, dir+"/index.html")}
		for _, name := range names(t, dir+"/"+folder) {
			have[folder+name] = read(t, dir+"/"+folder+name)
		}
		return have
	}
	first := made("1.234")
	if len(first) != 2*len(lessons.All())+9 || !strings.Contains(first[folder+"kth.html"], ">1.234 ms<") {
		t.Fatalf("%d files, %.300s", len(first), first[folder+"kth.html"])
	}
	if diff := cmp.Diff(first, made("123.456")); diff != "" {
		t.Errorf("pages have changed with the times:\n%s", diff)
	}
	edited := strings.Replace(first[folder+"kth.html"], "</h1>", " indeed</h1>", 1)
	if err := os.WriteFile(dir+"/"+folder+"kth.html", []byte(edited), 0o600); err != nil {
		t.Fatal(err)
	}
	if again := made("123.456")[folder+"kth.html"]; strings.Contains(again, "indeed") || !strings.Contains(again, ">123.456 ms<") {
		t.Errorf("another text stays: %.300s", again)
	}
}

var (
	reference = regexp.MustCompile(`(?:href|src)="([^"]*)"`)
	anchor    = regexp.MustCompile(`id="([^"]*)"`)
)

func TestLinksOfThePages(t *testing.T) {
	pages, err := build(root, func(*lesson.Lesson) (string, error) { return "", nil })
	if err != nil {
		t.Fatal(err)
	}
	for name := range pages {
		if path.Ext(name) != ".html" {
			delete(pages, name)
		}
	}
	ids := map[string]bool{}
	for name := range pages {
		for _, m := range anchor.FindAllStringSubmatch(read(t, committed+"/"+name), -1) {
			ids[name+"#"+m[1]] = true
		}
	}
	for name := range pages {
		for _, m := range reference.FindAllStringSubmatch(read(t, committed+"/"+name), -1) {
			file, fragment, found := strings.Cut(m[1], "#")
			if strings.Contains(file, ":") {
				t.Errorf("%s needs the network: %s", name, m[1])
				continue
			}
			if path.Ext(file) == ".md" {
				t.Errorf("%s links to %s, which no browser shows as a page", name, m[1])
			}
			if file == "" {
				file = path.Base(name)
			}
			file = path.Join(path.Dir(name), file)
			if st, err := os.Stat(committed + "/" + file); err != nil || st.IsDir() {
				t.Errorf("%s links to %s, which is no file", name, m[1])
			}
			if found && !ids[file+"#"+fragment] {
				t.Errorf("%s links to %s: there is no such place on that page", name, m[1])
			}
		}
	}
}

func read(t *testing.T, file string) string {
	t.Helper()
	b, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// texts returns the Markdown files of the lessons, from the root.
func texts() []string {
	list := []string{"docs/README.md", "demos/README.md", "demos/GLOSSARY.md", "demos/evalcnf/README.md"}
	for _, l := range lessons.All() {
		list = append(list, "demos/"+l.Name+"/README.md")
	}
	return list
}

var markdownLink = regexp.MustCompile(`\]\(([^)#]*)[^)]*\)`)

// The texts are read where they lie too.
func TestLinksOfTheTexts(t *testing.T) {
	for _, file := range texts() {
		for _, m := range markdownLink.FindAllStringSubmatch(read(t, root+"/"+file), -1) {
			if _, err := os.Stat(filepath.Join(root, path.Dir(file), m[1])); err != nil && !strings.Contains(m[1], "://") {
				t.Errorf("%s links to %s, which is not there", file, m[1])
			}
		}
	}
}

func TestEachLessonHasItsParts(t *testing.T) {
	index := read(t, root+"/demos/README.md")
	for i, l := range lessons.All() {
		text := read(t, root+"/demos/"+l.Name+"/README.md")
		if l.Number != i+1 || !strings.HasPrefix(text, fmt.Sprintf("# Lesson %d: %s\n", l.Number, l.Title)) {
			t.Errorf("lesson %s is number %d of the list; its page begins %.40q", l.Name, i+1, text)
		}
		for _, want := range []string{"](../../docs/lessons/" + l.Name + "-", "What to look at", "## Exercises", "--answer 2=ANSWER", "](../GLOSSARY.md#", "./stencildb demo " + l.Name + "\n"} {
			if !strings.Contains(text, want) {
				t.Errorf("the page of lesson %s lacks %q", l.Name, want)
			}
		}
		if !strings.Contains(index, "["+l.Title+"]("+l.Name+"/README.md)") {
			t.Errorf("the index lacks lesson %s", l.Name)
		}
		if n := strings.Count(read(t, root+"/demos/"+l.Name+"/"+l.Name+".go"), "\n"); n >= 150 {
			t.Errorf("the program of lesson %s has %d lines", l.Name, n)
		}
	}
}

// The committed traces are of the statements that they are said to be of.
func TestTraces(t *testing.T) {
	for _, trace := range traces() {
		sql, err := json.Marshal(trace.SQL)
		if err != nil {
			t.Fatal(err)
		}
		for _, want := range []string{`"sql":` + string(sql), `"backend":"` + trace.Backend + `"`} {
			if !strings.Contains(read(t, committed+"/traces/"+trace.Name+".html"), want) {
				t.Errorf("docs/traces/%s.html lacks %s: run make traces", trace.Name, want)
			}
		}
	}
}

// Figures that several pages quote have one source, the committed run of the paper's figures, and stand in the pages as it has them.
func TestFiguresHaveOneSource(t *testing.T) {
	list, err := readFigures(root)
	if err != nil {
		t.Fatal(err)
	}
	quotes, names := map[string]int{}, map[string]bool{}
	for _, x := range list {
		if err := x.check(root); err != nil || names[x.Name] || x.What == "" {
			t.Errorf("%s: %v", x.Name, err)
		}
		if names[x.Name] = true; x.Front == "" && len(x.Quoted) == 0 {
			t.Errorf("no page quotes %s", x.Name)
		}
		for _, q := range x.Quoted {
			quotes[q.File]++
			if want := strings.Replace(q.Text, "{}", x.Value, 1); !strings.Contains(q.Text, "{}") || !strings.Contains(read(t, filepath.Join(root, q.File)), want) {
				t.Errorf("%s does not say %q of %s", q.File, want, x.Name)
			}
		}
	}
	// Nobody types another time into a lesson, but an estimate that is called one.
	for _, l := range lessons.All() {
		file := "demos/" + l.Name + "/README.md"
		text := read(t, root+"/"+file)
		for _, x := range list {
			for _, q := range x.Quoted {
				if q.File == file {
					text = strings.ReplaceAll(text, strings.Replace(q.Text, "{}", x.Value, 1), "")
				}
			}
		}
		for _, line := range strings.Split(text, "\n") {
			if regexp.MustCompile(`[0-9] (ms|µs|s|seconds|milliseconds)\b`).MatchString(line) && !strings.Contains(line, "estimate") {
				t.Errorf("%s has a time that is not in %s: %s", file, figuresFile, line)
			}
		}
	}
	for file, least := range map[string]int{"demos/planes/README.md": 8, "demos/sum/README.md": 3} {
		if quotes[file] < least {
			t.Errorf("%d figures of %s have a source", quotes[file], file)
		}
	}
	f, err := headlines(root)
	if err != nil || len(f.Machines) != 2 || len(f.Machines[0].Times) != 3 || f.Machines[0].Rows != "268,435,456" || f.Machines[1].Report != "paper-llvmpipe" {
		t.Errorf("the front page has %+v (%v)", f, err)
	}
}

func TestGlossaryIsInOrder(t *testing.T) {
	var terms []string
	for _, line := range strings.Split(read(t, root+"/demos/GLOSSARY.md"), "\n") {
		if term, ok := strings.CutPrefix(line, "### "); ok {
			terms = append(terms, term)
		}
	}
	if len(terms) < 30 || !slices.IsSorted(terms) {
		t.Errorf("terms: %v", terms)
	}
}

var block = regexp.MustCompile("(?s)```sh\n(.*?)```")

// Every command in the texts runs.
func TestCommandsOfTheTexts(t *testing.T) {
	var commands []string
	for _, file := range texts() {
		for _, m := range block.FindAllStringSubmatch(read(t, root+"/"+file), -1) {
			for _, c := range strings.Split(strings.TrimSpace(m[1]), "\n") {
				if !slices.Contains(commands, c) {
					commands = append(commands, c)
				}
			}
		}
	}
	if len(commands) < 2*len(lessons.All()) {
		t.Errorf("the texts have %d commands", len(commands))
	}
	t.Chdir(t.TempDir())
	var g errgroup.Group
	g.SetLimit(2)
	for _, c := range commands {
		g.Go(func() error {
			args := words(c)
			if args[0] != "./stencildb" {
				t.Errorf("%s: not a command of stencildb", c)
				return nil
			}
			var out, errOut bytes.Buffer
			status := cmd.Execute(context.Background(), args[1:], strings.NewReader(""), &out, &errOut)
			if status != 0 || errOut.Len() > 0 || out.Len() == 0 {
				t.Errorf("%s: status %d, %s", c, status, errOut.String())
			}
			return nil
		})
	}
	_ = g.Wait() // what went wrong has been reported
}

// A newcomer who types what the README says gets answers, in a folder that has nothing. What takes minutes or
// makes frames has tests of its own.
func TestCommandsOfTheREADME(t *testing.T) {
	text := read(t, root+"/README.md")
	t.Chdir(t.TempDir())
	ran := 0
	for _, m := range regexp.MustCompile("(?s)```\n(.*?)```").FindAllStringSubmatch(text, -1) {
		for _, line := range strings.Split(m[1], "\n") {
			line, _, _ = strings.Cut(line, "   # ")
			args := words(strings.TrimSpace(line))
			if len(args) < 2 || args[0] != "./stencildb" || args[1] == "bench" || slices.Contains(args, "--headless") {
				continue
			}
			var out, errOut bytes.Buffer
			if status := cmd.Execute(context.Background(), args[1:], strings.NewReader(""), &out, &errOut); status != 0 {
				t.Errorf("%s: status %d, %s", line, status, errOut.String())
			}
			ran++
		}
	}
	if ran < 10 {
		t.Errorf("the README has %d commands", ran)
	}
}

var aWordOfACommand = regexp.MustCompile(`'([^']*)'|"([^"]*)"|[^\s'"]+`)

// words cuts a command into its words, of which some are 'quoted' or "quoted".
func words(command string) (list []string) {
	for _, m := range aWordOfACommand.FindAllStringSubmatch(command, -1) {
		switch {
		case m[1] != "":
			list = append(list, m[1])
		case m[2] != "":
			list = append(list, m[2])
		default:
			list = append(list, m[0])
		}
	}
	return list
}

// A lesson's solution finds the answer to its last exercise, and no other number is taken.
func TestSolutions(t *testing.T) {
	for _, l := range lessons.All() {
		n, err := l.Solution(lesson.Options{Device: "software"})
		if err != nil {
			t.Error(err)
			continue
		}
		for _, answer := range []uint64{n - 1, n, n + 1} {
			if right, _, err := l.Check(context.Background(), len(l.Exercises), numbers.Grouped(answer)); right != (answer == n) || err != nil {
				t.Errorf("lesson %s: the answer %d is judged %v (%v)", l.Name, answer, right, err)
			}
		}
	}
}
