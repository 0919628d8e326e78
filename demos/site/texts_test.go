package main

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/stencildb/stencildb/cmd"
	"github.com/stencildb/stencildb/internal/prose"
)

// The generated parts of the texts are what the program and the reports say now.
func TestGeneratedPartsAreUpToDate(t *testing.T) {
	all, err := filled(root)
	if err != nil {
		t.Fatal(err)
	}
	if all[architecturePicture], err = architecture(root); err != nil {
		t.Fatal(err)
	}
	parts := 0
	for name, want := range all {
		parts += len(part.FindAllString(want, -1))
		if diff := cmp.Diff(want, read(t, filepath.Join(root, name))); diff != "" {
			t.Errorf("%s is not what its sources make: run make docs\n%s", name, diff)
		}
	}
	if parts < len(generated) {
		t.Errorf("%d generated parts in the texts, %d that can be made", parts, len(generated))
	}
}

// What points up in the house is an error, and so is a room on no floor.
func TestHouse(t *testing.T) {
	all, err := imports(root)
	if err != nil || checkHouse(all) != nil {
		t.Fatal(err, checkHouse(all))
	}
	all["table"]["engine"] = true
	if err := checkHouse(all); err == nil || !strings.Contains(err.Error(), "table imports engine") {
		t.Errorf("an import that points up: %v", err)
	}
	delete(all["table"], "engine")
	all["attic"] = map[string]bool{}
	if err := checkHouse(all); err == nil || !strings.Contains(err.Error(), "attic") {
		t.Errorf("a room on no floor: %v", err)
	}
}

// No arrow of the picture goes through a room, or through a floor's title, and nothing lies outside.
func TestArrowsGoBetweenTheRooms(t *testing.T) {
	all, err := imports(root)
	if err != nil {
		t.Fatal(err)
	}
	d := layout(all)
	if len(d.arrows) < 20 || len(d.bands) != len(floors) {
		t.Fatalf("%d arrows, %d floors", len(d.arrows), len(d.bands))
	}
	for _, a := range d.arrows {
		points := a.points
		if a.curve { // its middle is half as far down as its control point
			points = []point{points[0], {points[1].x, (points[0].y + points[1].y) / 2}, points[2]}
		}
		for i, p := range points[1:] {
			for step := range 101 { // of the way to this point
				q := points[i]
				x, y := q.x+(p.x-q.x)*step/100, q.y+(p.y-q.y)*step/100
				if x < margin+labelWidth || x > pictureWidth-margin || y < 0 || y > d.height {
					t.Fatalf("%s to %s passes %d, %d", a.from, a.to, x, y)
				}
				for _, b := range d.boxes {
					if max(x-b.x, b.x-x) < boxWidth/2 && max(y-b.y, b.y-y) < boxHeight/2 {
						t.Fatalf("%s to %s goes through %s", a.from, a.to, b.room)
					}
				}
			}
		}
	}
	for _, b := range d.bands {
		for i, words := range b.title {
			if len(words) > titleLetters || b.top+24+18*i > b.bottom {
				t.Errorf("%q does not fit", words)
			}
		}
	}
}

// userTexts returns README.md and the texts in docs, the results left out.
func userTexts(t *testing.T) []string {
	list, err := filepath.Glob(root + "/docs/*.md")
	if err != nil || len(list) < 10 {
		t.Fatalf("%d texts: %v", len(list), err)
	}
	return append(list, root+"/README.md")
}

var (
	fence   = regexp.MustCompile("(?ms)^```.*?^```$")
	inCode  = regexp.MustCompile("`[^`]*`")
	linkTo  = regexp.MustCompile(`!?\[([^\]]*)\]\([^)]*\)`)
	newItem = regexp.MustCompile(`^(\s*[-*] |\s*\d+\. |#+ |> |\s*$|\|)`)
)

// sentences are those of a text. An item of a list, a heading and a cell of a table end one. So does an item of a list in a cell.
func sentences(text string) (list []string) {
	text = part.ReplaceAllString(text, "")
	text = fence.ReplaceAllString(text, "\n")
	text = linkTo.ReplaceAllString(inCode.ReplaceAllString(text, "code"), "$1")
	var blocks []string
	for _, line := range strings.Split(text, "\n") {
		switch {
		case strings.HasPrefix(line, "|"):
			blocks = append(blocks, strings.Split(strings.ReplaceAll(line, "; code: ", "|"), "|")...)
			blocks = append(blocks, "")
		case newItem.MatchString(line) || len(blocks) == 0:
			blocks = append(blocks, line)
		default:
			blocks[len(blocks)-1] += " " + line
		}
	}
	for _, block := range blocks {
		list = append(list, prose.Sentences(block)...)
	}
	return list
}

func TestSentencesAreFound(t *testing.T) {
	got := sentences("# A head\n\nOne two.\nThree `four five`\nsix. [Seven eight](to/nine.md)?\n- ten\n- eleven\n\n```\ncode here\n```\n| a | b c |\n")
	var counts []int
	for _, s := range got {
		if n := prose.Words(s); n > 0 {
			counts = append(counts, n)
		}
	}
	if diff := cmp.Diff(counts, []int{2, 2, 3, 2, 1, 1, 1, 2}); diff != "" {
		t.Errorf("%q: %s", got, diff)
	}
}

// Sentences of the texts are short, and the README is.
func TestSentencesAreShort(t *testing.T) {
	for _, file := range userTexts(t) {
		var found []string
		for _, s := range sentences(read(t, file)) {
			if n := prose.Words(s); n > prose.Longest {
				found = append(found, fmt.Sprintf("%d words: %s", n, strings.TrimSpace(s)))
			}
		}
		if len(found) > 0 {
			t.Errorf("%s has sentences of more than %d words:\n%s", filepath.Base(file), prose.Longest, strings.Join(found, "\n"))
		}
	}
	if n := strings.Count(read(t, root+"/README.md"), "\n"); n > 150 {
		t.Errorf("README.md has %d lines", n)
	}
}

