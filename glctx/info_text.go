package glctx

import (
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
)

// textWidth is where lists are wrapped.
const textWidth = 100

// report writes aligned "name  value" lines and remembers the first error.
type report struct {
	w   io.Writer
	err error
}

func (r *report) printf(format string, args ...any) {
	if r.err == nil {
		_, r.err = fmt.Fprintf(r.w, format, args...)
	}
}

func (r *report) section(title string) { r.printf("%s\n", title) }

func (r *report) line(name, format string, args ...any) {
	r.printf("  %-16s %s\n", name, fmt.Sprintf(format, args...))
}

// list wraps words under each other.
func (r *report) list(name string, words []string) {
	const indent = 19
	var lines []string
	current := ""
	for _, word := range words {
		if current != "" && indent+len(current)+1+len(word) > textWidth {
			lines, current = append(lines, current), ""
		}
		if current != "" {
			current += " "
		}
		current += word
	}
	lines = append(lines, current)
	r.line(name, "%s", strings.Join(lines, "\n"+strings.Repeat(" ", indent)))
}

// WriteText writes the information for people.
func (i *Info) WriteText(w io.Writer) error {
	r := &report{w: w}
	r.section("Devices (choose with --device or STENCILDB_DEVICE)")
	for _, d := range i.Devices {
		r.device(d)
	}
	if i.Error != "" {
		r.line("error", "%s", i.Error)
	}
	if i.Caps != nil {
		r.caps(i.Caps)
	}
	r.section("Machine")
	r.line("CPU", "%s", i.CPU.Model)
	r.line("cores", "%d (GOMAXPROCS %d)", i.CPU.Cores, i.CPU.Threads)
	r.list("SIMD", i.CPU.SIMD)
	limit := "no limit set on the process"
	if i.Memory.Limit > 0 {
		limit = "limited to " + FormatSize(i.Memory.Limit)
	}
	r.line("RAM", "%s, %s available, %s", FormatSize(i.Memory.Total), FormatSize(i.Memory.Available), limit)
	r.line("built with", "%s %s, windows: %s", i.Go, i.OS, yes(i.Windows))
	return r.err
}

func (r *report) device(d DeviceInfo) {
	mark := " "
	if d.Chosen {
		mark = "*"
	}
	what := d.Renderer
	if what == "" {
		what = "unknown renderer"
	}
	r.printf("%s %d  %-11s  %-8s  %s\n", mark, d.Index, d.Platform, rendering(d.Software), what)
	if d.File != "" {
		r.printf("     %s\n", d.File)
	}
	if d.Error != "" {
		r.printf("     cannot be opened: %s\n", d.Error)
	}
	if d.Chosen {
		r.printf("     chosen: %s\n", d.Why)
	}
}

func (r *report) caps(c *Caps) {
	r.section("OpenGL")
	r.line("vendor", "%s", c.Vendor)
	r.line("renderer", "%s (%s)", c.Renderer, rendering(c.Software))
	r.line("version", "%s", c.Version)
	r.line("GLSL", "%s", c.GLSL)
	r.line("depth bounds", "%s", yes(c.DepthBounds))
	r.line("timing", "%s", map[bool]string{true: "GPU timer", false: "wall clock around glFinish"}[c.GPUTimer])
	r.line("sample counter", "%d bits", c.SamplesBits)
	r.line("memory", "%s, %s free, budget %s", FormatSize(c.MemoryTotal), FormatSize(c.MemoryFree), FormatSize(c.Budget))
	if len(c.Disabled) > 0 {
		r.list("disabled", c.Disabled)
	}
	r.section("Limits")
	for _, name := range slices.Sorted(maps.Keys(c.Limits)) {
		r.printf("  %-38s %12d\n", name, c.Limits[name])
	}
	r.section(fmt.Sprintf("Extensions (%d)", len(c.Extensions)))
	r.list("", c.Extensions)
}

func rendering(software bool) string {
	if software {
		return "software"
	}
	return "hardware"
}

func yes(b bool) string {
	if b {
		return "yes"
	}
	return "no"
}
