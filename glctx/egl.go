package glctx

/*
// go-gl names libEGL to the linker for the one function that is defined below, so
// that the program does not need it to start.
#cgo linux LDFLAGS: -Wl,--as-needed -ldl
#include <dlfcn.h>
#include <stdint.h>
#include <stdlib.h>
#include <EGL/egl.h>
#include <EGL/eglext.h>

// egl holds the functions of libEGL, once it is loaded.
static struct {
	PFNEGLGETPROCADDRESSPROC GetProcAddress;
	PFNEGLGETERRORPROC GetError;
	PFNEGLQUERYSTRINGPROC QueryString;
	PFNEGLINITIALIZEPROC Initialize;
	PFNEGLTERMINATEPROC Terminate;
	PFNEGLBINDAPIPROC BindAPI;
	PFNEGLCHOOSECONFIGPROC ChooseConfig;
	PFNEGLCREATECONTEXTPROC CreateContext;
	PFNEGLDESTROYCONTEXTPROC DestroyContext;
	PFNEGLMAKECURRENTPROC MakeCurrent;
	PFNEGLRELEASETHREADPROC ReleaseThread;
} egl;

// loadEGL returns NULL, or what is wrong.
static const char *loadEGL(const char *name) {
	void *library = dlopen(name, RTLD_NOW | RTLD_GLOBAL);
	if (!library) return dlerror();
	struct { const char *name; void *place; } functions[] = {
		{"eglGetProcAddress", &egl.GetProcAddress}, {"eglGetError", &egl.GetError},
		{"eglQueryString", &egl.QueryString}, {"eglInitialize", &egl.Initialize},
		{"eglTerminate", &egl.Terminate}, {"eglBindAPI", &egl.BindAPI},
		{"eglChooseConfig", &egl.ChooseConfig}, {"eglCreateContext", &egl.CreateContext},
		{"eglDestroyContext", &egl.DestroyContext}, {"eglMakeCurrent", &egl.MakeCurrent},
		{"eglReleaseThread", &egl.ReleaseThread},
	};
	for (unsigned i = 0; i < sizeof functions / sizeof *functions; i++)
		if (!(*(void **)functions[i].place = dlsym(library, functions[i].name))) return dlerror();
	return NULL;
}

// eglGetProcAddress stands in for libEGL's where go-gl names it.
__eglMustCastToProperFunctionPointerType eglGetProcAddress(const char *name) {
	return egl.GetProcAddress ? egl.GetProcAddress(name) : NULL;
}

// Handles cross to Go as uintptr_t: they are no Go pointers, and some drivers
// hand out small integers. Each function makes all its EGL calls on one thread
// and returns eglGetError with the result, because that error is per thread.

static const char *clientExtensions(void) {
	return egl.QueryString(EGL_NO_DISPLAY, EGL_EXTENSIONS);
}

static int queryDevices(uintptr_t *out, int max) {
	PFNEGLQUERYDEVICESEXTPROC query = (PFNEGLQUERYDEVICESEXTPROC)egl.GetProcAddress("eglQueryDevicesEXT");
	EGLDeviceEXT devices[64];
	EGLint n = 0;
	if (!query || max > 64 || !query(max, devices, &n)) return 0;
	for (int i = 0; i < n; i++) out[i] = (uintptr_t)devices[i];
	return n;
}

static const char *deviceString(uintptr_t device, int name) {
	PFNEGLQUERYDEVICESTRINGEXTPROC query = (PFNEGLQUERYDEVICESTRINGEXTPROC)egl.GetProcAddress("eglQueryDeviceStringEXT");
	return query ? query((EGLDeviceEXT)device, name) : NULL;
}

static uintptr_t platformDisplay(int platform, uintptr_t native) {
	PFNEGLGETPLATFORMDISPLAYEXTPROC get = (PFNEGLGETPLATFORMDISPLAYEXTPROC)egl.GetProcAddress("eglGetPlatformDisplayEXT");
	return get ? (uintptr_t)get(platform, (void *)native, NULL) : 0;
}

static int initDisplay(uintptr_t display, int *major, int *minor) {
	EGLint a = 0, b = 0;
	if (!egl.Initialize((EGLDisplay)display, &a, &b)) return egl.GetError();
	*major = a;
	*minor = b;
	return EGL_SUCCESS;
}

static void terminateDisplay(uintptr_t display) { egl.Terminate((EGLDisplay)display); }

static const char *displayExtensions(uintptr_t display) {
	return egl.QueryString((EGLDisplay)display, EGL_EXTENSIONS);
}

enum { STEP_NONE, STEP_API, STEP_CONFIG, STEP_CREATE, STEP_CURRENT };

typedef struct { uintptr_t context; int step, error; } created;

static created createContext(uintptr_t display, int noConfig, const EGLint *attributes) {
	created c = {0, STEP_API, EGL_SUCCESS};
	EGLConfig config = EGL_NO_CONFIG_KHR;
	if (!egl.BindAPI(EGL_OPENGL_API)) goto failed;
	if (!noConfig) {
		EGLint wanted[] = {EGL_SURFACE_TYPE, 0, EGL_RENDERABLE_TYPE, EGL_OPENGL_BIT, EGL_NONE};
		EGLint n = 0;
		c.step = STEP_CONFIG;
		if (!egl.ChooseConfig((EGLDisplay)display, wanted, &config, 1, &n)) goto failed;
		if (n < 1) { c.error = EGL_BAD_CONFIG; return c; }
	}
	c.step = STEP_CREATE;
	EGLContext context = egl.CreateContext((EGLDisplay)display, config, EGL_NO_CONTEXT, attributes);
	if (context == EGL_NO_CONTEXT) goto failed;
	c.step = STEP_CURRENT;
	if (!egl.MakeCurrent((EGLDisplay)display, EGL_NO_SURFACE, EGL_NO_SURFACE, context)) {
		c.error = egl.GetError();
		egl.DestroyContext((EGLDisplay)display, context);
		return c;
	}
	c.context = (uintptr_t)context;
	c.step = STEP_NONE;
	return c;
failed:
	c.error = egl.GetError();
	return c;
}

static void destroyContext(uintptr_t display, uintptr_t context) {
	egl.MakeCurrent((EGLDisplay)display, EGL_NO_SURFACE, EGL_NO_SURFACE, EGL_NO_CONTEXT);
	egl.DestroyContext((EGLDisplay)display, (EGLContext)context);
	egl.ReleaseThread();
}

static void *procAddress(const char *name) { return (void *)egl.GetProcAddress(name); }
*/
import "C"

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"sync"
	"unsafe"
)

