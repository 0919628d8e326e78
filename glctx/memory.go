package glctx

import (
	"fmt"
	"math"
	"os"
	"path"
	"strconv"
	"strings"
	"sync"
	"time"
)

// Names of NVX_gpu_memory_info, in KiB.
const (
	memoryTotalNVX = 0x9048 // GPU_MEMORY_INFO_TOTAL_AVAILABLE_MEMORY_NVX
	memoryFreeNVX  = 0x9049 // GPU_MEMORY_INFO_CURRENT_AVAILABLE_VIDMEM_NVX
)

// readMemory finds how much memory there is and how much of it to use. Asking a software renderer for more
// than the host has ends in a kill, not in a GL error. So there is a budget, and half of the free memory is
// left to data that is being read, and to other programs.
func (c *Caps) readMemory(asked int64) {
	if !c.Software && c.Has("NVX_gpu_memory_info") {
		c.MemoryTotal = int64(integer(memoryTotalNVX)) << 10
		c.MemoryFree = int64(integer(memoryFreeNVX)) << 10
		c.Budget = c.MemoryFree / 5 * 4
	}
	if c.MemoryFree <= 0 {
		host := readHostMemory("/")
		c.MemoryTotal, c.MemoryFree = host.Total, host.usable()
		c.Budget = c.MemoryFree / 2
	}
	if asked > 0 {
		c.Budget = asked
	}
}

// HostMemory is the memory of the machine, in bytes.
type HostMemory struct {
	Total     int64 `json:"total"`
	Available int64 `json:"available"`
	Limit     int64 `json:"limit,omitempty"` // of the control group; 0 where there is none
}

// usable is the smaller of what is free and what the control group allows.
func (m HostMemory) usable() int64 {
	if m.Limit > 0 {
		return min(m.Available, m.Limit)
	}
	return m.Available
}

// free is what [FreeHostMemory] has read last, and when.
var free struct {
	mu    sync.Mutex
	at    time.Time
	bytes int64
}

// FreeHostMemory is how many bytes of the machine's memory may be used now, or a tenth of a second ago. Small
// statements would take longer to read that than for all else.
func FreeHostMemory() int64 {
	free.mu.Lock()
	defer free.mu.Unlock()
	if time.Since(free.at) > 100*time.Millisecond {
		free.at, free.bytes = time.Now(), readHostMemory("/").usable()
	}
	return free.bytes
}

// readHostMemory reads /proc and /sys below root.
func readHostMemory(root string) HostMemory {
	var m HostMemory
	data, _ := os.ReadFile(path.Join(root, "proc/meminfo"))
	for line := range strings.Lines(string(data)) {
		fields := strings.Fields(line)
		if len(fields) < 2 {
			continue
		}
		kib, _ := strconv.ParseInt(fields[1], 10, 64)
		switch fields[0] {
		case "MemTotal:":
			m.Total = kib << 10
		case "MemAvailable:":
			m.Available = kib << 10
		}
	}
	m.Limit = groupLimit(root)
	return m
}

// groupLimit is the smallest memory limit of this process's control group and of
// those above it, versions 1 and 2; 0 where none is set. Inside a container the
// path is often relative to a root that is not mounted, and then the files of
// the mounted root count.
func groupLimit(root string) int64 {
	limit := int64(math.MaxInt64)
	data, _ := os.ReadFile(path.Join(root, "proc/self/cgroup"))
	for line := range strings.Lines(string(data)) {
		parts := strings.SplitN(strings.TrimSpace(line), ":", 3)
		if len(parts) != 3 {
			continue
		}
		base, file := "sys/fs/cgroup", "memory.max"
		if parts[1] != "" { // version 1: one hierarchy per controller
			if parts[1] != "memory" {
				continue
			}
			base, file = "sys/fs/cgroup/memory", "memory.limit_in_bytes"
		}
		for dir := path.Join("/", parts[2]); ; dir = path.Dir(dir) {
			limit = min(limit, readLimit(path.Join(root, base, dir, file)))
			if dir == "/" {
				break
			}
		}
	}
	// Version 1 writes "no limit" as a number close to the largest.
	if limit >= 1<<60 {
		return 0
	}
	return limit
}

func readLimit(file string) int64 {
	data, err := os.ReadFile(file)
	if err != nil {
		return math.MaxInt64
	}
	n, err := strconv.ParseInt(strings.TrimSpace(string(data)), 10, 64)
	if err != nil || n <= 0 { // "max"
		return math.MaxInt64
	}
	return n
}

var units = []struct {
	suffix string
	bytes  float64
}{
	{"kib", 1 << 10}, {"mib", 1 << 20}, {"gib", 1 << 30}, {"tib", 1 << 40},
	{"kb", 1e3}, {"mb", 1e6}, {"gb", 1e9}, {"tb", 1e12},
	{"k", 1 << 10}, {"m", 1 << 20}, {"g", 1 << 30}, {"t", 1 << 40}, {"b", 1}, {"", 1},
}

// ParseSize reads a number of bytes as --gpu-memory takes it: "1073741824",
// "512MiB", "1.5GB"; K, M, G and T alone are powers of 1024. It is at least 1.
func ParseSize(s string) (int64, error) {
	trimmed := strings.ToLower(strings.TrimSpace(s))
	for _, u := range units {
		digits, ok := strings.CutSuffix(trimmed, u.suffix)
		if !ok {
			continue
		}
		n, err := strconv.ParseFloat(strings.TrimSpace(digits), 64)
		if n *= u.bytes; err != nil || !(n >= 1 && n < 1<<62) {
			break
		}
		return int64(n), nil
	}
	return 0, fmt.Errorf("size %q: write a number of bytes with or without a unit, such as 512MiB or 1.5GB", s)
}

// FormatSize writes bytes for people: "1.5 GiB".
func FormatSize(n int64) string {
	v, unit := float64(n), 0
	for v >= 1024 && unit < 4 {
		v, unit = v/1024, unit+1
	}
	if unit == 0 {
		return fmt.Sprintf("%d B", n)
	}
	return fmt.Sprintf("%.1f %s", v, []string{"", "KiB", "MiB", "GiB", "TiB"}[unit])
}
