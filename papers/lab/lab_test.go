package lab_test

import (
	"encoding/json"
	"errors"
	"math/rand/v2"
	"os"
	"slices"
	"testing"

	"github.com/stencildb/stencildb/papers/lab"
	"github.com/stencildb/stencildb/papers/lab/labtest"
	"github.com/stencildb/stencildb/pass"
	"github.com/stencildb/stencildb/primitives"
	"github.com/stencildb/stencildb/shaders"
	"github.com/stencildb/stencildb/textures"
)

// TestMain keeps llvmpipe to one thread, as in package primitives.
func TestMain(m *testing.M) {
	if err := os.Setenv("LP_NUM_THREADS", "0"); err != nil {
		panic(err)
	}
	os.Exit(m.Run())
}

// The device digests as the host does; an order that matters changes the digest, and one that does not matter does not.
func TestDigests(t *testing.T) {
	d := labtest.Device(t)
	random := rand.New(rand.NewPCG(1, 2))
	for _, n := range []int{0, 1, 31, 1000, 70_001} {
		words := make([]uint32, n)
		for i := range words {
			words[i] = random.Uint32() >> (i % 32)
		}
		err := d.Query(t.Context(), func() error {
			v := primitives.FromSlice(words)
			for ordered, want := range map[bool]lab.Digest{true: lab.Ordered(words), false: lab.Unordered(words)} {
				if got, err := lab.DigestOf(d.GL, d.Shapes, v, ordered); err != nil || got != want {
					t.Errorf("%d words, ordered %v: %v, %v, want %v", n, ordered, got, err, want)
				}
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		other := slices.Clone(words)
		slices.Reverse(other)
		if n > 1 && (lab.Ordered(words) == lab.Ordered(other) || lab.Unordered(words) != lab.Unordered(other)) {
			t.Errorf("%d words: the order of words", n)
		}
		if n > 0 {
			if other = slices.Clone(words); other[n/2] != 1 {
				other[n/2] = 1
				if lab.Ordered(words) == lab.Ordered(other) || lab.Unordered(words) == lab.Unordered(other) {
					t.Errorf("%d words: one changed, and the digest did not", n)
				}
			}
		}
	}
}

// What is held outlives queries and rooms, the clock goes around what it is given, and passes are grouped by routine.
func TestADevice(t *testing.T) {
	d := labtest.Device(t)
	held, inRoom := primitives.FromSlice([]uint32{1, 2, 3}), primitives.FromSlice([]uint32{4})
	room := d.Room()
	read := func(v primitives.Vector) (words []uint32) {
		t.Helper()
		if err := d.Query(t.Context(), func() (err error) {
			words, err = v.Read(d.GL)
			return err
		}); err != nil {
			t.Fatal(err)
		}
		return words
	}
	err := errors.Join(d.Hold(t.Context(), func() error { return d.Store.Reside(held.Block) }), room.Do(t.Context(), func() error { return d.Store.Reside(inRoom.Block) }))
	if err != nil || !slices.Equal(read(held), []uint32{1, 2, 3}) || !slices.Equal(read(inRoom), []uint32{4}) {
		t.Errorf("%v: %v, %v", err, read(held), read(inRoom))
	}
	if err := room.Close(); err != nil || !slices.Equal(read(held), []uint32{1, 2, 3}) {
		t.Errorf("%v", err)
	}
	nothing := &pass.Pass{Op: lab.Op{Paper: "p", Name: "r", Over: "x"}, Program: shaders.ComposeCompute("n.comp", nil, nil, "layout(local_size_x = 32) in;\nvoid main() {}\n"),
		Dispatch: &pass.Dispatch{Groups: [2]int{1, 1}, Blocks: []textures.Block{held.Block}}}
	err = d.Query(t.Context(), func() error {
		took, err := lab.Time(d.Context, func() error {
			_, err := d.GL.Run(nothing)
			return err
		})
		if took.Wall <= 0 || (took.Device > 0) != d.Context.Caps().GPUTimer {
			t.Errorf("took %+v", took)
		}
		parts, e := lab.Sections(d.Context, d.GL, func(run pass.Runner) error {
			_, err := run.Run(nothing)
			return err
		})
		if len(parts) != 1 || parts[0].What != "p: r" || parts[0].Name != "r" {
			t.Errorf("%+v", parts)
		}
		return errors.Join(err, e)
	})
	if err != nil {
		t.Error(err)
	}
	wrong := errors.New("wrong")
	if err := d.Query(t.Context(), func() error {
		_, err := lab.Time(d.Context, func() error { return wrong })
		return err
	}); !errors.Is(err, wrong) {
		t.Errorf("%v, want the error of what is timed", err)
	}
	if out, err := lab.Timed(func() error { return wrong }); !errors.Is(err, wrong) || out.Wall <= 0 {
		t.Errorf("%v, %v", out, err)
	}
}

// A figure is named by a number or a text, in JSON as in headings and files.
func TestNamesOfFigures(t *testing.T) {
	for name, want := range map[lab.Name]struct{ json, words, file string }{
		"2":       {"2", "Figure 2", "figure-02"},
		"14":      {"14", "Figure 14", "figure-14"},
		"4-2":     {`"4-2"`, "Figure 4-2", "figure-4-2"},
		"table1":  {`"table1"`, "Table 1", "table-01"},
		"table4b": {`"table4b"`, "Table 4b", "table-4b"},
	} {
		f := lab.Figure{Name: name, Title: "joins"}
		if text, err := json.Marshal(name); err != nil || string(text) != want.json {
			t.Errorf("%s is written as %s, %v", name, text, err)
		}
		var back lab.Name
		if err := json.Unmarshal([]byte(want.json), &back); err != nil || back != name {
			t.Errorf("%s is read as %q, %v", want.json, back, err)
		}
		if f.Heading() != want.words+": joins" || f.File() != want.file {
			t.Errorf("%s has the heading %q and the file %q", name, f.Heading(), f.File())
		}
	}
	if f := (lab.Figure{Title: "statements", Path: "q1"}); f.Heading() != "statements" || f.File() != "q1" {
		t.Errorf("a figure of statements has the heading %q and the file %q", f.Heading(), f.File())
	}
	var name lab.Name
	if err := json.Unmarshal([]byte("[2]"), &name); err == nil {
		t.Errorf("a list is read as the name %q", name)
	}
}

// What cases share is given back once, the last first, with all errors.
func TestTheEndOfASetting(t *testing.T) {
	s, order := &lab.Setting{}, ""
	wrong := errors.New("wrong")
	for _, name := range []string{"a", "b", "c"} {
		s.AtEnd(func() error {
			if order += name; name == "b" {
				return wrong
			}
			return nil
		})
	}
	if err := s.End(); !errors.Is(err, wrong) || order != "cba" {
		t.Error(err, order)
	}
	if err := s.End(); err != nil || order != "cba" {
		t.Error(err, order)
	}
}