// eglHandle is an EGLDisplay, EGLDeviceEXT or EGLContext.
type eglHandle = C.uintptr_t

// platformSurfaceless is EGL_PLATFORM_SURFACELESS_MESA.
const platformSurfaceless = 0x31DD

// eglDevice is one way to reach a GL implementation without a display.
type eglDevice struct {
	platform   int       // EGL_PLATFORM_DEVICE_EXT or platformSurfaceless
	native     eglHandle // the EGLDeviceEXT; 0 for surfaceless
	extensions []string  // of the device
	vendor     string    // EGL_VENDOR of the device where the driver says it
	renderer   string    // EGL_RENDERER_EXT, likewise
	file       string    // DRM node, e.g. /dev/dri/card0
}

func (d *eglDevice) software() bool {
	return slices.Contains(d.extensions, "EGL_MESA_device_software")
}

// quiet keeps Mesa's warnings about absent DRM nodes off standard error, unless
// the user asked for a level.
var quiet = sync.OnceFunc(func() {
	if os.Getenv("EGL_LOG_LEVEL") == "" {
		_ = os.Setenv("EGL_LOG_LEVEL", "fatal")
	}
})

// libEGL is the library's name, as libglvnd and every driver install it.
var libEGL = "libEGL.so.1"

// loadLibrary loads libEGL, once.
var loadLibrary = sync.OnceValue(func() error {
	quiet()
	name := C.CString(libEGL)
	defer C.free(unsafe.Pointer(name))
	if wrong := C.loadEGL(name); wrong != nil {
		return errors.New(C.GoString(wrong))
	}
	return nil
})

