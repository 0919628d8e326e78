package glctx

/*
#include <stdint.h>

// GL functions that the -core bindings lack, or that are called often enough to
// be worth one crossing into C for several calls.

typedef unsigned int (*getErrorFn)(void);
typedef void (*getIntegervFn)(unsigned int, int *);
typedef void (*depthBoundsFn)(double, double);
typedef void (*makeResidentFn)(unsigned int, unsigned int);
typedef void (*getAddressFn)(unsigned int, unsigned int, uint64_t *);

// poll returns glGetError in the upper half and the number of messages waiting
// in the debug log (GL_DEBUG_LOGGED_MESSAGES) in the lower.
static uint64_t poll(void *getError, void *getIntegerv) {
	uint64_t error = ((getErrorFn)getError)();
	int logged = 0;
	((getIntegervFn)getIntegerv)(0x9145, &logged);
	return error << 32 | (uint32_t)logged;
}

static void depthBounds(void *f, double lo, double hi) { ((depthBoundsFn)f)(lo, hi); }

// bufferAddress makes a buffer resident for reading (GL_READ_ONLY) and returns its
// GL_BUFFER_GPU_ADDRESS_NV.
static uint64_t bufferAddress(void *makeResident, void *getAddress, unsigned int buffer) {
	uint64_t address = 0;
	((makeResidentFn)makeResident)(buffer, 0x88B8);
	((getAddressFn)getAddress)(buffer, 0x8F1D, &address);
	return address;
}
*/
import "C"

import (
	"fmt"
	"sync"
	"unsafe"

	"github.com/go-gl/gl/v4.5-core/gl"
)

var functions struct {
	getError, getIntegerv, depthBounds, makeResident, getAddress unsafe.Pointer
}

// loadFunctions fills the process-wide function tables, go-gl's and ours. The
// calling thread has a current context.
var loadFunctions = sync.OnceValue(func() error {
	if err := loadLibrary(); err != nil { // a window's system may have found it elsewhere
		return fmt.Errorf("the EGL library cannot be loaded (%w): %s", err, installSoftware)
	}
	// Through libglvnd the address is a stub that goes to the driver of the current context, whatever display
	// or window it belongs to. So one table of functions serves all contexts of the process.
	address := func(name string) unsafe.Pointer {
		p := egl.GetProcAddress(name)
		return *(*unsafe.Pointer)(unsafe.Pointer(&p)) // of code, which Go does not move
	}
	if err := gl.InitWithProcAddrFunc(address); err != nil {
		return fmt.Errorf("the OpenGL library lacks the function %w of OpenGL 4.5: install libgl1-mesa-dri or the vendor's driver", err)
	}
	functions.getError = address("glGetError")
	functions.getIntegerv = address("glGetIntegerv")
	functions.depthBounds = address("glDepthBoundsEXT")
	functions.makeResident = address("glMakeNamedBufferResidentNV")
	functions.getAddress = address("glGetNamedBufferParameterui64vNV")
	return nil
})

// poll asks for one GL error and for the length of the debug log.
func poll() (code uint32, logged int) {
	both := uint64(C.poll(functions.getError, functions.getIntegerv))
	return uint32(both >> 32), int(uint32(both))
}

// DepthBounds sets the depth bounds of EXT_depth_bounds_test, 0 <= lo <= hi <= 1,
// in units of the depth buffer; on the GL thread. The core bindings lack the
// call. Where Caps.DepthBounds is false nothing is set, and the next Check
// returns an error.
func (c *Context) DepthBounds(lo, hi float64) {
	if !c.caps.DepthBounds || functions.depthBounds == nil {
		c.defect = fmt.Errorf("glctx: depth bounds asked for, but %s has no EXT_depth_bounds_test", c.caps.Renderer)
		return
	}
	C.depthBounds(functions.depthBounds, C.double(lo), C.double(hi))
}

// BufferAddress makes a buffer of NV_shader_buffer_load resident, until it is deleted, and
// returns where programs find it; on the GL thread. Where Caps.BufferAddresses is false it
// is 0, and the next Check returns an error.
func (c *Context) BufferAddress(buffer uint32) uint64 {
	if !c.caps.BufferAddresses || functions.makeResident == nil || functions.getAddress == nil {
		c.defect = fmt.Errorf("glctx: the address of a buffer asked for, but %s has no NV_shader_buffer_load", c.caps.Renderer)
		return 0
	}
	return uint64(C.bufferAddress(functions.makeResident, functions.getAddress, C.uint(buffer)))
}
