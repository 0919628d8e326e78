package glctx

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"

	"github.com/stencildb/stencildb/internal/parallel"
	"github.com/stencildb/stencildb/internal/xslices"
)

// DeviceInfo describes one way to open a context without a display.
type DeviceInfo struct {
	Index      int      `json:"index"`    // what Options.Device and STENCILDB_DEVICE take
	Platform   string   `json:"platform"` // "device", "surfaceless", or "window"
	Vendor     string   `json:"vendor,omitempty"`
	Renderer   string   `json:"renderer,omitempty"`
	Version    string   `json:"version,omitempty"` // of OpenGL
	File       string   `json:"file,omitempty"`    // DRM node
	Software   bool     `json:"software"`
	Extensions []string `json:"extensions,omitempty"` // EGL device extensions
	Chosen     bool     `json:"chosen"`
	Why        string   `json:"why,omitempty"`   // why it was chosen
	Error      string   `json:"error,omitempty"` // why it cannot be opened

	native uintptr // the EGLDeviceEXT; 0 for surfaceless
}

// String names the device in a line of an error: "1 (surfaceless, llvmpipe)".
func (d DeviceInfo) String() string {
	if d.Renderer == "" {
		return fmt.Sprintf("%d (%s)", d.Index, d.kind())
	}
	return fmt.Sprintf("%d (%s, %s)", d.Index, d.kind(), d.Renderer)
}

// kind is "hardware device", "software device" or "surfaceless", as far as is known.
func (d DeviceInfo) kind() string {
	if d.Platform == "surfaceless" {
		return d.Platform
	}
	return rendering(d.Software) + " device"
}

func rendering(software bool) string {
	if software {
		return "software"
	}
	return "hardware"
}

// opened adds what an open context tells.
func (d DeviceInfo) opened(c *Caps) DeviceInfo {
	d.Vendor, d.Renderer, d.Version, d.Software = c.Vendor, c.Renderer, c.Version, c.Software
	return d
}

// listed names devices: "0 (software device), 1 (surfaceless, llvmpipe)".
func listed(all []DeviceInfo) string {
	parts := xslices.Map(all, DeviceInfo.String)
	return strings.Join(parts, ", ")
}

// MayHaveHardware reports whether there may be a hardware device, at next to no cost.
// It is false where the system has no node of one, or STENCILDB_DEVICE asks for software.
func MayHaveHardware() bool {
	if strings.EqualFold(os.Getenv("STENCILDB_DEVICE"), "software") {
		return false
	}
	if runtime.GOOS != "linux" {
		return true
	}
	for _, pattern := range []string{"/dev/dri/render*", "/dev/nvidia[0-9]*", "/dev/dxg"} {
		if found, err := filepath.Glob(pattern); err == nil && len(found) > 0 {
			return true
		}
	}
	return false
}

// attempt is a device to try, how it must render, if that matters, and why it is tried.
type attempt struct {
	DeviceInfo
	must string // "hardware", "software"
	why  string
}

// rules lists what to try for each wish but a number, in order. A rule has devices of a kind, how they must
// render, and why; "" stands for the wish itself.
var rules = map[string][]struct{ kind, must, why string }{
	"": {{"hardware device", "hardware", "the first hardware device that opens"}, {"software device", "", "no hardware device opens: software"},
		{"surfaceless", "", "no device of the device platform opens: surfaceless"}},
	"hardware":    {{"hardware device", "hardware", ""}, {"surfaceless", "hardware", ""}},
	"software":    {{"software device", "software", ""}, {"surfaceless", "software", ""}},
	"surfaceless": {{"surfaceless", "", ""}},
}

// attempts lists what to try, in order, for a wish: a number, a kind, or "".
func attempts(wish, origin string, all []DeviceInfo) (list []attempt, err error) {
	n, notNumber := strconv.Atoi(wish)
	rule, ok := rules[strings.ToLower(wish)]
	switch {
	case notNumber == nil && n >= 0 && n < len(all):
		return []attempt{{all[n], "", origin + " asks for number " + wish}}, nil
	case !ok:
		if notNumber != nil {
			wish = strconv.Quote(wish)
		}
		choices := strings.TrimPrefix(listed(all)+`, "hardware", "software", "surfaceless"`, ", ")
		return nil, &WishError{fmt.Sprintf("glctx: %s: no device %s: take one of %s", origin, wish, choices)}
	}
	for _, r := range rule {
		for _, d := range all {
			if d.kind() == r.kind {
				list = append(list, attempt{d, r.must, cmp.Or(r.why, origin+" asks for "+strings.ToLower(wish))})
			}
		}
	}
	return list, nil
}

// wish returns the device asked for and where the wish comes from.
func (o Options) wish() (wish, origin string) {
	if o.Device != "" {
		return o.Device, cmp.Or(o.origin, "--device")
	}
	return os.Getenv("STENCILDB_DEVICE"), "STENCILDB_DEVICE"
}

// each divides a wish for several devices into wishes for one; "all" is every hardware
// device, and where there is none every device. One that is asked for twice is a
// [WishError].
func (o Options) each(all []DeviceInfo) ([]Options, error) {
	wish, origin := o.wish()
	parts := strings.Split(wish, ",")
	if strings.EqualFold(wish, "all") {
		some := slices.DeleteFunc(slices.Clone(all), func(d DeviceInfo) bool { return d.kind() != "hardware device" })
		if len(some) == 0 {
			some = all
		}
		parts = []string{"hardware"} // for the error where there is no device
		for i, d := range some {
			parts = append(parts[:i], strconv.Itoa(d.Index))
		}
	}
	var list []Options
	for i, p := range parts {
		switch {
		case p == "" && len(parts) > 1:
			return nil, &WishError{fmt.Sprintf("glctx: %s: %q: a device is missing beside a comma: write them as in 0,1", origin, wish)}
		case slices.Contains(parts[:i], p):
			return nil, &WishError{fmt.Sprintf("glctx: %s: %q: name each device once, as in 0,1", origin, wish)}
		}
		one := o
		one.Device, one.origin = p, origin
		list = append(list, one)
	}
	return list, nil
}

