package cmd

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stencildb/stencildb/demos/lessons"
)

func TestLessonPrintsAndDraws(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "new", "folder")
	o := stencildb("demo", "kth", "--headless", "--out", dir)
	if o.status != 0 || o.errOut != "" {
		t.Fatalf("status %d: %s", o.status, o.errOut)
	}
	picture := filepath.Join(dir, "kth-bits.png")
	for _, want := range []string{"Lesson 8", "the delay 331 minutes", "on backend cpu: the same", picture, "--answer N=ANSWER"} {
		if !strings.Contains(o.out, want) {
			t.Errorf("the lesson does not say %q:\n%s", want, o.out)
		}
	}
	if b, err := os.ReadFile(picture); err != nil || !strings.HasPrefix(string(b), "\x89PNG") {
		t.Errorf("%s: %v", picture, err)
	}
}

func TestAnswersToExercises(t *testing.T) {
	o := stencildb("query", "--backend", "cpu", "--format", "csv", "SELECT kth_largest(distance, 1000) FROM flights WHERE delay > 60")
	_, right, _ := strings.Cut(strings.TrimSpace(o.out), "\n")
	stencildb("demo", "kth", "--answer", right).wantOutput(t, right+" is right. The stencil test keeps the counts to the flights that are marked.\n")
	stencildb("demo", "kth", "--answer", "2=12").wantOutput(t, "12 is right. x + 2^2 = 12.\n")
	stencildb("demo", "kth", "--answer", "1=a").wantFailure(t, 1, "a is not the answer to exercise 1: Off by one")
	stencildb("demo", "kth", "--answer", "9=1").wantFailure(t, 2, "exercises 1 to 5")
	stencildb("demo", "kth", "--answer", "1").wantFailure(t, 1, "1 is not the answer to exercise 5, the last one (for another give N=ANSWER): It is too small")
	stencildb("demo", "kth", "--answer", "100,000").wantFailure(t, 1, "100,000 is not the answer", "too large")
	for _, nonsense := range []string{"many", "2:12", "x=12", ""} {
		stencildb("demo", "kth", "--answer", nonsense).wantFailure(t, 2, "exercise 5, the last one (for another give N=ANSWER)", fmt.Sprintf("%q", nonsense), "whole number")
	}
	stencildb("demo", "kth", "--answer", "2=many").wantFailure(t, 2, "exercise 2: \"many\"", "whole number")
	stencildb("demo", "kth", "--answer", "1=b)").wantOutput(t, "b) is right. Of 5 codes from 8 on the smallest is the 5th largest.\n")
	stencildb("demo", "kth", "--answer", "1=c)").wantFailure(t, 2, "letters a, b")
	stencildb("demo", "kth", "--answer", "1", "--solve").wantFailure(t, 2, "one of them")
	stencildb("demo", "kth", "--answer", "1", "--out", "x").wantFailure(t, 2, "--out")
	stencildb("demo", "kth", "--solve", "--device", "99").wantFailure(t, 2)

	o = stencildb("demo", "kth", "--solve")
	if o.status != 0 || !strings.Contains(o.out, "func Solve(") || !strings.Contains(strings.ReplaceAll(o.out, ",", ""), "finds "+right) {
		t.Errorf("status %d: %s%s", o.status, o.out, o.errOut)
	}
}

func TestLessonWithoutAPlaceForPictures(t *testing.T) {
	plain := file(t, "plain", "")
	for _, dir := range []string{plain, filepath.Join(plain, "x"), "/proc/there-is-no-place-here"} {
		stencildb("demo", "predicate", "--out", dir).wantFailure(t, 1, "--out "+dir)
	}
	stencildb("demo", "predicate", "extra").wantFailure(t, 2)
	unused := filepath.Join(t.TempDir(), "new")
	stencildb("demo", "predicate", "--device", "99", "--out", unused).wantFailure(t, 2)
	if _, err := os.Stat(unused); err == nil {
		t.Error("a lesson without a device leaves a folder")
	}
}

func TestLessonsByTheirNumbersAndMisspelt(t *testing.T) {
	for _, l := range lessons.All() {
		name, number := stencildb("demo", l.Name, "--help"), stencildb("demo", fmt.Sprint(l.Number), "--help")
		if number.status != 0 || number.out != name.out {
			t.Errorf("lesson %d: status %d\n%s%s", l.Number, number.status, number.out, number.errOut)
		}
	}
	const list = "the lessons are 1 attributes, 2 depth, 3 predicate, 4 bounds, 5 semilinear, 6 cnf, 7 count, 8 kth, 9 sum, 10 planes, 11 sort, 12 join"
	stencildb("demo", "predicat").wantFailure(t, 2, "lesson; did you mean predicate? "+list)
	stencildb("demo", "median").wantFailure(t, 2, "lesson; "+list)
	stencildb("demo", "13").wantFailure(t, 2, list)
	stencildb("demo", "medain", "--answer", "1=2").wantFailure(t, 2, "--answer is for a lesson, named before it; "+list)
}

func TestLessonsTakeNoSQL(t *testing.T) {
	for args, want := range map[string]string{
		"3 -f a.sql":       "error: -f is not for lessons",
		"predicate -fa":    "error: -f is not for lessons",
		"--file a.sql 3":   "error: --file is not for lessons",
		"3 --load t=x.csv": "--load is not for lessons",
		"3 --size 900x600": "statements and data of their own",
		"3 --nosuch":       "unknown flag: --nosuch",
		"3 -x":             "unknown shorthand flag",
		"3 -é":             "unknown shorthand flag",
		"3 --solve=maybe":  "give true or false",
	} {
		stencildb(append([]string{"demo"}, strings.Fields(args)...)...).wantFailure(t, 2, want)
	}
}

func TestEveryLessonIsACommand(t *testing.T) {
	help := stencildb("demo", "--help").out
	for _, l := range lessons.All() {
		if !strings.Contains(help, l.Name) || !strings.Contains(help, l.Title) {
			t.Errorf("the help of demo lacks lesson %s", l.Name)
		}
	}
}
