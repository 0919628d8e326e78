package files

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

func TestAFileAppearsWholeOrNotAtAll(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "a.txt")
	text := func(s string, err error) func(io.Writer) error {
		return func(w io.Writer) error {
			_, e := io.WriteString(w, s)
			return errors.Join(e, err)
		}
	}
	if err := Write(path, text("one", nil)); err != nil {
		t.Fatal(err)
	}
	boom := errors.New("boom")
	if err := Write(path, text("two", boom)); !errors.Is(err, boom) {
		t.Errorf("%v", err)
	}
	if got, err := os.ReadFile(path); err != nil || string(got) != "one" {
		t.Errorf("%q, %v after a failure", got, err)
	}
	if err := Write(path, text("three", nil)); err != nil {
		t.Fatal(err)
	}
	if got, err := os.ReadFile(path); err != nil || string(got) != "three" {
		t.Errorf("%q, %v", got, err)
	}
	if st, err := os.Stat(path); err != nil || st.Mode().Perm() != 0o644 {
		t.Errorf("%v, %v", st.Mode(), err)
	}
	list, err := os.ReadDir(dir)
	if err != nil || len(list) != 1 {
		t.Errorf("left behind: %v, %v", list, err)
	}
	if _, err := Create(context.Background(), filepath.Join(dir, "no", "a.txt")); err == nil || !strings.Contains(err.Error(), "there is no folder") {
		t.Errorf("%v", err)
	}
}

// TestAnErrorIsSaidOnce fails in the middle of a file that is larger than any buffer.
func TestAnErrorIsSaidOnce(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a.txt")
	f, err := Create(context.Background(), path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Discard()
	f.Close()
	err = f.Commit(func(w io.Writer) error {
		_, err := w.Write(make([]byte, 4<<20))
		return err
	})
	if !errors.Is(err, os.ErrClosed) || strings.Count(err.Error(), os.ErrClosed.Error()) != 1 {
		t.Errorf("%v", err)
	}
}

// TestAnErrorNamesTheGivenPath fails in writing and in giving the file its name.
func TestAnErrorNamesTheGivenPath(t *testing.T) {
	for what, fail := range map[string]func(f *File, path string) error{
		"write":  func(f *File, _ string) error { return f.Close() },
		"rename": func(_ *File, path string) error { return os.MkdirAll(filepath.Join(path, "in the way"), 0o755) },
	} {
		path := filepath.Join(t.TempDir(), "a.txt")
		f, err := Create(context.Background(), path)
		if err != nil {
			t.Fatal(err)
		}
		defer f.Discard()
		if err := fail(f, path); err != nil {
			t.Fatal(err)
		}
		err = f.Commit(func(w io.Writer) error {
			_, err := io.WriteString(w, "x")
			return err
		})
		if err == nil || !strings.HasPrefix(err.Error(), path+": ") || strings.Contains(err.Error(), filepath.Base(f.Name())) {
			t.Errorf("%s: %v", what, err)
		}
	}
}

func TestFoldersThatCanBeWrittenTo(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "new", "folder")
	if err := MakeFolder(path); err != nil {
		t.Fatal(err)
	}
	if list, err := os.ReadDir(path); err != nil || len(list) > 0 {
		t.Errorf("%v, %v", list, err)
	}
	plain := filepath.Join(dir, "plain")
	if err := os.WriteFile(plain, nil, 0o644); err != nil {
		t.Fatal(err)
	}
	for _, below := range []string{plain, filepath.Join(plain, "below")} {
		if err := MakeFolder(below); err == nil || !strings.HasPrefix(err.Error(), below+": the folder cannot be made: ") || strings.Contains(err.Error(), "mkdir") {
			t.Errorf("%v", err)
		}
	}
}

