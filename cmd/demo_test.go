package cmd

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

func TestDemoWritesFramesWithoutADisplay(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "new", "frames")
	o := stencildb("demo", "--headless", "--out", dir, "--size", "900x600", "SELECT MAX(delay) FROM flights WHERE 2 * delay > distance")
	if o.status != 0 || o.out != "" || !regexp.MustCompile(`^\d+ frames of 900 x 600: median [\d.]+ ms, slowest [\d.]+ ms a frame on .*\n$`).MatchString(o.errOut) {
		t.Fatalf("status %d, output %q, errors %q", o.status, o.out, o.errOut)
	}
	frames, err := filepath.Glob(filepath.Join(dir, "frame-*.png"))
	if err != nil || !strings.HasPrefix(o.errOut, fmt.Sprint(len(frames), " frames")) {
		t.Errorf("%d files: %s (%v)", len(frames), o.errOut, err)
	}
	if st, err := os.Stat(filepath.Join(dir, "run.gif")); err != nil || st.Size() == 0 {
		t.Errorf("no animation: %v", err)
	}
}

// What classic cannot do another backend shows, unless classic is asked for.
func TestDemoOfWhatClassicCannotDo(t *testing.T) {
	dir := t.TempDir()
	demo := func(args ...string) outcome {
		return stencildb(append([]string{"demo", "--headless", "--out", dir, "--size", "900x600", "--load", "t=" + file(t, "t.csv", "a,b\n1,2\n3,4\n5,6\n"), "SELECT SUM(a * b) FROM t WHERE a > 2"}, args...)...)
	}
	o := demo()
	if o.status != 0 || !strings.Contains(o.errOut, "classic cannot do this statement: these are the passes of ") {
		t.Errorf("status %d: %s", o.status, o.errOut)
	}
	demo("--backend", "classic").wantFailure(t, 1, "classic", "compute")
	if o := demo("--backend", "compute"); o.status != 0 || strings.Contains(o.errOut, "cannot") {
		t.Errorf("status %d: %s", o.status, o.errOut)
	}
}

func TestDemoOfALoadedTable(t *testing.T) {
	o := stencildb("demo", "--headless", "--out", t.TempDir(), "--size", "900x600", "--load", "t="+file(t, "t.csv", typedCSV),
		"SELECT COUNT(*) FROM t WHERE i IS NULL")
	if o.status != 0 {
		t.Errorf("status %d: %s", o.status, o.errOut)
	}
}

func TestDemoWithoutADisplaySaysHowToDoWithout(t *testing.T) {
	t.Setenv("DISPLAY", "")
	t.Setenv("WAYLAND_DISPLAY", "")
	stencildb("demo").wantFailure(t, 1, "stencildb demo --headless --out FOLDER")
}

func TestDemoOfNoSQL(t *testing.T) {
	for _, blank := range []string{"", " \t\n"} {
		o := stencildb("demo", blank)
		o.wantFailure(t, 2, "error: no SQL")
		if strings.Contains(o.errOut, "predicate") {
			t.Errorf("lessons are listed for %q: %s", blank, o.errOut)
		}
	}
}

// The demo's own statement is about flights, which --load hides.
func TestDemoOfALoadedTableTakesSQL(t *testing.T) {
	load := func(spec string) outcome {
		return stencildb("demo", "--headless", "--out", t.TempDir(), "--load", spec)
	}
	ties := file(t, "ties.csv", typedCSV)
	load("t="+ties).wantFailure(t, 2, "own statement is about flights", "'SELECT COUNT(*) FROM t WHERE COLUMN > 10'")
	load("order="+ties).wantFailure(t, 2, `FROM "order" WHERE`)
	load("t=").wantFailure(t, 2, "NAME=PATH")
	load("Flights="+ties).wantFailure(t, 1, `column "delay" does not exist`)
}

// Two demos at once would mix their frames. A folder locked by a run that has ended is
// free.
func TestDemosTakeTurnsInAFolder(t *testing.T) {
	dir := t.TempDir()
	demo := func() outcome {
		return stencildb("demo", "--headless", "--out", dir, "SELECT COUNT(*) FROM nowhere")
	}
	unlock, err := lockFolder(dir)
	if err != nil {
		t.Fatal(err)
	}
	demo().wantFailure(t, 1, "--out "+dir+": another run is writing there")
	unlock()
	for range 2 {
		demo().wantFailure(t, 1, "nowhere")
	}
}

func TestDemoBadInput(t *testing.T) {
	out := t.TempDir()
	headless := func(args ...string) outcome {
		return stencildb(append([]string{"demo", "--headless", "--out", out}, args...)...)
	}
	headless("--size", "800x600").wantFailure(t, 2, "too small", "900x600")
	headless("--size", "wide").wantFailure(t, 2, "--size wide")
	headless("--size", "900x600x2").wantFailure(t, 2, "--size 900x600x2")
	headless("--size", "99999x99999").wantFailure(t, 2, "at most")
	headless("--backend", "cpu").wantFailure(t, 2, "no passes", "classic, fused or compute")
	headless("--max-passes", "0").wantFailure(t, 2, "--max-passes 0")
	headless("--max-passes", "5").wantFailure(t, 1, "more than 5 passes", "--max-passes")
	headless("SELECT COUNT(*) FROM flights").wantFailure(t, 1, "without a pass")
	headless("SELECT COUNT(*) FROM nowhere").wantFailure(t, 1, "nowhere")
	headless("nolesson").wantFailure(t, 2, "neither a statement nor a lesson")
	if list, err := os.ReadDir(out); err != nil || len(list) > 0 {
		t.Errorf("failed runs leave %v in the folder (%v)", list, err)
	}
	new := filepath.Join(out, "new")
	stencildb("demo", "--headless", "--out", filepath.Join(new, "frames"), "SELECT COUNT(*) FROM flights").wantFailure(t, 1, "error: the statement is answered without a pass")
	if _, err := os.Stat(new); err == nil {
		t.Error("a failed run leaves a folder that it made")
	}
	headless("SELECT 1", "SELECT 2").wantFailure(t, 2, "one statement")
	stencildb("demo", "--headless").wantFailure(t, 2, "--out FOLDER")
	stencildb("demo", "--out", out).wantFailure(t, 2, "--headless")
	plain := file(t, "plain", "")
	stencildb("demo", "--headless", "--out", filepath.Join(plain, "frames")).wantFailure(t, 1, "cannot be made")
	stencildb("demo", "--headless", "--out", "/proc").wantFailure(t, 1, "nothing can be written there")
}
