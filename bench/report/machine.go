package report

import (
	"errors"
	"runtime"
	"runtime/debug"
	"time"

	"golang.org/x/sys/unix"

	"github.com/stencildb/stencildb/cpu"
	"github.com/stencildb/stencildb/glctx"
)

// Machine says where a run took place.
type Machine struct {
	Device      string  `json:"device"`   // the OpenGL renderer; "" without one
	Driver      string  `json:"driver"`   // its version
	Software    bool    `json:"software"` // a software rasteriser, or none at all
	CPU         string  `json:"cpu"`
	Cores       int     `json:"cores"`
	GOMAXPROCS  int     `json:"gomaxprocs"`
	Go          string  `json:"go"`
	OS          string  `json:"os"`
	Commit      string  `json:"commit"`
	SIMD        string  `json:"simd"`         // what the backend cpu runs: "avx2", "portable"
	LoadAverage float64 `json:"load_average"` // of the last minute
	GPUTimer    bool    `json:"gpu_timer"`    // the device's timer is real
	Budget      int64   `json:"budget"`       // bytes that columns may take on the device

	Caps *glctx.Caps `json:"-"` // of the device; nil without one
}

// ReadMachine describes this machine and the OpenGL device that o picks. version
// stands for the commit where the build does not record it. A machine without a
// device is described too; a device that was asked for and is not there is an error.
func ReadMachine(o glctx.Options, version string) (Machine, error) {
	info, err := glctx.ReadInfo(o)
	if err != nil && (o.Device != "" || !errors.Is(err, glctx.ErrNoDevice)) {
		return Machine{}, err
	}
	m := Machine{
		Software: true,
		CPU:      info.CPU.Model, Cores: info.CPU.Cores, GOMAXPROCS: runtime.GOMAXPROCS(0),
		Go: info.Go, OS: info.OS, Commit: commit(version), SIMD: cpu.New(0).SIMD(),
	}
	if info.Caps != nil {
		m.Device, m.Driver, m.Software = info.Caps.Renderer, info.Caps.Version, info.Caps.Software
		m.GPUTimer, m.Budget, m.Caps = info.Caps.GPUTimer, info.Caps.Budget, info.Caps
	}
	m.LoadAverage, err = glctx.LoadAverage()
	return m, err
}

// commit is the revision that the program was built from.
func commit(version string) string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return version
	}
	revision, modified := "", ""
	for _, s := range info.Settings {
		switch {
		case s.Key == "vcs.revision":
			revision = s.Value
		case s.Key == "vcs.modified" && s.Value == "true":
			modified = "-dirty"
		}
	}
	if revision == "" {
		return version
	}
	return revision + modified
}

// ProcessorTime is what all threads of this process have taken of the processors.
func ProcessorTime() time.Duration {
	var t unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_PROCESS_CPUTIME_ID, &t); err != nil {
		return 0 // every Linux has this clock
	}
	return time.Duration(t.Nano())
}

// ChildProcessorTime is the processor time of the processes that have ended.
func ChildProcessorTime() time.Duration {
	var u unix.Rusage
	if err := unix.Getrusage(unix.RUSAGE_CHILDREN, &u); err != nil {
		return 0
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
