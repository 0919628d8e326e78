package cost

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/stencildb/stencildb/internal/files"
)

// aHost is the key of a machine whose device is not open.
var aHost = Key{Version: Version, CPU: "a CPU", Cores: 2}

func kept(t *testing.T) (folder string, p *Profile) {
	t.Helper()
	p = &Profile{
		Key:      Key{Version: Version, Renderer: "llvmpipe", Driver: "4.5 Mesa 22.3", Software: true, CPU: "a CPU", Cores: 2},
		Measured: time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC), Opening: 0.04,
		Backends: map[string]Backend{"cpu": host(), "compute": device()},
	}
	folder = filepath.Join(t.TempDir(), "none", "yet")
	path, err := Save(folder, p)
	if err != nil {
		t.Fatal(err)
	}
	if path != File(folder, p.Key) {
		t.Errorf("kept in %s", path)
	}
	return folder, p
}

func TestAProfileReadsBack(t *testing.T) {
	folder, p := kept(t)
	got, err := Load(folder, p.Key)
	if err != nil || !reflect.DeepEqual(got, p) {
		t.Errorf("%v: %+v", err, got)
	}
	left, err := os.ReadDir(folder)
	if err != nil || len(left) != 1 {
		t.Errorf("%v, %v", left, err)
	}
	if n, err := Load(folder, aHost); err != nil || !n.Measured.Equal(p.Measured) {
		t.Errorf("%+v, %v", n, err)
	}
	if _, err := Load(folder, Key{Version: Version, CPU: "another CPU", Cores: 2}); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("%v", err)
	}
}

// Another device or CPU has a file of its own; another driver makes the file stale.
func TestKeys(t *testing.T) {
	folder, p := kept(t)
	for _, c := range []struct {
		change func(*Key)
		want   error
	}{
		{func(k *Key) { k.Renderer = "H200" }, fs.ErrNotExist},
		{func(k *Key) { k.CPU = "another" }, fs.ErrNotExist},
		{func(k *Key) { k.Cores = 3 }, fs.ErrNotExist},
		{func(k *Key) { k.Driver = "4.5 Mesa 23" }, ErrStale},
		{func(k *Key) { k.Version++ }, ErrStale},
	} {
		k := p.Key
		c.change(&k)
		if _, err := Load(folder, k); !errors.Is(err, c.want) {
			t.Errorf("%+v: %v, want %v", k, err, c.want)
		}
	}
	p.Key.Driver, p.Opening = "4.5 Mesa 23", 1
	if _, err := Save(folder, p); err != nil {
		t.Fatal(err)
	}
	if got, err := Load(folder, p.Key); err != nil || got.Opening != 1 {
		t.Errorf("%+v, %v", got, err)
	}
}

func TestDamagedFilesAreNotUsed(t *testing.T) {
	folder, p := kept(t)
	path := File(folder, p.Key)
	whole, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for _, data := range []string{"", "{}", string(whole[:len(whole)/2]), `{"key":{"version":7},"backends":{"cpu":{"overhead_s":-1}}}`,
		`{"key":{"version":7},"opening_s":-1,"backends":{"cpu":{}}}`,
		`{"key":{"version":7},"backends":{"cpu":{"costs":{"compare":[{"bits":8,"points":[]}]}}}}`,
		`{"key":{"version":7},"backends":{"cpu":{"costs":{"compare":[{"bits":8,"points":[{"rows":9,"seconds":2},{"rows":10,"seconds":1}]}]}}}}`} {
		if err := os.WriteFile(path, []byte(data), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := Load(folder, p.Key); !errors.Is(err, ErrDamaged) && !errors.Is(err, ErrStale) {
			t.Errorf("%q: %v", data, err)
		}
		want := ErrDamaged
		if data == "{}" { // of another version
			want = fs.ErrNotExist
		}
		if _, err := Load(folder, aHost); !errors.Is(err, want) {
			t.Errorf("%q: of the host: %v", data, err)
		}
	}
	// A pipe, which nobody writes to, is not waited for.
	if err := errors.Join(os.Remove(path), unix.Mkfifo(path, 0o600)); err != nil {
		t.Fatal(err)
	}
	_, err1 := Load(folder, p.Key)
	_, err2 := Load(folder, aHost)
	for _, err := range []error{err1, err2} {
		if !errors.Is(err, ErrDamaged) || !strings.Contains(err.Error(), "no plain file") {
			t.Errorf("%v", err)
		}
	}
}

func TestDefaults(t *testing.T) {
	for _, software := range []bool{true, false} {
		few, err := Default(software, 2)
		if err != nil || few.Key.Software != software {
			t.Fatalf("%+v, %v", few, err)
		}
		many, err := Default(software, 64)
		if err != nil {
			t.Fatal(err)
		}
		w := work(t, "SELECT COUNT(*) FROM t WHERE i < 5", 1_000_000)
		a, b := few.Backends["cpu"], many.Backends["cpu"]
		if x, y := a.Run(w), b.Run(w); y >= x || y <= 0 {
			t.Errorf("2 cores take %v, 64 %v", x, y)
		}
	}
}

func TestAProfileThatCannotBeIsNotKept(t *testing.T) {
	_, p := kept(t)
	delete(p.Backends, "cpu")
	if _, err := Save(t.TempDir(), p); err == nil {
		t.Error("a profile without cpu is kept")
	}
}

func TestNothingIsKeptWithoutAFolder(t *testing.T) {
	folder, p := kept(t)
	t.Chdir(folder)
	if _, err := Load("", p.Key); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a calibration of the working folder is loaded: %v", err)
	}
	if _, err := Load("", aHost); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a calibration of the working folder is of the host: %v", err)
	}
	if err := files.MakeFolder(filepath.Join(File(folder, p.Key), "below")); err == nil {
		t.Error("a folder below a file can be written to")
	}
	if err := files.MakeFolder(folder); err != nil {
		t.Error(err)
	}
	if left, _ := filepath.Glob("*.tmp"); len(left) > 0 {
		t.Errorf("left behind: %v", left)
	}
}
