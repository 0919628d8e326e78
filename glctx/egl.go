package glctx

// go-gl names libEGL to the linker for the function below, which nothing calls, so that the
// program does not need it to start.

// #cgo linux LDFLAGS: -Wl,--as-needed
// #include <EGL/egl.h>
// #include <EGL/eglext.h>
// __eglMustCastToProperFunctionPointerType eglGetProcAddress(const char *name) { return 0; }
import "C"

import (
	"errors"
	"fmt"
	"os"
	"reflect"
	"runtime"
	"slices"
	"strings"
	"sync"

	"github.com/ebitengine/purego"
)

// egl holds the functions of libEGL, once it is loaded; those from QueryDevices on are
// extensions, nil where it lacks them. Handles are no Go pointers, and some drivers hand
// out small integers.
var egl struct {
	GetProcAddress     func(name string) uintptr
	GetError           func() int32 // of the calling thread
	QueryString        func(display uintptr, name int32) string
	Initialize         func(display uintptr, major, minor *int32) bool
	Terminate          func(display uintptr) bool
	BindAPI            func(api uint32) bool
	ChooseConfig       func(display uintptr, attributes *int32, configs *uintptr, size int32, n *int32) bool
	CreateContext      func(display, config, share uintptr, attributes *int32) uintptr
	DestroyContext     func(display, context uintptr) bool
	MakeCurrent        func(display, draw, read, context uintptr) bool
	ReleaseThread      func() bool
	QueryDevices       func(max int32, devices *uintptr, n *int32) bool                 `egl:"EXT"`
	QueryDeviceString  func(device uintptr, name int32) string                          `egl:"EXT"`
	GetPlatformDisplay func(platform uint32, native uintptr, attributes *int32) uintptr `egl:"EXT"`
}

// libEGL is the library's name, as libglvnd and every driver install it.
var libEGL = "libEGL.so.1"

// setDrivers sets, once, what drivers read from the environment when a display is opened.
var setDrivers = sync.OnceFunc(func() {
	if os.Getenv("EGL_LOG_LEVEL") == "" { // Mesa's warnings about absent DRM nodes stay off standard error
		_ = os.Setenv("EGL_LOG_LEVEL", "fatal")
	}
	// Mesa's zink may compile the uniforms of a dispatch into the program, and then use them for a later
	// dispatch (docs/hardware.md). Other drivers do not read this.
	_ = os.Setenv("ZINK_INLINE_UNIFORMS", "0")
})

// loadLibrary loads libEGL, once.
var loadLibrary = sync.OnceValue(func() error {
	setDrivers()
	runtime.LockOSThread() // dlerror tells a thread of its own failures
	defer runtime.UnlockOSThread()
	library, err := purego.Dlopen(libEGL, purego.RTLD_NOW|purego.RTLD_GLOBAL)
	if err != nil {
		return err
	}
	list := reflect.ValueOf(&egl).Elem()
	for i := range list.NumField() {
		f := list.Type().Field(i)
		suffix := f.Tag.Get("egl")
		address := uintptr(0)
		if suffix != "" {
			address = egl.GetProcAddress("egl" + f.Name + suffix)
		} else if address, err = purego.Dlsym(library, "egl"+f.Name); err != nil {
			return err
		}
		if address != 0 {
			purego.RegisterFunc(list.Field(i).Addr().Interface(), address)
		}
	}
	return nil
})

// enumerate lists every device of the device platform, then surfaceless; none where
// libEGL cannot be loaded.
func enumerate() (list []DeviceInfo) {
	if loadLibrary() != nil {
		return nil
	}
	client := strings.Fields(egl.QueryString(0, C.EGL_EXTENSIONS))
	enumerable := slices.Contains(client, "EGL_EXT_device_enumeration") || slices.Contains(client, "EGL_EXT_device_base")
	if enumerable && slices.Contains(client, "EGL_EXT_platform_device") {
		var handles [64]uintptr
		var n int32
		if egl.QueryDevices(int32(len(handles)), &handles[0], &n) {
			for _, h := range handles[:n] {
				list = append(list, describe(h))
			}
		}
	}
	if slices.Contains(client, "EGL_MESA_platform_surfaceless") {
		list = append(list, DeviceInfo{Platform: "surfaceless"})
	}
	for i := range list {
		list[i].Index = i
	}
	return list
}

func describe(h uintptr) DeviceInfo {
	d := DeviceInfo{Platform: "device", native: h, Extensions: strings.Fields(egl.QueryDeviceString(h, C.EGL_EXTENSIONS))}
	has := func(extension string) bool { return slices.Contains(d.Extensions, extension) }
	d.Software = has("EGL_MESA_device_software")
	// Asking for a string whose extension is absent is an EGL error.
	if has("EGL_EXT_device_query_name") {
		d.Vendor, d.Renderer = egl.QueryDeviceString(h, C.EGL_VENDOR), egl.QueryDeviceString(h, 0x335F) // EGL_RENDERER_EXT
	}
	if has("EGL_EXT_device_drm") {
		d.File = egl.QueryDeviceString(h, C.EGL_DRM_DEVICE_FILE_EXT)
	}
	return d
}

// displays counts the contexts on each display. EGL gives every caller the same display of a device, and
// eglTerminate would take it from all of them.
var displays = struct {
	sync.Mutex
	users map[uintptr]int
}{users: map[uintptr]int{}}

// eglDisplay is one use of an initialised display.
type eglDisplay struct {
	handle     uintptr
	modern     bool // EGL 1.5
	extensions []string
}

