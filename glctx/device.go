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
	"sync"
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
}

// String names the device in a line of an error: "1 (software device)".
func (d DeviceInfo) String() string {
	what := d.Renderer
	if what == "" {
		what = d.kind()
	}
	return fmt.Sprintf("%d (%s)", d.Index, what)
}

func (d DeviceInfo) kind() string {
	switch {
	case d.Platform == "surfaceless":
		return "surfaceless"
	case d.Software:
		return "software device"
	}
	return "hardware device"
}

// MayHaveHardware reports whether there may be a hardware device, at next to no cost:
// false where the system has no node of one, or STENCILDB_DEVICE asks for software.
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

// candidate is a device with what is known of it before it is opened.
type candidate struct {
	egl  eglDevice
	info DeviceInfo
}

func candidates() []candidate {
	var list []candidate
	for i, d := range enumerate() {
		info := DeviceInfo{
			Index: i, Platform: "device", Software: d.software(), Extensions: d.extensions,
			Vendor: d.vendor, Renderer: d.renderer, File: d.file,
		}
		if d.platform == platformSurfaceless {
			info.Platform = "surfaceless"
		}
		list = append(list, candidate{d, info})
	}
	return list
}

// attempt is a candidate to try, what it must turn out to be once open, and why
// it is tried.
type attempt struct {
	candidate
	hardware, software bool // the renderer must be that
	why                string
}

// attempts lists what to try, in order, for a wish: a number, a kind, or "".
func attempts(wish, origin string, all []candidate) ([]attempt, error) {
	var list []attempt
	add := func(keep func(candidate) bool, a attempt) {
		for _, c := range all {
			if keep(c) {
				a.candidate = c
				list = append(list, a)
			}
		}
	}
	isHardware := func(c candidate) bool { return c.info.Platform == "device" && !c.info.Software }
	isSoftware := func(c candidate) bool { return c.info.Platform == "device" && c.info.Software }
	isSurfaceless := func(c candidate) bool { return c.info.Platform == "surfaceless" }
	if n, err := strconv.Atoi(wish); err == nil {
		add(func(c candidate) bool { return c.info.Index == n }, attempt{why: origin + " asks for number " + wish})
		if len(list) == 0 {
			return nil, &WishError{fmt.Sprintf("glctx: %s: no device %d: take one of %s", origin, n, choices(all))}
		}
		return list, nil
	}
	switch strings.ToLower(wish) {
	case "":
		add(isHardware, attempt{hardware: true, why: "the first hardware device that opens"})
		add(isSoftware, attempt{why: "no hardware device opens: software"})
		add(isSurfaceless, attempt{why: "no device of the device platform opens: surfaceless"})
	case "hardware":
		add(isHardware, attempt{hardware: true, why: origin + " asks for hardware"})
		add(isSurfaceless, attempt{hardware: true, why: origin + " asks for hardware"})
	case "software":
		add(isSoftware, attempt{software: true, why: origin + " asks for software"})
		add(isSurfaceless, attempt{software: true, why: origin + " asks for software"})
	case "surfaceless":
		add(isSurfaceless, attempt{why: origin + " asks for surfaceless"})
	default:
		return nil, &WishError{fmt.Sprintf("glctx: %s: no device %q: take one of %s", origin, wish, choices(all))}
	}
	return list, nil
}

