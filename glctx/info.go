package glctx

import (
	"runtime"

	"github.com/klauspost/cpuid/v2"
	"golang.org/x/sys/unix"
)

// Info is what "stencildb info" prints.
type Info struct {
	Devices []DeviceInfo `json:"devices"`
	// Caps is of the chosen device; nil where none opens, and Error says why.
	Caps    *Caps      `json:"caps,omitempty"`
	Error   string     `json:"error,omitempty"`
	CPU     CPUInfo    `json:"cpu"`
	Memory  HostMemory `json:"memory"`
	Go      string     `json:"go"`      // version of the toolchain
	OS      string     `json:"os"`      // and architecture: "linux/amd64"
	Windows bool       `json:"windows"` // built with windows
}

// CPUInfo describes the processor.
type CPUInfo struct {
	Model   string   `json:"model"`
	Cores   int      `json:"cores"`   // that this process may use, counting hyperthreads
	Threads int      `json:"threads"` // GOMAXPROCS
	SIMD    []string `json:"simd"`    // flags that matter for vector code
}

// ReadInfo looks into every device, opens the one that o asks for and reads all
// of it. The Info is never nil: without a device it describes the machine and
// the error says why none opens.
func ReadInfo(o Options) (*Info, error) {
	info := &Info{
		CPU: ReadCPU(), Memory: readHostMemory("/"),
		Go: runtime.Version(), OS: runtime.GOOS + "/" + runtime.GOARCH, Windows: HasWindows,
	}
	info.Devices = devices(o)
	c, err := Open(o)
	if err != nil {
		info.Error = err.Error()
		return info, err
	}
	info.Caps = c.Caps()
	return info, c.Close()
}

// simd are the processor features that vector code in Go or in Mesa can use.
var simd = []cpuid.FeatureID{
	cpuid.SSE2, cpuid.SSSE3, cpuid.SSE4, cpuid.SSE42, cpuid.POPCNT, cpuid.AVX, cpuid.F16C, cpuid.FMA3,
	cpuid.AVX2, cpuid.BMI1, cpuid.BMI2, cpuid.AVX512F, cpuid.AVX512BW, cpuid.AVX512CD, cpuid.AVX512DQ,
	cpuid.AVX512VL, cpuid.AVX512VBMI, cpuid.AVX512VBMI2, cpuid.AVX512VNNI, cpuid.AVX512BITALG,
	cpuid.AVX512VPOPCNTDQ, cpuid.AMXTILE, cpuid.ASIMD, cpuid.ASIMDDP, cpuid.SVE,
}

// LoadAverage is that of the last minute, of all cores together.
func LoadAverage() (float64, error) {
	var host unix.Sysinfo_t
	if err := unix.Sysinfo(&host); err != nil {
		return 0, err
	}
	const one = 1 << 16 // of the kernel's fixed point
	return float64(host.Loads[0]) / one, nil
}

// ReadCPU describes the machine's processor.
func ReadCPU() CPUInfo {
	c := CPUInfo{Model: cpuid.CPU.BrandName, Cores: runtime.NumCPU(), Threads: runtime.GOMAXPROCS(0), SIMD: []string{}}
	for _, f := range simd {
		if cpuid.CPU.Supports(f) {
			c.SIMD = append(c.SIMD, f.String())
		}
	}
	if c.Model == "" {
		c.Model = "unknown " + runtime.GOARCH
	}
	return c
}