// enumerate lists every device of the device platform, then surfaceless; none where
// libEGL cannot be loaded.
func enumerate() []eglDevice {
	if loadLibrary() != nil {
		return nil
	}
	client := strings.Fields(C.GoString(C.clientExtensions()))
	var list []eglDevice
	enumerable := slices.Contains(client, "EGL_EXT_device_enumeration") || slices.Contains(client, "EGL_EXT_device_base")
	if enumerable && slices.Contains(client, "EGL_EXT_platform_device") {
		var handles [64]eglHandle
		n := int(C.queryDevices(&handles[0], C.int(len(handles))))
		for _, h := range handles[:n] {
			list = append(list, describe(h))
		}
	}
	if slices.Contains(client, "EGL_MESA_platform_surfaceless") {
		list = append(list, eglDevice{platform: platformSurfaceless})
	}
	return list
}

func describe(h eglHandle) eglDevice {
	d := eglDevice{platform: C.EGL_PLATFORM_DEVICE_EXT, native: h}
	d.extensions = strings.Fields(C.GoString(C.deviceString(h, C.EGL_EXTENSIONS)))
	// Asking for a string whose extension is absent is an EGL error.
	if slices.Contains(d.extensions, "EGL_EXT_device_query_name") {
		d.vendor = C.GoString(C.deviceString(h, C.EGL_VENDOR))
		d.renderer = C.GoString(C.deviceString(h, 0x335F)) // EGL_RENDERER_EXT
	}
	if slices.Contains(d.extensions, "EGL_EXT_device_drm") {
		d.file = C.GoString(C.deviceString(h, C.EGL_DRM_DEVICE_FILE_EXT))
	}
	return d
}

// displays counts the contexts on each display: EGL gives every caller the same
// display of a device, and eglTerminate would take it from all of them.
var displays = struct {
	sync.Mutex
	users map[eglHandle]int
}{users: map[eglHandle]int{}}

// eglDisplay is one use of an initialised display.
type eglDisplay struct {
	handle       eglHandle
	major, minor int
	extensions   []string
}

func acquireDisplay(d *eglDevice) (*eglDisplay, error) {
	displays.Lock()
	defer displays.Unlock()
	handle := C.platformDisplay(C.int(d.platform), d.native)
	if handle == 0 {
		return nil, fmt.Errorf("eglGetPlatformDisplay: no display")
	}
	var major, minor C.int
	// Initialising an initialised display is allowed and changes nothing.
	if code := C.initDisplay(handle, &major, &minor); code != C.EGL_SUCCESS {
		return nil, fmt.Errorf("eglInitialize: %s", eglErrorText(int(code)))
	}
	displays.users[handle]++
	return &eglDisplay{
		handle: handle, major: int(major), minor: int(minor),
		extensions: strings.Fields(C.GoString(C.displayExtensions(handle))),
	}, nil
}

func (d *eglDisplay) release() {
	displays.Lock()
	defer displays.Unlock()
	displays.users[d.handle]--
	if displays.users[d.handle] == 0 {
		delete(displays.users, d.handle)
		C.terminateDisplay(d.handle)
	}
}

func (d *eglDisplay) has(extension string) bool { return slices.Contains(d.extensions, extension) }

func (d *eglDisplay) atLeast(major, minor int) bool {
	return d.major > major || d.major == major && d.minor >= minor
}

// eglSurface is a context without a surface: all drawing goes to framebuffer
// objects.
type eglSurface struct {
	device  eglDevice
	debug   bool
	display *eglDisplay
	context eglHandle
}

