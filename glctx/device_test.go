package glctx

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"testing"
)

func TestABadDeviceListsTheDevices(t *testing.T) {
	for _, device := range []string{"99", "-1", "nonsense"} {
		_, err := Open(Options{Device: device})
		if err == nil || !strings.Contains(err.Error(), device) || !strings.Contains(err.Error(), "0 (") || !strings.Contains(err.Error(), `"software"`) {
			t.Errorf("device %s: %v", device, err)
		}
	}
	t.Setenv("STENCILDB_DEVICE", "98")
	_, err := Open(Options{})
	if err == nil || !strings.Contains(err.Error(), "STENCILDB_DEVICE: no device 98") {
		t.Errorf("from the environment: %v", err)
	}
}

func TestEveryDeviceOpensByItsNumber(t *testing.T) {
	list := devices(Options{})
	if len(list) == 0 {
		t.Fatal("no device")
	}
	chosen := 0
	for i, d := range list {
		if d.Index != i || d.Platform == "" {
			t.Errorf("device %d: %+v", i, d)
		}
		if d.Chosen {
			chosen++
		}
		if d.Error != "" {
			continue
		}
		c := open(t, Options{Device: strconv.Itoa(i)})
		if got := c.Device(); got.Renderer != d.Renderer || got.Index != i || c.Caps().Software != d.Software {
			t.Errorf("device %d opened as %+v, listed as %+v", i, got, d)
		}
	}
	if chosen != 1 {
		t.Errorf("%d devices are marked as chosen", chosen)
	}
	if got := open(t, Options{}).Device(); !list[got.Index].Chosen || list[got.Index].Why != got.Why {
		t.Errorf("Open took %v", got)
	}
}

func TestKindsOfDevice(t *testing.T) {
	for kind, fits := range map[string]func(DeviceInfo) bool{
		"software":    func(d DeviceInfo) bool { return d.Software },
		"hardware":    func(d DeviceInfo) bool { return !d.Software },
		"surfaceless": func(d DeviceInfo) bool { return d.Platform == "surfaceless" },
	} {
		c, err := Open(Options{Device: kind})
		if exists := slices.ContainsFunc(devices(Options{}), func(d DeviceInfo) bool { return d.Error == "" && fits(d) }); exists != (err == nil) {
			t.Errorf("%s: exists %v, Open: %v", kind, exists, err)
		}
		if err != nil {
			if !errors.Is(err, ErrNoDevice) {
				t.Errorf("%s: %v", kind, err)
			}
			continue
		}
		if !fits(c.Device()) {
			t.Errorf("%s gave %+v", kind, c.Device())
		}
		if err := c.Close(); err != nil {
			t.Error(err)
		}
	}
}

// TestOrderOfAttempts states the order on machines that need not be this one.
func TestOrderOfAttempts(t *testing.T) {
	make1 := func(kinds ...string) []DeviceInfo {
		var list []DeviceInfo
		for i, kind := range kinds {
			info := DeviceInfo{Index: i, Platform: "device", Software: kind == "soft"}
			if kind == "less" {
				info.Platform = "surfaceless"
			}
			list = append(list, info)
		}
		return list
	}
	cases := []struct {
		wish string
		all  []DeviceInfo
		want []int
	}{
		{"", make1("soft", "hard", "hard", "less"), []int{1, 2, 0, 3}},
		{"", make1("soft", "less"), []int{0, 1}},
		{"", nil, nil},
		{"hardware", make1("soft", "hard", "less"), []int{1, 2}},
		{"Software", make1("hard", "soft", "less"), []int{1, 2}},
		{"surfaceless", make1("hard", "less"), []int{1}},
		{"0", make1("hard", "less"), []int{0}},
	}
	for _, k := range cases {
		list, err := attempts(k.wish, "test", k.all)
		if err != nil {
			t.Error(err)
		}
		var got []int
		for _, a := range list {
			got = append(got, a.Index)
		}
		if !slices.Equal(got, k.want) {
			t.Errorf("%q: %v, not %v", k.wish, got, k.want)
		}
	}
}

// TestWithoutADriverTheErrorSaysWhatToInstall hides every EGL driver from a
// child process, which is this test binary itself.
func TestWithoutADriverTheErrorSaysWhatToInstall(t *testing.T) {
	if os.Getenv("GLCTX_CHILD") == "1" {
		c, err := Open(Options{})
		if c != nil || !errors.Is(err, ErrNoDevice) || !strings.Contains(err.Error(), "install libegl1") {
			t.Errorf("%v", err)
		}
		info, err := ReadInfo(Options{})
		if err == nil || info == nil || info.Error == "" || info.Caps != nil || info.CPU.Cores < 1 {
			t.Errorf("%+v, %v", info, err)
		}
		return
	}
	child := exec.Command(os.Args[0], "-test.run=^"+t.Name()+"$")
	child.Env = append(os.Environ(), "GLCTX_CHILD=1", "STENCILDB_DEVICE=", "__EGL_VENDOR_LIBRARY_FILENAMES=/nonexistent")
	if out, err := child.CombinedOutput(); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
}