// What a link leads to is replaced, and the link stays, over several links and where
// nothing is yet.
func TestLinksStay(t *testing.T) {
	dir := t.TempDir()
	for name, target := range map[string]string{"one": "sub/a.txt", "two": "one", "new": "sub/b.txt", "absolute": filepath.Join(dir, "sub", "c.txt"), "loop": "loop"} {
		if err := os.Symlink(target, filepath.Join(dir, name)); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Mkdir(filepath.Join(dir, "sub"), 0o755); err != nil {
		t.Fatal(err)
	}
	for name, target := range map[string]string{"one": "a.txt", "two": "a.txt", "new": "b.txt", "absolute": "c.txt"} {
		link := filepath.Join(dir, name)
		err := Write(link, func(w io.Writer) error {
			_, err := io.WriteString(w, name)
			return err
		})
		got, err2 := os.ReadFile(filepath.Join(dir, "sub", target))
		st, err3 := os.Lstat(link)
		if err := errors.Join(err, err2, err3); err != nil || string(got) != name || st.Mode()&os.ModeSymlink == 0 {
			t.Errorf("%s: %v, %q, %v", name, err, got, st)
		}
	}
	loop := filepath.Join(dir, "loop")
	if _, err := Create(context.Background(), loop); err == nil || !strings.HasPrefix(err.Error(), loop+": cannot be written: ") {
		t.Errorf("%v", err)
	}
}

// What the program has open is written to where it is, and stays.
func TestWhatIsOpenIsNotReplaced(t *testing.T) {
	path := filepath.Join(t.TempDir(), "open")
	out, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	defer out.Close()
	for i, dir := range []string{"/dev/fd/", "/proc/self/fd/"} {
		fmt.Fprint(out, "before ", i)
		f, err := Create(context.Background(), dir+strconv.Itoa(int(out.Fd())))
		if err != nil {
			t.Fatal(err)
		}
		defer f.Discard()
		if err := f.Commit(func(w io.Writer) error { _, err := io.WriteString(w, " answer "); return err }); err != nil {
			t.Error(err)
		}
		fmt.Fprint(out, "after ")
	}
	if err := Write("/dev/fd/"+strconv.Itoa(int(out.Fd())), func(io.Writer) error { return nil }); err == nil || !strings.HasSuffix(err.Error(), "is open already: name a file") {
		t.Errorf("%v", err)
	}
	if got, err := os.ReadFile(path); string(got) != "before 0 answer after before 1 answer after " || err != nil {
		t.Errorf("%q, %v", got, err)
	}
	if f, err := Create(context.Background(), "/dev/fd/999999"); err == nil || err.Error() != "/dev/fd/999999: cannot be written: bad file descriptor" {
		t.Errorf("%v, %v", f, err)
	}
}

func TestPlacesThatCannotBeWritten(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "f.csv")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]string{
		dir:                                 "is a directory",
		filepath.Join(dir, "none", "a.csv"): "there is no folder " + filepath.Join(dir, "none"),
		filepath.Join(file, "a.csv"):        "is not a folder",
		"/dev/null":                         "is no plain file",
		filepath.Join(dir, "new.csv"):       "",
		file:                                "",
	} {
		switch err := CheckPlace(path); {
		case want == "" && err != nil:
			t.Errorf("%s: %v", path, err)
		case want != "" && (err == nil || !strings.Contains(err.Error(), want)):
			t.Errorf("%s: got %v, want %q", path, err, want)
		}
	}
}

// A pipe gets what is written, and stays; one that nobody reads is waited for until ctx ends.
func TestPipesAreWrittenTo(t *testing.T) {
	dir := t.TempDir()
	alone, pipe := filepath.Join(dir, "alone"), filepath.Join(dir, "pipe")
	if err := errors.Join(unix.Mkfifo(alone, 0o600), unix.Mkfifo(pipe, 0o600)); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Millisecond)
	defer cancel()
	if f, err := Create(ctx, alone); !errors.Is(err, context.DeadlineExceeded) {
		t.Fatal(f, err)
	}
	read := make(chan string)
	go func() {
		text, err := os.ReadFile(pipe)
		read <- fmt.Sprintf("%s, %v", text, err)
	}()
	f, err := Create(context.Background(), pipe)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Discard()
	err = f.Commit(func(w io.Writer) error {
		_, err := io.WriteString(w, "rows")
		return err
	})
	if got := <-read; err != nil || got != "rows, <nil>" {
		t.Errorf("%v; read %s", err, got)
	}
	f.Discard()
	if err := Write(pipe, func(io.Writer) error { return nil }); err == nil || !strings.Contains(err.Error(), "is no plain file") {
		t.Error(err)
	}
	list, err := os.ReadDir(dir)
	if err != nil || len(list) != 2 || list[0].Type() != os.ModeNamedPipe || list[1].Type() != os.ModeNamedPipe {
		t.Errorf("%v, %v", list, err)
	}
}
