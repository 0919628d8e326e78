package engine

import "github.com/stencildb/stencildb/engine/backends"

var (
	// ErrUnsupported marks the error of a backend that cannot do a query which another backend may. Backend "auto" then tries the next one.
	ErrUnsupported = backends.ErrUnsupported
	// ErrDeviceMemory marks the error of a query whose columns do not fit the device's memory budget. Backend "auto" then tries the next one.
	ErrDeviceMemory = backends.ErrDeviceMemory
)

// Step is one pass of a query.
//
// For bench, trace and tests.
type Step = backends.Step

// Stage is where the passes of a watched statement run.
//
// For bench, trace and tests.
type Stage = backends.Stage
