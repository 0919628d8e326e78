package glctx

import (
	"debug/elf"
	"errors"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"
)

// TestWithoutTheLibrary runs this test binary again with another name for libEGL: it
// starts, and says what is missing when a device is asked for.
func TestWithoutTheLibrary(t *testing.T) {
	if os.Getenv("GLCTX_CHILD") == "without" {
		libEGL = "libEGL-is-not-there.so.1"
		_, err := Open(Options{})
		if !errors.Is(err, ErrNoDevice) || !strings.Contains(err.Error(), "the EGL library cannot be loaded (libEGL-is-not-there.so.1: ") ||
			!strings.Contains(err.Error(), "install libegl1") {
			t.Errorf("%v", err)
		}
		if list := devices(Options{}); len(list) != 0 {
			t.Errorf("%v", list)
		}
		if info, err := ReadInfo(Options{}); !errors.Is(err, ErrNoDevice) || info.CPU.Model == "" {
			t.Errorf("%+v, %v", info, err)
		}
		return
	}
	child := exec.Command(os.Args[0], "-test.run=^"+t.Name()+"$")
	child.Env = append(os.Environ(), "GLCTX_CHILD=without")
	if out, err := child.CombinedOutput(); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
	file, err := elf.Open(os.Args[0])
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	if list, err := file.ImportedLibraries(); err != nil || slices.Contains(list, "libEGL.so.1") {
		t.Errorf("the program needs %v to start, %v", list, err)
	}
}
