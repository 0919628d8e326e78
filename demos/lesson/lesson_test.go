package lesson

import (
	"bytes"
	"context"
	"errors"
	"image"
	"math/bits"
	"slices"
	"strings"
	"testing"

	"github.com/stencildb/stencildb/demos/draw"
	"github.com/stencildb/stencildb/pass"
	"github.com/stencildb/stencildb/sql"
	"github.com/stencildb/stencildb/textures"
)

// on plays a program on the software device and returns what it says.
func on(t *testing.T, f func(s *Stage)) string {
	t.Helper()
	var b bytes.Buffer
	l := &Lesson{Name: "test", Run: f}
	if err := l.Play(Options{Device: "software", Out: &b}); err != nil {
		t.Error(err)
	}
	return b.String()
}

func TestFlightsAreTheSameInAnotherOrder(t *testing.T) {
	file, err := Load()
	if err != nil {
		t.Fatal(err)
	}
	const rows = 3000
	f, err := Flights(rows)
	if err != nil {
		t.Fatal(err)
	}
	if err := f.Check(); err != nil {
		t.Error(err)
	}
	for col := range file.Fields {
		var a, b []string
		for i := range rows {
			a = append(a, file.Chunks[0].Segments[col].Value(i).String())
			b = append(b, f.Chunks[0].Segments[col].Value(i).String())
		}
		slices.Sort(a)
		slices.Sort(b)
		if !slices.Equal(a, b) {
			t.Errorf("%s has other values", file.Fields[col].Name)
		}
	}
	width := textures.ShapeOf(rows).Width
	delay, distance := f.Chunks[0].Segments[0].Codes, f.Chunks[0].Segments[1].Codes
	for i := 1; i < rows; i++ {
		if i%width > 0 && distance.At(i-1) > distance.At(i) {
			t.Fatalf("record %d is nearer than the one before in its line", i)
		}
		if i >= width && i%width == 0 {
			above, line := uint64(0), delay.At(i)
			for j := range width {
				above = max(above, delay.At(i-width+j))
				if i+j < rows {
					line = min(line, delay.At(i+j))
				}
			}
			if above > line {
				t.Fatalf("line %d has an earlier flight than the line above", i/width)
			}
		}
	}
}

// Passes predicts each depth test, at and around the quad.
func TestPassesIsTheDepthTest(t *testing.T) {
	on(t, func(s *Stage) {
		delay := s.Column("delay")
		s.CopyToDepth(delay)
		depth := s.Depth()
		for f := pass.Always; f <= pass.Greater; f++ {
			for _, v := range []int64{-86, 0, 60, 1444} {
				p := &pass.Pass{Op: pass.RenderQuad{}, Target: s.Target, Quad: delay.Depth(v), Depth: pass.Depth{Test: true, Func: f}, Count: true}
				var want uint64
				for _, d := range depth {
					if Passes(p, d) {
						want++
					}
				}
				if n := s.Run(p); n != want {
					t.Errorf("%v at %d: %d records pass, predicted %d", f, v, n, want)
				}
			}
		}
	})
}

func TestPlanesHoldTheCodes(t *testing.T) {
	on(t, func(s *Stage) {
		c := s.Column("distance")
		p := s.Planes(c)
		var n int
		for _, w := range p.Rows {
			n += bits.OnesCount32(w)
		}
		if n != s.Table.Rows() {
			t.Errorf("the planes have %d records", n)
		}
		codes := make([]uint64, n)
		for i, plane := range p.Bits {
			for r, set := range p.Records(plane) {
				if set {
					codes[r] |= 1 << i
				}
			}
		}
		if !slices.Equal(codes, c.Codes()) {
			t.Error("the planes hold other codes than the column")
		}
	})
	for r := range 20000 {
		if back := textures.PlaneRow(textures.PlaneBit(r)); back != r {
			t.Fatalf("record %d lies where record %d should", r, back)
		}
	}
}

func TestCodesAndDepths(t *testing.T) {
	for _, code := range []uint64{0, 1, 146, 1<<22 - 1} {
		steps := float64(1<<24 - 1)
		stored := float32(float64(int(float64(DepthOf(code))*steps+0.5)) / steps)
		if got := CodeOf(stored); got != code {
			t.Errorf("code %d comes back from a depth buffer of 24 bits as %d", code, got)
		}
	}
}

