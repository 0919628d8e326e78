package main

import (
	"context"
	"image/png"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/stencildb/stencildb/cpu"
	"github.com/stencildb/stencildb/demos/draw"
	"github.com/stencildb/stencildb/demos/lesson"
	"github.com/stencildb/stencildb/sql"
	"github.com/stencildb/stencildb/table"
)

// slice has rows that do not fill their last line of 64 texels.
const slice = 3000

func evaluated(t *testing.T) (*table.Table, *figure) {
	t.Helper()
	flown, err := lesson.Flights(slice)
	if err != nil {
		t.Fatal(err)
	}
	f, err := evaluate(flown)
	if err != nil {
		t.Fatal(err)
	}
	return flown, f
}

func TestEveryPassIsRecorded(t *testing.T) {
	_, f := evaluated(t)
	var names []string
	for i, s := range f.steps {
		names = append(names, s.Pass.String())
		if len(s.Depth) != slice || (s.Stencil != nil) != (i > 0) || i > 0 && len(s.Stencil) != slice {
			t.Errorf("%s left %d depth and %d stencil values", s.Pass, len(s.Depth), len(s.Stencil))
		}
	}
	if diff := cmp.Diff([]string{
		"CopyToDepth(delay)", "Compare(delay < 0)", "CopyToDepth(distance)", "Compare(distance > 2000)",
		"EvalCNF: drop records that fail clause 1", "Compare(distance < 250)",
		"CopyToDepth(delay)", "Compare(delay >= -10)", "EvalCNF: drop records that fail clause 2",
	}, names); diff != "" {
		t.Error(diff)
	}
}

func TestCountsAreThoseOfTheCPU(t *testing.T) {
	flown, f := evaluated(t)
	q, err := sql.Plan(flown, query)
	if err != nil {
		t.Fatal(err)
	}
	answer, err := cpu.New(1).Execute(context.Background(), q)
	if err != nil {
		t.Fatal(err)
	}
	want := uint64(answer[0].I)
	var counted, kept uint64
	for _, s := range f.steps {
		counted += s.Count
	}
	for _, v := range f.steps[len(f.steps)-1].Stencil {
		if v != 0 {
			kept++
		}
	}
	if want == 0 || want == slice || f.selected != want || counted != want || kept != want {
		t.Errorf("the CPU selects %d flights; the query answered %d, its passes counted %d, the stencil buffer keeps %d",
			want, f.selected, counted, kept)
	}
}

// The tint of a depth test and the two values of the clause before agree with what
// the pass did to the stencil buffer.
func TestTintIsWhereTheDepthTestPasses(t *testing.T) {
	_, f := evaluated(t)
	for i, s := range f.steps {
		if !s.Pass.Depth.Test || s.Pass.Depth.Write {
			continue
		}
		shades := tested(s)
		for r, v := range s.Stencil {
			before := uint8(1)
			if s.Pass.Clear == nil {
				before = f.steps[i-1].Stencil[r]
			}
			if moved := v != before; moved != (before == s.Pass.Stencil.Ref && shades[r] >= draw.Tinted) {
				t.Fatalf("%s: record %d went from %d to %d, its shade is %d", s.Pass, r, before, v, shades[r])
			}
		}
	}
}

func TestDrawWritesThePicture(t *testing.T) {
	path := filepath.Join(t.TempDir(), "picture.png")
	if err := picture(path, slice); err != nil {
		t.Fatal(err)
	}
	r, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	img, err := png.Decode(r)
	if err != nil {
		t.Fatal(err)
	}
	if b := img.Bounds(); b.Dx() < columns*panel || b.Dy() < 4*panel {
		t.Errorf("the picture is %v", b)
	}
	if err := picture(filepath.Join(t.TempDir(), "no", "such", "folder.png"), slice); err == nil {
		t.Error("a folder that is not there is no error")
	}
}

func TestTooFewFlightsAreAnError(t *testing.T) {
	if err := picture(filepath.Join(t.TempDir(), "one.png"), 1); err == nil || !strings.Contains(err.Error(), "take more") {
		t.Errorf("one flight gives %v", err)
	}
}
