package shaders_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/go-gl/gl/v4.5-core/gl"
	"golang.org/x/sys/unix"

	"github.com/stencildb/stencildb/glctx"
	"github.com/stencildb/stencildb/shaders"
)

// with calls f with a cache on a fresh context that keeps programs in a folder.
func with(t *testing.T, folder string, f func(ctx *glctx.Context, c *shaders.Cache) error) {
	t.Helper()
	ctx, err := glctx.Open(glctx.Options{Programs: folder})
	if err != nil {
		t.Fatal(err)
	}
	err = ctx.Do(context.Background(), func() error {
		c := shaders.NewCache(ctx)
		defer c.Close()
		return f(ctx, c)
	})
	if err != nil {
		t.Error(err)
	}
	if err := ctx.Close(); err != nil {
		t.Error(err)
	}
}

// numbered is a compute program that writes n.
func numbered(n int) shaders.Source {
	return shaders.Source{Name: fmt.Sprint("numbered ", n), Compute: true, Text: fmt.Sprintf(
		"#version 450\nlayout(local_size_x = 1) in;\nlayout(std430, binding = 0) buffer B { uint v[]; };\nvoid main() { v[0] = %du; }\n", n)}
}

// writes runs a program of numbered and returns what it writes.
func writes(p *shaders.Program) (n uint32) {
	var b uint32
	gl.CreateBuffers(1, &b)
	defer gl.DeleteBuffers(1, &b)
	gl.NamedBufferStorage(b, 4, nil, 0)
	gl.BindBufferBase(gl.SHADER_STORAGE_BUFFER, 0, b)
	gl.UseProgram(p.ID)
	gl.DispatchCompute(1, 1, 1)
	gl.MemoryBarrier(gl.BUFFER_UPDATE_BARRIER_BIT)
	gl.GetNamedBufferSubData(b, 0, 4, gl.Ptr(&n))
	return n
}

// A cache of many programs keeps a bounded number of them, those used last, and one
// that was deleted is made again.
func TestProgramsAreBounded(t *testing.T) {
	with(t, "", func(ctx *glctx.Context, c *shaders.Cache) error {
		most := 0
		for n := range 1000 {
			if _, err := c.Get(numbered(0)); err != nil { // in use all the time
				return err
			}
			if _, err := c.Get(numbered(n)); err != nil {
				return err
			}
			most = max(most, ctx.Live()["program"])
		}
		if most > 256 || c.Len() != ctx.Live()["program"] {
			t.Errorf("%d programs at most, %d at the end, %d counted", most, c.Len(), ctx.Live()["program"])
		}
		made := ctx.Created()
		for _, n := range []int{0, 999, 3} {
			p, err := c.Get(numbered(n))
			if err != nil {
				return err
			}
			if got := writes(p); got != uint32(n) {
				t.Errorf("program %d writes %d", n, got)
			}
		}
		if now := ctx.Created(); now != made+1 {
			t.Errorf("%d programs were made again, want that of 3 alone", now-made)
		}
		return nil
	})
}

// Programs outlive their context in a folder; a file that is damaged, or that is
// another program's, is made again.
func TestProgramsOutliveTheProcess(t *testing.T) {
	folder := filepath.Join(t.TempDir(), "programs")
	run := func() {
		with(t, folder, func(_ *glctx.Context, c *shaders.Cache) error {
			for n := range 3 {
				p, err := c.Get(numbered(n + 7))
				if err != nil {
					return err
				}
				if got := writes(p); got != uint32(n+7) {
					t.Errorf("program %d writes %d", n+7, got)
				}
			}
			return nil
		})
	}
	files := func() map[string][]byte {
		list, err := filepath.Glob(filepath.Join(folder, "*"))
		if err != nil {
			t.Fatal(err)
		}
		m := map[string][]byte{}
		for _, path := range list {
			if m[path], err = os.ReadFile(path); err != nil {
				t.Fatal(err)
			}
		}
		return m
	}
	run()
	kept := files()
	if len(kept) == 0 {
		var formats int32
		with(t, "", func(*glctx.Context, *shaders.Cache) error {
			gl.GetIntegerv(gl.NUM_PROGRAM_BINARY_FORMATS, &formats)
			return nil
		})
		if formats > 0 {
			t.Error("nothing is kept")
		}
		return // the driver gives out no programs
	}
	if len(kept) != 3 {
		t.Errorf("%d files of three programs", len(kept))
	}
	run() // from the files
	for what, damage := range map[string]func(data []byte) []byte{
		"empty":     func([]byte) []byte { return nil },
		"cut":       func(d []byte) []byte { return d[:len(d)/2] },
		"one bit":   func(d []byte) []byte { d = bytes.Clone(d); d[len(d)-1] ^= 4; return d },
		"untouched": bytes.Clone,
	} {
		for path, data := range kept {
			if err := os.WriteFile(path, damage(data), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		run()
		for path := range kept {
			if data, err := os.ReadFile(path); err != nil || len(data) < 37 {
				t.Errorf("%s: %d bytes, %v", what, len(data), err)
			}
		}
	}
	if now := files(); len(now) != 3 {
		t.Errorf("%d files in the end", len(now))
	}
	for path := range kept { // pipes, which nobody writes to, are not waited for
		if err := errors.Join(os.Remove(path), unix.Mkfifo(path, 0o600)); err != nil {
			t.Fatal(err)
		}
	}
	run()
}

// A folder of programs that is full loses the oldest, and nothing else that lies there.
func TestAFolderOfProgramsIsBounded(t *testing.T) {
	folder := t.TempDir()
	old := func(name string, age time.Duration) string {
		path := filepath.Join(folder, name)
		if err := os.WriteFile(path, nil, 0o600); err != nil {
			t.Fatal(err)
		}
		when := time.Now().Add(-age)
		if err := errors.Join(os.Truncate(path, 16<<20), os.Chtimes(path, when, when)); err != nil {
			t.Fatal(err)
		}
		return path
	}
	paths := []string{old("a.program", 4*time.Hour), old("b.program", 5*time.Hour), old("c.program", 2*time.Hour),
		old("d.program", 3*time.Hour), old("other", 9*time.Hour)}
	saved := false
	with(t, folder, func(_ *glctx.Context, c *shaders.Cache) error {
		_, err := c.Get(numbered(1))
		list, _ := filepath.Glob(filepath.Join(folder, "*.program"))
		saved = len(list) != 4
		return err
	})
	if !saved {
		return // the driver gives out no programs
	}
	var left []bool
	for _, p := range paths {
		_, err := os.Stat(p)
		left = append(left, err == nil)
	}
	if want := []bool{false, false, true, true, true}; !slices.Equal(left, want) {
		t.Errorf("left: %v, want %v", left, want)
	}
}