// After the first error nothing runs and nothing is said any more.
func TestTheFirstErrorIsTheLast(t *testing.T) {
	var b bytes.Buffer
	broken := errors.New("broken")
	err := (&Lesson{Name: "test", Run: func(s *Stage) {
		s.Say("before")
		s.Fail(broken)
		s.Fail(errors.New("another"))
		s.Say("after")
		delay := s.Column("delay")
		s.CopyToDepth(delay)
		p := &pass.Pass{Op: pass.RenderQuad{}, Target: s.Target, Count: true}
		steps, _ := s.Query("SELECT COUNT(*) FROM flights")
		if s.Run(p) != 0 || len(steps) != 0 || s.Backend("cpu", "SELECT COUNT(*) FROM flights")[0].N != 0 || len(s.Stencil()) != len(s.Depth()) || len(s.Texels(delay.Texture)) < s.Table.Rows() {
			t.Error("a stage that has failed goes on")
		}
		s.Planes(delay)
		s.Agree(0, "SELECT COUNT(*) FROM flights")
		s.Picture("none", &draw.Sheet{})
	}}).Play(Options{Device: "software", Out: &b, Picture: func(string, image.Image) error { return errors.New("a picture") }})
	if !errors.Is(err, broken) || strings.Contains(b.String(), "after") || !strings.Contains(b.String(), "before") {
		t.Errorf("%v; said %q", err, b.String())
	}
}

func TestDisagreementFails(t *testing.T) {
	for text, want := range map[string]string{
		"SELECT COUNT(*) FROM flights":       "the passes give 1, but",
		"SELECT AVG(delay) FROM flights":     "no whole number",
		"SELECT COUNT(*) FROM elsewhere":     "elsewhere",
		"SELECT COUNT(nothing) FROM flights": "nothing",
	} {
		err := (&Lesson{Name: "test", Run: func(s *Stage) { s.Agree(1, text) }}).Play(Options{Device: "software"})
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", text, err)
		}
	}
}

func TestAnswers(t *testing.T) {
	l := &Lesson{Name: "l", Exercises: []Exercise{
		{Ask: "Which?", Choices: []string{"LESS", "GREATER"}, Answer: "GREATER", Hints: map[string]string{"LESS": "Mirrored."}, Why: "Yes."},
		{Ask: "How many?", Answer: "SELECT COUNT(*) FROM flights", Hints: map[string]string{"SELECT COUNT(*) - 1 FROM flights": "One is missing."}},
	}}
	for answer, want := range map[string]string{
		"200000": "", " 200,000 ": "", "200_000": "", "2=200000": "", "1=greater": "Yes.", "1= b": "Yes.",
		"1=LESS": "Mirrored.", "1=a": "Mirrored.", "199,999": "One is missing.", "-5": "It is too small.", "99999999999999999999999": "It is too large.",
	} {
		n, text, err := l.Find(answer)
		if err != nil {
			t.Fatal(err)
		}
		right, say, err := l.Check(context.Background(), n, text)
		if say != want || right != (want == "" || want == "Yes.") || err != nil {
			t.Errorf("%q is judged %v, %q (%v)", answer, right, say, err)
		}
	}
	for _, answer := range []string{"", "x", "1.5", "0x10", "_1", "1__000", "1,", "-", "1=c", "1=", "1=LES"} {
		n, text, err := l.Find(answer)
		if err != nil {
			t.Fatal(err)
		}
		if _, _, err := l.Check(context.Background(), n, text); !errors.Is(err, ErrNoAnswer) {
			t.Errorf("%q gives %v", answer, err)
		}
	}
	if _, _, err := l.Find("3=1"); err == nil {
		t.Error("there is no exercise 3")
	}
}

// The flights of the figures have the codes that they have among all.
func TestSampleHasTheExtremes(t *testing.T) {
	all, err := Load()
	if err != nil {
		t.Fatal(err)
	}
	for _, rows := range []int{100, 16384} {
		s, err := Sample(rows)
		if err != nil {
			t.Fatal(err)
		}
		if s.Rows() != rows {
			t.Errorf("%d flights, want %d", s.Rows(), rows)
		}
		for i, f := range all.Fields {
			a, b := all.Chunks[0].Segments[i], s.Chunks[0].Segments[i]
			if a.Base != b.Base || a.Bits != b.Bits {
				t.Errorf("of %d flights %s begins at %d and has %d bits; of all %d and %d", rows, f.Name, b.Base, b.Bits, a.Base, a.Bits)
			}
		}
	}
}

func TestQueryIsBackendClassic(t *testing.T) {
	on(t, func(s *Stage) {
		steps, n := s.Query("SELECT COUNT(*) FROM flights WHERE delay < 60")
		if len(steps) != 2 || steps[1].Count != uint64(n.I) {
			t.Errorf("%d passes, answer %v", len(steps), n)
		}
	})
	one, err := Flights(1)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := sql.Plan(one, "SELECT FROM"); err == nil {
		t.Error("half a statement is bound")
	}
}
