package files

import (
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/iotest"

	"golang.org/x/sys/unix"
)

func TestWhatCannotBeOpened(t *testing.T) {
	dir := t.TempDir()
	missing := filepath.Join(dir, "missing")
	for path, want := range map[string]string{
		missing: missing + ": no such file", dir: dir + " is a directory: name a file",
		"/dev/zero": "/dev/zero is a device: name a file", "/dev/null": "/dev/null is a device: name a file",
	} {
		if f, err := Open(context.Background(), path); err == nil || err.Error() != want || f != nil {
			t.Errorf("%s: %v, want %s", path, err, want)
		}
	}
}

// A pipe without a writer ends with the context; one with a writer is read.
func TestPipes(t *testing.T) {
	path := filepath.Join(t.TempDir(), "pipe")
	if err := unix.Mkfifo(path, 0o600); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	failed := make(chan error)
	go func() {
		_, err := Open(ctx, path)
		failed <- err
	}()
	cancel()
	if err := <-failed; !errors.Is(err, context.Canceled) {
		t.Errorf("%v", err)
	}
	path += "2"
	if err := unix.Mkfifo(path, 0o600); err != nil {
		t.Fatal(err)
	}
	go func() {
		_ = os.WriteFile(path, []byte("SELECT 1"), 0o600) // the reader sees what came
	}()
	f, err := Open(context.Background(), path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if text, err := ReadAll(context.Background(), f, path, 1<<20); err != nil || string(text) != "SELECT 1" {
		t.Errorf("%q, %v", text, err)
	}
}

func TestReadAllIsBounded(t *testing.T) {
	endless, w := io.Pipe()
	defer w.Close()
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	for what, c := range map[string]struct {
		ctx  context.Context
		r    io.Reader
		want string
	}{
		"too long":  {context.Background(), strings.NewReader(strings.Repeat("x", 1<<20+1)), "it: more than the 1 MiB that are read of it"},
		"cancelled": {ctx, endless, context.Canceled.Error()},
		"broken":    {context.Background(), iotest.ErrReader(errors.New("boom")), "it: cannot be read: boom"},
	} {
		if data, err := ReadAll(c.ctx, c.r, "it", 1<<20); err == nil || err.Error() != c.want || data != nil {
			t.Errorf("%s: %v", what, err)
		}
	}
	if data, err := ReadAll(context.Background(), strings.NewReader("abc"), "it", 3); err != nil || string(data) != "abc" {
		t.Errorf("%q, %v", data, err)
	}
}

// Lines come one by one, without their ends, and end with the context.
func TestLines(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	waits, _ := io.Pipe()
	cancelled, stop := context.WithCancel(ctx)
	stop()
	for _, c := range []struct {
		ctx   context.Context
		r     io.Reader
		lines []string
		err   string
	}{
		{ctx, strings.NewReader("a\r\n\nb\nc"), []string{"a", "", "b", "c"}, ""},
		{ctx, strings.NewReader(""), nil, ""},
		{ctx, io.MultiReader(strings.NewReader("a\nb"), iotest.ErrReader(errors.New("gone"))), []string{"a", "b"}, "it: cannot be read: gone"},
		{ctx, strings.NewReader("a\n" + strings.Repeat("b", 1<<20)), []string{"a"}, "it: a line of more than 1 MiB"},
		{cancelled, waits, nil, "context canceled"},
	} {
		var lines []string
		failed := ""
		for line, err := range Lines(c.ctx, c.r, "it", 1<<20) {
			if err != nil {
				failed = err.Error()
				continue
			}
			lines = append(lines, line)
		}
		if !slices.Equal(lines, c.lines) || failed != c.err {
			t.Errorf("%q, %q, want %q, %q", lines, failed, c.lines, c.err)
		}
	}
}
