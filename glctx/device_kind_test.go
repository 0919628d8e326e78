package glctx

import (
	"errors"
	"strings"
	"testing"
)

// machine lists devices by platform and kind, as EGL does before any is opened.
func machine(kinds ...string) []DeviceInfo {
	var list []DeviceInfo
	for i, kind := range kinds {
		info := DeviceInfo{Index: i, Platform: "device", Software: kind == "software"}
		if kind == "surfaceless" {
			info.Platform, info.Renderer = "surfaceless", "llvmpipe"
		}
		list = append(list, info)
	}
	return list
}

func TestWhenNothingOpensTheErrorSaysWhatToDo(t *testing.T) {
	cases := []struct {
		wish     string
		all      []DeviceInfo
		failures []string
		want     string
	}{
		{"hardware", machine("software", "surfaceless"), nil,
			"glctx: --device asks for hardware, and no hardware device opens: there is 0 (software device), 1 (surfaceless, llvmpipe): " +
				"use --device software, or install the GPU vendor's driver with its EGL library"},
		{"Hardware", machine("hardware"), []string{"device 0 (hardware device): eglInitialize: EGL_BAD_ALLOC"},
			"glctx: --device asks for hardware, and no hardware device opens: device 0 (hardware device): eglInitialize: EGL_BAD_ALLOC: " +
				"there is 0 (hardware device): install the GPU vendor's driver with its EGL library"},
		{"software", machine("hardware"), nil,
			"glctx: --device asks for software, and no software device opens: there is 0 (hardware device): " +
				"use --device hardware, or install libegl1 and libgl1-mesa-dri (software rendering)"},
		{"surfaceless", machine("hardware"), nil,
			"glctx: --device asks for surfaceless, and no surfaceless device opens: there is 0 (hardware device): " +
				"leave --device out, or install libegl1 and libgl1-mesa-dri (software rendering)"},
		{"hardware", nil, nil,
			"glctx: --device asks for hardware, and no hardware device opens: there is no EGL device at all: " +
				"install libegl1 and libgl1-mesa-dri (software rendering), or the GPU vendor's driver with its EGL library"},
		{"", nil, nil,
			"glctx: no OpenGL 4.5 device: there is no EGL device at all: " +
				"install libegl1 and libgl1-mesa-dri (software rendering), or the GPU vendor's driver with its EGL library"},
		{"0", machine("hardware"), []string{"device 0 (hardware device): eglInitialize: EGL_BAD_ALLOC"},
			"glctx: no OpenGL 4.5 device: device 0 (hardware device): eglInitialize: EGL_BAD_ALLOC: " +
				"install libegl1 and libgl1-mesa-dri (software rendering), or the GPU vendor's driver with its EGL library"},
	}
	for _, c := range cases {
		err := noDevice(c.wish, "--device", c.all, c.failures)
		if err.Error() != c.want || !errors.Is(err, ErrNoDevice) {
			t.Errorf("%q:\n%v\nwant\n%s", c.wish, err, c.want)
		}
	}
}

// TestAKindThatIsNotThere asks this machine for the kind of device it lacks.
func TestAKindThatIsNotThere(t *testing.T) {
	for kind, isSoftware := range map[string]bool{"hardware": false, "software": true} {
		c, err := Open(Options{Device: kind})
		if err == nil {
			if c.Caps().Software != isSoftware {
				t.Errorf("%s opened %s", kind, c.Caps().Renderer)
			}
			if err := c.Close(); err != nil {
				t.Error(err)
			}
			continue
		}
		var wish *WishError
		if !errors.Is(err, ErrNoDevice) || errors.As(err, &wish) || !strings.Contains(err.Error(), "no "+kind+" device opens: there is 0 (") {
			t.Errorf("%s: %v", kind, err)
		}
	}
}

func TestANameThatIsNoDeviceIsAWishError(t *testing.T) {
	for _, device := range []string{"99", "-1", "gpu"} {
		_, err := Open(Options{Device: device})
		var wish *WishError
		if !errors.As(err, &wish) || errors.Is(err, ErrNoDevice) {
			t.Errorf("%s: %v", device, err)
		}
	}
}