func choices(all []candidate) string {
	var parts []string
	for _, c := range all {
		parts = append(parts, c.info.String())
	}
	return strings.Join(append(parts, `"hardware", "software", "surfaceless"`), ", ")
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
func (o Options) each(all []candidate) ([]Options, error) {
	wish, origin := o.wish()
	parts := strings.Split(wish, ",")
	if strings.EqualFold(wish, "all") {
		var hardware, every []string
		for _, c := range all {
			n := strconv.Itoa(c.info.Index)
			if every = append(every, n); c.info.kind() == "hardware device" {
				hardware = append(hardware, n)
			}
		}
		switch {
		case hardware != nil:
			parts = hardware
		case every != nil:
			parts = every
		default:
			parts = []string{"hardware"} // for the error
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
	wishes, err := o.each(candidates())
	if err != nil {
		return nil, err
	}
	list := make([]*Context, len(wishes))
	errs := make([]error, len(wishes))
	var wg sync.WaitGroup
	for i, w := range wishes {
		wg.Go(func() { list[i], errs[i] = Open(w) })
	}
	wg.Wait()
	if err := errors.Join(errs...); err != nil {
		for _, c := range list {
			if c != nil {
				err = errors.Join(err, c.Close())
			}
		}
		return nil, err
	}
	for _, c := range list {
		if c.caps.Software && o.Memory == 0 {
			c.caps.Budget /= int64(len(list))
		}
	}
	return list, nil
}

func (o Options) debug() bool { return o.Debug || os.Getenv("STENCILDB_DEBUG") == "1" }

// Open opens a context without a display on the device that o asks for, the first of
// several. A wish
// for a device that is not there is a [WishError]; where nothing opens the error is
// [ErrNoDevice] and says what to do.
func Open(o Options) (*Context, error) {
	if o.Memory < 0 {
		return nil, fmt.Errorf("glctx: a GPU memory budget of %d bytes: give a positive number, or 0 for the default", o.Memory)
	}
	all := candidates()
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
		var other *otherKindError
		switch {
		case err == nil:
			return c, nil
		case errors.As(err, &other):
			// It works, but is not what was asked for: that shows in the list.
			all[a.info.Index].info.Renderer = other.renderer
		default:
			failures = append(failures, fmt.Sprintf("device %v: %v", a.info, err))
		}
	}
	return nil, noDevice(wish, origin, all, failures)
}

// What to install for software and for hardware rendering.
const (
	installSoftware = "install libegl1 and libgl1-mesa-dri (software rendering)"
	installHardware = "install the GPU vendor's driver with its EGL library"
)

// noDevice says that nothing opened for the wish, why not, what else there is, and
// what to do.
func noDevice(wish, origin string, all []candidate, failures []string) error {
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
	case !slices.ContainsFunc(all, func(c candidate) bool { return c.info.kind() != kind+" device" }):
		advice = way.install // there is no other kind to use
	}
	var parts []string
	if isKind {
		parts = append(parts, fmt.Sprintf("glctx: %s asks for %s, and no %s device opens", origin, kind, kind))
	} else {
		parts = append(parts, fmt.Sprintf("glctx: %v", ErrNoDevice))
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
	return &noDeviceError{strings.Join(append(parts, advice), ": ")}
}

// listed names all devices: "0 (software device), 1 (surfaceless, llvmpipe)".
func listed(all []candidate) string {
	var parts []string
	for _, c := range all {
		name := c.info.kind()
		if c.info.Renderer != "" {
			name += ", " + c.info.Renderer
		}
		parts = append(parts, fmt.Sprintf("%d (%s)", c.info.Index, name))
	}
	return strings.Join(parts, ", ")
}

func (a attempt) open(o Options) (*Context, error) {
	c, err := start(o, &eglSurface{device: a.egl, debug: o.debug()})
	if err != nil {
		return nil, err
	}
	if a.hardware && c.caps.Software || a.software && !c.caps.Software {
		return nil, errors.Join(&otherKindError{c.caps.Renderer}, c.Close())
	}
	c.device = a.info
	c.device.Vendor, c.device.Renderer, c.device.Version = c.caps.Vendor, c.caps.Renderer, c.caps.Version
	c.device.Software = c.caps.Software
	c.device.Chosen, c.device.Why = true, a.why
	return c, nil
}

// Devices lists every device of EGL's device platform and then surfaceless, each
// opened for a moment to learn who renders, and marks the one that Open with the
// zero Options takes. It is empty where EGL has no driver.
func Devices() []DeviceInfo { return devices(Options{}) }

func devices(o Options) []DeviceInfo {
	all := candidates()
	for i := range all {
		info := &all[i].info
		c, err := attempt{candidate: all[i]}.open(Options{})
		if err != nil {
			info.Error = err.Error()
			continue
		}
		*info = c.device
		info.Chosen, info.Why = false, ""
		// Nothing was created, so nothing can be reported.
		_ = c.Close()
	}
	list := make([]DeviceInfo, len(all))
	for i, c := range all {
		list[i] = c.info
	}
	markChosen(o, all, list)
	return list
}

// markChosen follows the order of Open over devices already looked into.
func markChosen(o Options, all []candidate, list []DeviceInfo) {
	wishes, err := o.each(all)
	if err != nil {
		return
	}
	for _, w := range wishes {
		wish, origin := w.wish()
		tries, err := attempts(wish, origin, all)
		if err != nil {
			return
		}
		i := slices.IndexFunc(tries, func(a attempt) bool {
			d := list[a.info.Index]
			return d.Error == "" && !(a.hardware && d.Software) && !(a.software && !d.Software)
		})
		if i >= 0 {
			d := &list[tries[i].info.Index]
			d.Chosen, d.Why = true, tries[i].why
		}
	}
}