// What was measured of the papers' operations stands in docs/paper.md and docs/papers.md as the reports have it: nobody types a time or a ratio.
// Italics are what the paper says.
func TestFiguresOfThePapersAreGenerated(t *testing.T) {
	measured := regexp.MustCompile(`[0-9][0-9.,]* (ms|µs|times|GB/s)\b|[0-9.]+ %( of| slower| faster)|times slower|takes [0-9]`)
	for _, page := range []string{"docs/paper.md", "docs/papers.md"} {
		text := part.ReplaceAllString(read(t, filepath.Join(root, page)), "")
		text = regexp.MustCompile(`(^|[^*])\*[^*]+\*($|[^*])`).ReplaceAllString(text, "$1$2")
		text = linkTo.ReplaceAllString(text, "$1")
		for i, line := range strings.Split(text, "\n") {
			if found := measured.FindString(line); found != "" {
				t.Errorf("%s: line %d without the generated parts has a figure of its own, %q: %s", page, i+1, found, line)
			}
		}
	}
	if !measured.MatchString("it is 0.201 ms") || !measured.MatchString("3.1 times as fast") {
		t.Error("the test finds no figures")
	}
}

// Links of the texts go to files that are there, and each text is linked from README.md or from docs/README.md.
func TestLinksOfUserTexts(t *testing.T) {
	linked := map[string]bool{}
	for _, file := range userTexts(t) {
		for _, m := range markdownLink.FindAllStringSubmatch(fence.ReplaceAllString(read(t, file), ""), -1) {
			if strings.Contains(m[1], "://") || m[1] == "" {
				continue
			}
			to := filepath.Join(filepath.Dir(file), m[1])
			if _, err := os.Stat(to); err != nil {
				t.Errorf("%s links to %s, which is not there", file, m[1])
			}
			if name := filepath.Base(file); name == "README.md" {
				linked[to] = true
			}
		}
	}
	for _, file := range userTexts(t) {
		if filepath.Base(file) != "README.md" && !linked[filepath.Clean(file)] {
			t.Errorf("no README links to %s", file)
		}
	}
}

// blocks returns what stands between fences of a kind in a text.
func blocks(text, kind string) (list []string) {
	for _, m := range regexp.MustCompile("(?ms)^```"+kind+"$\n(.*?)^```$").FindAllStringSubmatch(text, -1) {
		list = append(list, m[1])
	}
	return list
}

// The statements in the reference run, and those that it says are refused are.
func TestStatementsOfTheReference(t *testing.T) {
	text := read(t, root+"/docs/sql.md")
	run := func(sql string) (int, string) {
		var out, errOut bytes.Buffer
		status := cmd.Execute(context.Background(), []string{"query", "--backend", "cpu"}, strings.NewReader(sql), &out, &errOut)
		return status, errOut.String()
	}
	given := blocks(text, "sql")
	if len(given) != 1 {
		t.Fatalf("%d blocks of statements", len(given))
	}
	if status, said := run(given[0]); status != 0 {
		t.Errorf("status %d: %s", status, said)
	}
	refused := blocks(text, "sql refused")
	if len(refused) != 1 || strings.Count(refused[0], "\n") < 10 {
		t.Fatalf("refused: %q", refused)
	}
	for _, sql := range strings.Split(strings.TrimSpace(refused[0]), "\n") {
		if status, said := run(sql); status != 1 || !strings.HasPrefix(said, "error: ") {
			t.Errorf("%s: status %d, %q", sql, status, said)
		}
	}
}

// The program in docs/api.md compiles and runs.
func TestProgramOfTheAPI(t *testing.T) {
	given := blocks(read(t, root+"/docs/api.md"), "go")
	if len(given) == 0 || !strings.HasPrefix(given[0], "package main\n") {
		t.Fatalf("the page has no program: %q", given)
	}
	abs, err := filepath.Abs(root)
	if err != nil {
		t.Fatal(err)
	}
	dir, err := os.MkdirTemp(abs+"/demos/site", "api")
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := os.RemoveAll(dir); err != nil {
			t.Error(err)
		}
	}()
	if err := os.WriteFile(dir+"/main.go", []byte(given[0]), 0o666); err != nil {
		t.Fatal(err)
	}
	c := exec.Command("go", "run", "-tags", "egl", dir+"/main.go")
	c.Dir = abs
	out, err := c.CombinedOutput()
	if got := strings.TrimSpace(string(out)); err != nil || got != apiAnswer {
		t.Errorf("%q (%v), want %q", got, err, apiAnswer)
	}
}

// What docs/api.md shows of errors is in an example of the driver, which runs.
func TestErrorsOfTheAPI(t *testing.T) {
	unindented := func(text string) string { return regexp.MustCompile(`(?m)^\t+`).ReplaceAllString(text, "") }
	example, found := unindented(read(t, root+"/driver/example_test.go")), 0
	for _, block := range blocks(read(t, root+"/docs/api.md"), "go") {
		if strings.Contains(block, "SQLState") {
			found++
			if !strings.Contains(example, unindented(block)) {
				t.Errorf("no example of the driver has\n%s", block)
			}
		}
	}
	if found != 1 {
		t.Errorf("%d blocks about SQLSTATE", found)
	}
}

// apiAnswer is what the program in docs/api.md prints: how many flights are more than an hour late, and the latest.
const apiAnswer = "10498 1444"
