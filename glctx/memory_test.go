package glctx

import (
	"math"
	"os"
	"path/filepath"
	"testing"
)

func TestParseSize(t *testing.T) {
	good := map[string]int64{
		"1": 1, "1024": 1024, "512MiB": 512 << 20, "1.5GB": 1500000000, "2g": 2 << 30, " 3 KiB ": 3072,
		"1TB": 1e12, "7b": 7, "0.5k": 512,
	}
	for s, want := range good {
		if got, err := ParseSize(s); err != nil || got != want {
			t.Errorf("ParseSize(%q) = %d, %v; want %d", s, got, err, want)
		}
	}
	for _, s := range []string{"", "0", "-1", "GiB", "1 parsec", "nan", "inf", "1e300", "0.1"} {
		if got, err := ParseSize(s); err == nil {
			t.Errorf("ParseSize(%q) = %d", s, got)
		}
	}
}

func TestFormatSize(t *testing.T) {
	for n, want := range map[int64]string{0: "0 B", 1023: "1023 B", 1024: "1.0 KiB", 3 << 29: "1.5 GiB", 1 << 50: "1024.0 TiB", -1: "-1 B", math.MaxInt64: "8388608.0 TiB"} {
		if got := FormatSize(n); got != want {
			t.Errorf("FormatSize(%d) = %q, not %q", n, got, want)
		}
	}
}

func TestTheBudgetAskedForWins(t *testing.T) {
	if b := open(t, Options{Memory: 12345}).Caps().Budget; b != 12345 {
		t.Errorf("budget %d", b)
	}
	if _, err := Open(Options{Memory: -1}); err == nil {
		t.Error("a negative budget was taken")
	}
}

func TestSoftwareTakesHalfOfWhatIsFree(t *testing.T) {
	c := &Caps{Software: true, Extensions: []string{"GL_NVX_gpu_memory_info"}}
	c.readMemory(0)
	if c.MemoryFree <= 0 || c.Budget != c.MemoryFree/2 {
		t.Errorf("%+v", c)
	}
}

func TestHostMemory(t *testing.T) {
	const meminfo = "MemTotal:       1000 kB\nMemFree:  5 kB\nMemAvailable:    800 kB\n"
	cases := []struct {
		name   string
		files  map[string]string
		want   HostMemory
		usable int64
	}{
		{"no group", map[string]string{"proc/meminfo": meminfo}, HostMemory{1000 << 10, 800 << 10, 0}, 800 << 10},
		{"nothing readable", nil, HostMemory{}, 0},
		{"version 2", map[string]string{
			"proc/meminfo": meminfo, "proc/self/cgroup": "0::/a/b\n",
			"sys/fs/cgroup/a/b/memory.max": "max\n", "sys/fs/cgroup/a/memory.max": "4096\n",
		}, HostMemory{1000 << 10, 800 << 10, 4096}, 4096},
		{"version 2 in a container", map[string]string{
			"proc/meminfo": meminfo, "proc/self/cgroup": "0::/not/mounted\n", "sys/fs/cgroup/memory.max": "8192\n",
		}, HostMemory{1000 << 10, 800 << 10, 8192}, 8192},
		{"version 1", map[string]string{
			"proc/meminfo": meminfo, "proc/self/cgroup": "5:cpu:/x\n4:memory:/x\n",
			"sys/fs/cgroup/memory/x/memory.limit_in_bytes": "2048\n",
		}, HostMemory{1000 << 10, 800 << 10, 2048}, 2048},
		{"version 1 without a limit", map[string]string{
			"proc/meminfo": meminfo, "proc/self/cgroup": "4:memory:/\nnonsense\n",
			"sys/fs/cgroup/memory/memory.limit_in_bytes": "9223372036854771712\n",
		}, HostMemory{1000 << 10, 800 << 10, 0}, 800 << 10},
	}
	for _, k := range cases {
		t.Run(k.name, func(t *testing.T) {
			root := t.TempDir()
			for name, content := range k.files {
				file := filepath.Join(root, name)
				if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
					t.Fatal(err)
				}
				if err := os.WriteFile(file, []byte(content), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			got := readHostMemory(root)
			if got != k.want || got.usable() != k.usable {
				t.Errorf("%+v, usable %d", got, got.usable())
			}
		})
	}
}