// OpenAll opens every device that o asks for: a list such as "0,1", or "all". The
// budget is each one's; software renderers share theirs unless Options.Memory gives
// it. An error closes what has been opened.
func OpenAll(o Options) ([]*Context, error) {
	wishes, err := o.each(enumerate())
	if err != nil {
		return nil, err
	}
	list := make([]*Context, len(wishes))
	errs := make([]error, len(wishes))
	var wg parallel.Group
	for i, w := range wishes {
		wg.Go(func() { list[i], errs[i] = Open(w) })
	}
	wg.Wait()
	err = errors.Join(errs...)
	for _, c := range list {
		switch {
		case c == nil:
			continue
		case err != nil:
			err = errors.Join(err, c.Close())
		case c.caps.Software && o.Memory == 0:
			c.caps.Budget /= int64(len(list))
		}
		c.beside = len(list) > 1
	}
	if err != nil {
		return nil, err
	}
	return list, nil
}

func (o Options) debug() bool { return o.Debug || os.Getenv("STENCILDB_DEBUG") == "1" }

// Open opens a context without a display on the device that o asks for, the first of
// several. A wish for a device that is not there is a [WishError]; where nothing opens the
// error is [ErrNoDevice] and says what to do.
func Open(o Options) (*Context, error) {
	if o.Memory < 0 {
		return nil, fmt.Errorf("glctx: a GPU memory budget of %d bytes: give a positive number, or 0 for the default", o.Memory)
	}
	all := enumerate()
	wishes, err := o.each(all)
	if err != nil {
		return nil, err
	}
	wish, origin := wishes[0].wish()
	list, err := attempts(wish, origin, all)
	if err != nil {
		return nil, err
	}
	var failures []string
	for _, a := range list {
		c, err := a.open(o)
		if err == nil && !a.fits(c.device) { // it works, but is not what was asked for: that shows in the list
			all[a.Index].Renderer, err = c.caps.Renderer, c.Close()
			if err == nil {
				continue
			}
		}
		if err == nil {
			c.device.Chosen, c.device.Why = true, a.why
			return c, nil
		}
		failures = append(failures, fmt.Sprintf("device %v: %v", a.DeviceInfo, err))
	}
	return nil, noDevice(wish, origin, all, failures)
}

// fits reports whether an open device renders as the attempt asks.
func (a attempt) fits(d DeviceInfo) bool { return a.must == "" || a.must == rendering(d.Software) }

func (d DeviceInfo) open(o Options) (*Context, error) {
	c, err := start(o, &eglSurface{device: d, debug: o.debug()})
	if err == nil {
		c.device = d.opened(c.caps)
	}
	return c, err
}

// What to install for software and for hardware rendering.
const (
	installSoftware = "install libegl1 and libgl1-mesa-dri (software rendering)"
	installHardware = "install the GPU vendor's driver with its EGL library"
)

// noDevice says that nothing opened for the wish, why not, what else there is, and
// what to do.
func noDevice(wish, origin string, all []DeviceInfo, failures []string) error {
	kind := strings.ToLower(wish)
	known := map[string]struct{ use, install string }{
		"hardware":    {"use --device software, or ", installHardware},
		"software":    {"use --device hardware, or ", installSoftware},
		"surfaceless": {"leave --device out, or ", installSoftware},
	}
	way, isKind := known[kind]
	advice := way.use + way.install
	switch {
	case !isKind || len(all) == 0:
		advice = installSoftware + ", or " + strings.TrimPrefix(installHardware, "install ")
	case !slices.ContainsFunc(all, func(d DeviceInfo) bool { return d.kind() != kind+" device" }):
		advice = way.install // there is no other kind to use
	}
	parts := []string{"glctx: " + ErrNoDevice.Error()}
	if isKind {
		parts[0] = fmt.Sprintf("glctx: %s asks for %s, and no %s device opens", origin, kind, kind)
	}
	if len(failures) > 0 {
		parts = append(parts, strings.Join(failures, "; "))
	}
	switch {
	case len(all) == 0 && loadLibrary() != nil:
		parts = append(parts, "the EGL library cannot be loaded ("+loadLibrary().Error()+")")
	case len(all) == 0:
		parts = append(parts, "there is no EGL device at all")
	case isKind || len(failures) == 0:
		parts = append(parts, "there is "+listed(all))
	}
	return &also{errors.New(strings.Join(append(parts, advice), ": ")), ErrNoDevice}
}

// devices lists every device of EGL's device platform and then surfaceless. Each is opened for a moment to
// learn who renders. It marks those that OpenAll with o takes. It is empty where EGL has no driver.
func devices(o Options) []DeviceInfo {
	all := enumerate()
	list := slices.Clone(all)
	for i, d := range all {
		c, err := d.open(Options{})
		if err != nil {
			list[i].Error = err.Error()
			continue
		}
		list[i] = c.device
		_ = c.Close() // nothing was created, so nothing can be reported
	}
	wishes, err := o.each(all)
	if err != nil {
		return list
	}
	for _, w := range wishes {
		wish, origin := w.wish()
		tries, _ := attempts(wish, origin, all) // none for a wish that is not there
		for _, a := range tries {
			if d := &list[a.Index]; d.Error == "" && a.fits(*d) {
				d.Chosen, d.Why = true, a.why
				break
			}
		}
	}
	return list
}