// attach makes the context and makes it current on the calling thread.
func (s *eglSurface) attach() error {
	display, err := acquireDisplay(&s.device)
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
	if !display.atLeast(1, 5) && !display.has("EGL_KHR_create_context") {
		return fmt.Errorf("EGL %d.%d without EGL_KHR_create_context cannot make a core context", display.major, display.minor)
	}
	if !display.has("EGL_KHR_surfaceless_context") {
		return fmt.Errorf("EGL_KHR_surfaceless_context is missing")
	}
	noConfig := C.int(0)
	if display.has("EGL_KHR_no_config_context") {
		noConfig = 1
	}
	var made C.created
	// A driver that cannot report a lost context is still worth having.
	for _, attributes := range [][]C.EGLint{s.attributes(display, true), s.attributes(display, false)} {
		if made = C.createContext(display.handle, noConfig, &attributes[0]); made.step == C.STEP_NONE {
			s.context = made.context
			return nil
		}
	}
	step := map[C.int]string{
		C.STEP_API: "eglBindAPI(OpenGL)", C.STEP_CONFIG: "eglChooseConfig",
		C.STEP_CREATE: "eglCreateContext(OpenGL 4.5 core)", C.STEP_CURRENT: "eglMakeCurrent",
	}[made.step]
	return fmt.Errorf("%s: %s", step, eglErrorText(int(made.error)))
}

func (s *eglSurface) attributes(display *eglDisplay, lossReported bool) []C.EGLint {
	list := []C.EGLint{
		C.EGL_CONTEXT_MAJOR_VERSION, 4, C.EGL_CONTEXT_MINOR_VERSION, 5,
		C.EGL_CONTEXT_OPENGL_PROFILE_MASK, C.EGL_CONTEXT_OPENGL_CORE_PROFILE_BIT,
	}
	modern := display.atLeast(1, 5)
	if s.debug && modern {
		list = append(list, C.EGL_CONTEXT_OPENGL_DEBUG, C.EGL_TRUE)
	} else if s.debug {
		list = append(list, C.EGL_CONTEXT_FLAGS_KHR, C.EGL_CONTEXT_OPENGL_DEBUG_BIT_KHR)
	}
	if lossReported && modern {
		list = append(list, C.EGL_CONTEXT_OPENGL_RESET_NOTIFICATION_STRATEGY, C.EGL_LOSE_CONTEXT_ON_RESET)
	}
	return append(list, C.EGL_NONE)
}

// detach destroys the context; on the GL thread.
func (s *eglSurface) detach() {
	C.destroyContext(s.display.handle, s.context)
	s.display.release()
}

// release has nothing left to do: an EGL context is gone after detach.
func (s *eglSurface) release() error { return nil }

// eglProcAddress finds a GL function. Through libglvnd the answer is a stub that
// goes to the driver of the current context, whatever display or window it
// belongs to: one table of functions serves all contexts of the process.
func eglProcAddress(name string) unsafe.Pointer {
	c := C.CString(name)
	defer C.free(unsafe.Pointer(c))
	return C.procAddress(c)
}

var eglErrors = map[int]string{
	C.EGL_NOT_INITIALIZED: "EGL_NOT_INITIALIZED", C.EGL_BAD_ACCESS: "EGL_BAD_ACCESS",
	C.EGL_BAD_ALLOC: "EGL_BAD_ALLOC", C.EGL_BAD_ATTRIBUTE: "EGL_BAD_ATTRIBUTE",
	C.EGL_BAD_CONFIG: "EGL_BAD_CONFIG", C.EGL_BAD_CONTEXT: "EGL_BAD_CONTEXT",
	C.EGL_BAD_DISPLAY: "EGL_BAD_DISPLAY", C.EGL_BAD_MATCH: "EGL_BAD_MATCH",
	C.EGL_BAD_PARAMETER: "EGL_BAD_PARAMETER", C.EGL_CONTEXT_LOST: "EGL_CONTEXT_LOST",
	C.EGL_SUCCESS: "no reason given",
}

func eglErrorText(code int) string {
	if text, ok := eglErrors[code]; ok {
		return text
	}
	return fmt.Sprintf("EGL error 0x%x", code)
}