func TestDisabledExtensionsAreAbsent(t *testing.T) {
	plain := open(t, Options{}).Caps()
	if len(plain.Extensions) < 2 || !slices.IsSorted(plain.Extensions) {
		t.Fatalf("extensions %v", plain.Extensions)
	}
	first, second := plain.Extensions[0], plain.Extensions[1]
	if !plain.Has(first) || !plain.Has(strings.TrimPrefix(first, "GL_")) || plain.Has("GL_no_such_thing") {
		t.Error("Has is wrong")
	}
	t.Setenv("STENCILDB_DISABLE", " "+strings.TrimPrefix(second, "GL_")+", GL_ARB_timer_query")
	caps := open(t, Options{Disable: []string{first, "EXT_depth_bounds_test"}}).Caps()
	if caps.Has(first) || caps.Has(second) || caps.DepthBounds || caps.GPUTimer {
		t.Errorf("still there: %+v", caps)
	}
}

func TestTimersMeasure(t *testing.T) {
	c := open(t, Options{})
	err := c.Do(context.Background(), func() error {
		outer, inner := c.NewTimer(), c.NewTimer()
		for range 2 {
			outer.Start()
			inner.Start()
			inner.Stop()
			outer.Stop()
			if o, i := outer.Elapsed(), inner.Elapsed(); i < 0 || o < i {
				t.Errorf("the outer span took %v, the inner %v", o, i)
			}
		}
		outer.Delete()
		outer.Delete()
		inner.Delete()
		return nil
	})
	if err != nil || len(c.Live()) != 0 {
		t.Errorf("%v, alive %v", err, c.Live())
	}
}

func TestInfoAsTextAndJSON(t *testing.T) {
	info, err := ReadInfo(Options{})
	if err != nil {
		t.Fatal(err)
	}
	data, err := json.Marshal(info)
	if err != nil {
		t.Fatal(err)
	}
	var back Info
	if err := json.Unmarshal(data, &back); err != nil || back.Caps == nil || back.Caps.Renderer != info.Caps.Renderer || len(back.Devices) != len(info.Devices) {
		t.Errorf("%v\n%s", err, data)
	}
	var b, short bytes.Buffer
	if err := errors.Join(info.WriteText(&b, true), info.WriteText(&short, false)); err != nil {
		t.Fatal(err)
	}
	if name := info.Caps.Extensions[0]; !strings.Contains(b.String(), name) || strings.Contains(short.String(), name) || !strings.Contains(short.String(), "info --all lists them") {
		t.Errorf("%s is to be in the long text alone:\n%s", name, short.String())
	}
	for _, want := range []string{info.Caps.Renderer, info.Caps.Version, "chosen: ", "MAX_TEXTURE_SIZE", "Extensions (", info.CPU.Model, info.Go, "budget"} {
		if !strings.Contains(b.String(), want) {
			t.Errorf("no %q in\n%s", want, b.String())
		}
	}
	for line := range strings.Lines(b.String()) {
		if strings.TrimRight(line, " \n") != strings.TrimRight(line, "\n") {
			t.Errorf("spaces at the end of %q", line)
		}
	}
	if err := info.WriteText(failing{}, true); !errors.Is(err, errFull) {
		t.Errorf("a failing writer gave %v", err)
	}
}

var errFull = errors.New("full")

type failing struct{}

func (failing) Write([]byte) (int, error) { return 0, errFull }

// A list of devices, or "all", opens each of them; the chosen ones are marked.
func TestSeveralDevices(t *testing.T) {
	every := devices(Options{})
	all := slices.DeleteFunc(slices.Clone(every), func(d DeviceInfo) bool { return d.Platform != "device" || d.Software })
	if len(all) == 0 { // no hardware
		all = every
	}
	for _, c := range []struct {
		wish string
		want int // -1: a WishError
	}{{"0,1", 2}, {"1,0", 2}, {"all", len(all)}, {"1", 1}, {"", 1}, {"0,0", -1}, {"0,", -1}, {"0,99", -1}, {"x,", -1}} {
		t.Setenv("STENCILDB_DEVICE", c.wish)
		list, err := OpenAll(Options{Memory: 1 << 20})
		var wish *WishError
		if len(list) != max(0, c.want) || errors.As(err, &wish) != (c.want < 0) || c.want < 0 && !strings.Contains(err.Error(), "STENCILDB_DEVICE: ") {
			t.Errorf("%q opens %d, %v", c.wish, len(list), err)
		}
		chosen := 0
		for _, d := range devices(Options{}) {
			if d.Chosen {
				chosen++
			}
		}
		if c.want > 0 && chosen != c.want {
			t.Errorf("%q: %d are marked", c.wish, chosen)
		}
		for _, o := range list {
			if o.Caps().Budget != 1<<20 {
				t.Errorf("%q: a budget of %d", c.wish, o.Caps().Budget)
			}
			if err := o.Close(); err != nil {
				t.Error(err)
			}
		}
	}
	t.Setenv("STENCILDB_DEVICE", "1,0")
	c, err := Open(Options{})
	if err != nil {
		t.Fatal(err)
	}
	if c.Device().Index != 1 {
		t.Errorf("device %d", c.Device().Index)
	}
	if err := c.Close(); err != nil {
		t.Error(err)
	}
}
