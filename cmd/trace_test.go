package cmd

import (
	"fmt"
	"html"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

func TestTraceWritesOnePage(t *testing.T) {
	out := filepath.Join(t.TempDir(), "page.html")
	stencildb("trace", "-o", out, "SELECT MEDIAN(delay), SUM(distance), MIN(distance) FROM flights WHERE delay > 60 OR distance < 500").wantOutput(t, "")
	page, err := os.ReadFile(out)
	if err != nil {
		t.Fatal(err)
	}
	passes := strings.Count(string(page), `<a href="#pass-`)
	if passes < 40 || len(page) > 5<<20 {
		t.Errorf("a page of %d passes and %d bytes, want 40 passes and at most 5 MB", passes, len(page))
	}
	for _, want := range []string{"CopyToDepth(delay)", "TestBit(distance, 0)", "Backend classic", "#version 450 core"} {
		if !strings.Contains(string(page), want) {
			t.Errorf("the page lacks %q", want)
		}
	}
	if fetched := regexp.MustCompile(`(src|href)="[^#]|@import|url\(`).FindString(string(page)); fetched != "" {
		t.Errorf("the page has %q", fetched)
	}
}

// The table that is read decides whether the records are the flights in their order, whatever the flags say. The
// picture of a texture that is a strip is near square.
func TestTraceSaysTheOrderOfTheTableThatItReads(t *testing.T) {
	var rows strings.Builder
	for i := range 300 {
		fmt.Fprintf(&rows, "%d\n", i)
	}
	path := file(t, "rows.csv", "delay\n"+rows.String())
	out := filepath.Join(t.TempDir(), "page.html")
	for _, c := range []struct {
		from  string
		flags []string
		want  string
	}{
		{"flights", nil, `"order":"` + flightsOrder + `"`},
		{"'" + path + "'", nil, `"order":""`},
		{"'" + path + "'", nil, `"rows":300,"width":16,"line":32,`},
		{"flights", []string{"--load", "flights=" + path}, `"order":""`},
	} {
		if o := stencildb(append([]string{"trace", "-o", out, "SELECT COUNT(*) FROM " + c.from + " WHERE delay > 60"}, c.flags...)...); o.status != 0 {
			t.Errorf("%v", o)
		}
		if page, err := os.ReadFile(out); err != nil || !strings.Contains(string(page), c.want) {
			t.Errorf("%s %v: the page has no %s (%v)", c.from, c.flags, c.want, err)
		}
	}
}

func TestTraceLeavesNothingHalfWritten(t *testing.T) {
	dir := t.TempDir()
	out := filepath.Join(dir, "page.html")
	if err := os.WriteFile(out, []byte("the page before"), 0o600); err != nil {
		t.Fatal(err)
	}
	const sql = "SELECT SUM(delay) FROM flights"
	stencildb("trace", "--max-passes", "5", "-o", out, sql).wantFailure(t, 1, "more than 5 passes", "--max-passes")
	stencildb("trace", "-o", out, "SELECT nothing FROM flights").wantFailure(t, 1, "nothing")
	stencildb("trace", "--backend", "cpu", "-o", out, sql).wantFailure(t, 2, "--backend cpu", "classic, fused or compute")
	entries, err := os.ReadDir(dir)
	if err != nil || len(entries) != 1 {
		t.Errorf("left behind: %v (%v)", entries, err)
	}
	if page, _ := os.ReadFile(out); string(page) != "the page before" {
		t.Errorf("the page before is now %.40q", page)
	}
}

func TestTraceFindsBadPlacesBeforeTheWork(t *testing.T) {
	dir := t.TempDir()
	plain := file(t, "plain", "")
	for path, want := range map[string]string{
		dir:                                 "is a directory",
		filepath.Join(dir, "no", "p.html"):  "there is no folder",
		filepath.Join(plain, "p.html"):      "cannot be written",
		"/proc/there-is-no-place-here.html": "cannot be written",
	} {
		stencildb("trace", "--load", "t="+filepath.Join(dir, "missing.csv"), "-o", path, "SELECT COUNT(*) FROM t").wantFailure(t, 1, want)
	}
}

func TestTraceFlags(t *testing.T) {
	const sql = "SELECT COUNT(*) FROM flights"
	stencildb("trace", "--against", "fused,cpu", "-o", "p.html", sql).wantFailure(t, 2, "--against fused,cpu", "two of classic, fused and compute")
	stencildb("trace", "--against", "fused,fused", "-o", "p.html", sql).wantFailure(t, 2, "--against fused,fused")
	stencildb("trace", "--backend", "fused", "--against", "classic,compute", "-o", "p.html", sql).wantFailure(t, 2, "leave --backend out")
	stencildb("trace", sql).wantFailure(t, 2, "-o FILE.html")
	stencildb("trace", "-o", "-", sql).wantFailure(t, 2, "-o FILE.html")
	stencildb("trace", "-o", "p.html", "--max-passes", "0", sql).wantFailure(t, 2, "--max-passes 0")
}

// What differs between two traces of one statement: times, the device's name and the
// predictions made for it.
var differs = regexp.MustCompile(`"ms":[^,]+|\d+\.\d{3} ms|"device":"[^"]*"|backend \w+ on [^;]*;|Backend \w+ on [^\n"]*|(?s:Predicted \(.*?</pre>)|"Predicted \(.*?\],"answer"`)

// ranOn finds a page's backend and device.
var ranOn = regexp.MustCompile(`backend (\w+) on ([^;]*);`)

func TestExampleTracesAreWhatTraceWrites(t *testing.T) {
	examples, err := filepath.Glob("../docs/traces/*.html")
	if err != nil || len(examples) == 0 {
		t.Fatalf("examples %v, %v", examples, err)
	}
	for _, path := range examples {
		page, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		_, sql, _ := strings.Cut(string(page), `<pre id="sql">`)
		sql, _, _ = strings.Cut(sql, "</pre>")
		sql = html.UnescapeString(sql)
		ran := ranOn.FindStringSubmatch(string(page))
		if ran == nil {
			t.Fatalf("%s does not say what it ran on", path)
		}
		if !strings.Contains(ran[2], "llvmpipe") {
			continue // recorded on another device, for what this one lacks
		}
		out := filepath.Join(t.TempDir(), "page.html")
		stencildb("trace", "--device", "software", "--backend", ran[1], "-o", out, sql).wantOutput(t, "")
		now, err := os.ReadFile(out)
		if err != nil {
			t.Fatal(err)
		}
		if differs.ReplaceAllString(string(page), "") != differs.ReplaceAllString(string(now), "") {
			t.Errorf("%s is out of date: stencildb trace --device software -o %s %q", path, path, sql)
		}
	}
}

// A page that is larger than it should be is written and remarked on.
func TestALargePageIsRemarkedOn(t *testing.T) {
	path := file(t, "page.html", strings.Repeat("x", 2_600_000))
	for most, want := range map[int64]string{2_600_000: "", 2_599_999: "note: " + path + " has 2.6 MB and 300 passes: a browser may take long to open it\n"} {
		var said strings.Builder
		if err := remarkSize(&said, path, 300, most); err != nil || said.String() != want {
			t.Errorf("at most %d bytes: %q, %v; want %q", most, said.String(), err, want)
		}
	}
	if err := remarkSize(io.Discard, path+".none", 1, 1); err == nil {
		t.Error("no error where there is no page")
	}
}