func acquireDisplay(d DeviceInfo) (*eglDisplay, error) {
	displays.Lock()
	defer displays.Unlock()
	platform := uint32(C.EGL_PLATFORM_DEVICE_EXT)
	if d.Platform == "surfaceless" {
		platform = C.EGL_PLATFORM_SURFACELESS_MESA
	}
	handle := egl.GetPlatformDisplay(platform, d.native, nil)
	if handle == 0 {
		return nil, errors.New("eglGetPlatformDisplay: no display")
	}
	var major, minor int32
	// Initialising an initialised display is allowed and changes nothing.
	if !egl.Initialize(handle, &major, &minor) {
		return nil, eglError("eglInitialize")
	}
	displays.users[handle]++
	return &eglDisplay{handle, major > 1 || minor >= 5, strings.Fields(egl.QueryString(handle, C.EGL_EXTENSIONS))}, nil
}

func (d *eglDisplay) release() {
	displays.Lock()
	defer displays.Unlock()
	displays.users[d.handle]--
	if displays.users[d.handle] == 0 {
		delete(displays.users, d.handle)
		egl.Terminate(d.handle)
	}
}

func (d *eglDisplay) has(extension string) bool { return slices.Contains(d.extensions, extension) }

// eglSurface is a context without a surface: all drawing goes to framebuffer
// objects.
type eglSurface struct {
	device  DeviceInfo
	debug   bool
	display *eglDisplay
	context uintptr
}

// attach makes the context and makes it current on the calling thread.
func (s *eglSurface) attach() error {
	display, err := acquireDisplay(s.device)
	if err != nil {
		return err
	}
	if err := s.create(display); err != nil {
		display.release()
		return err
	}
	s.display = display
	return nil
}

func (s *eglSurface) create(display *eglDisplay) error {
	if !display.modern && !display.has("EGL_KHR_create_context") {
		return errors.New("EGL without EGL_KHR_create_context cannot make a core context")
	}
	if !display.has("EGL_KHR_surfaceless_context") {
		return errors.New("EGL_KHR_surfaceless_context is missing")
	}
	if !egl.BindAPI(C.EGL_OPENGL_API) {
		return eglError("eglBindAPI(OpenGL)")
	}
	var config uintptr // none
	if !display.has("EGL_KHR_no_config_context") {
		var n int32
		wanted := []int32{C.EGL_SURFACE_TYPE, 0, C.EGL_RENDERABLE_TYPE, C.EGL_OPENGL_BIT, C.EGL_NONE}
		if !egl.ChooseConfig(display.handle, &wanted[0], &config, 1, &n) || n < 1 {
			return eglError("eglChooseConfig")
		}
	}
	// A driver that cannot report a lost context is still worth having.
	for _, lossReported := range []bool{true, false} {
		s.context = egl.CreateContext(display.handle, config, 0, &s.attributes(display, lossReported)[0])
		if s.context != 0 {
			break
		}
	}
	if s.context == 0 {
		return eglError("eglCreateContext(OpenGL 4.5 core)")
	}
	if !egl.MakeCurrent(display.handle, 0, 0, s.context) {
		err := eglError("eglMakeCurrent")
		egl.DestroyContext(display.handle, s.context)
		return err
	}
	return nil
}

func (s *eglSurface) attributes(display *eglDisplay, lossReported bool) []int32 {
	list := []int32{C.EGL_CONTEXT_MAJOR_VERSION, 4, C.EGL_CONTEXT_MINOR_VERSION, 5, C.EGL_CONTEXT_OPENGL_PROFILE_MASK, C.EGL_CONTEXT_OPENGL_CORE_PROFILE_BIT}
	switch {
	case s.debug && display.modern:
		list = append(list, C.EGL_CONTEXT_OPENGL_DEBUG, 1)
	case s.debug:
		list = append(list, C.EGL_CONTEXT_FLAGS_KHR, C.EGL_CONTEXT_OPENGL_DEBUG_BIT_KHR)
	}
	if lossReported && display.modern {
		list = append(list, C.EGL_CONTEXT_OPENGL_RESET_NOTIFICATION_STRATEGY, C.EGL_LOSE_CONTEXT_ON_RESET)
	}
	return append(list, C.EGL_NONE)
}

// detach destroys the context; on the GL thread.
func (s *eglSurface) detach() {
	egl.MakeCurrent(s.display.handle, 0, 0, 0)
	egl.DestroyContext(s.display.handle, s.context)
	s.display.release()
	egl.ReleaseThread() // the last call: any other makes EGL remember this thread, and the end of the thread frees that while the process may be ending, too
}

// release has nothing left to do: an EGL context is gone after detach.
func (s *eglSurface) release() error { return nil }

var eglErrors = []string{"no reason given", "EGL_NOT_INITIALIZED", "EGL_BAD_ACCESS", "EGL_BAD_ALLOC", "EGL_BAD_ATTRIBUTE", "EGL_BAD_CONFIG",
	"EGL_BAD_CONTEXT", "EGL_BAD_CURRENT_SURFACE", "EGL_BAD_DISPLAY", "EGL_BAD_MATCH", "EGL_BAD_NATIVE_PIXMAP", "EGL_BAD_NATIVE_WINDOW",
	"EGL_BAD_PARAMETER", "EGL_BAD_SURFACE", "EGL_CONTEXT_LOST"}

// eglError says why a function has failed on this thread.
func eglError(function string) error {
	code := int(egl.GetError())
	if i := code - 0x3000; i >= 0 && i < len(eglErrors) { // from EGL_SUCCESS on
		return fmt.Errorf("%s: %s", function, eglErrors[i])
	}
	return fmt.Errorf("%s: EGL error 0x%x", function, code)
}
