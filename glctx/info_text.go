package glctx

import (
	"cmp"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
)

// report collects aligned "name  value" lines.
type report struct{ strings.Builder }

func (r *report) printf(format string, args ...any) { fmt.Fprintf(r, format, args...) }

func (r *report) line(name, format string, args ...any) {
	r.printf("  %-16s %s\n", name, fmt.Sprintf(format, args...))
}

// list wraps words under each other.
func (r *report) list(name string, words []string) {
	const indent, width = 19, 100
	text, column := "", indent
	for i, word := range words {
		switch column += 1 + len(word); {
		case i == 0:
			column--
		case column > width:
			text, column = text+"\n"+strings.Repeat(" ", indent), indent+len(word)
		default:
			text += " "
		}
		text += word
	}
	r.line(name, "%s", text)
}

// WriteText writes the information for people.
func (i *Info) WriteText(w io.Writer) error {
	r := &report{}
	r.printf("Devices (choose with --device or STENCILDB_DEVICE)\n")
	for _, d := range i.Devices {
		r.device(d)
	}
	if i.Error != "" {
		r.line("error", "%s", i.Error)
	}
	if i.Caps != nil {
		r.caps(i.Caps)
	}
	r.printf("Machine\n")
	r.line("CPU", "%s", i.CPU.Model)
	r.line("cores", "%d (GOMAXPROCS %d)", i.CPU.Cores, i.CPU.Threads)
	r.list("SIMD", i.CPU.SIMD)
	limit := "no limit set on the process"
	if i.Memory.Limit > 0 {
		limit = "limited to " + FormatSize(i.Memory.Limit)
	}
	r.line("RAM", "%s, %s available, %s", FormatSize(i.Memory.Total), FormatSize(i.Memory.Available), limit)
	r.line("built with", "%s %s, windows: %s", i.Go, i.OS, yes[i.Windows])
	_, err := io.WriteString(w, r.String())
	return err
}

var yes = map[bool]string{true: "yes", false: "no"}

func (r *report) device(d DeviceInfo) {
	mark := map[bool]string{true: "*", false: " "}[d.Chosen]
	r.printf("%s %d  %-11s  %-8s  %s\n", mark, d.Index, d.Platform, rendering(d.Software), cmp.Or(d.Renderer, "unknown renderer"))
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
	r.printf("OpenGL\n")
	r.line("vendor", "%s", c.Vendor)
	r.line("renderer", "%s (%s)", c.Renderer, rendering(c.Software))
	r.line("version", "%s", c.Version)
	r.line("GLSL", "%s", c.GLSL)
	r.line("depth bounds", "%s", yes[c.DepthBounds])
	r.line("timing", "%s", map[bool]string{true: "GPU timer", false: "wall clock around glFinish"}[c.GPUTimer])
	r.line("sample counter", "%d bits", c.SamplesBits)
	r.line("memory", "%s, %s free, budget %s", FormatSize(c.MemoryTotal), FormatSize(c.MemoryFree), FormatSize(c.Budget))
	if len(c.Disabled) > 0 {
		r.list("disabled", c.Disabled)
	}
	r.printf("Limits\n")
	for _, name := range slices.Sorted(maps.Keys(c.Limits)) {
		r.printf("  %-38s %12d\n", name, c.Limits[name])
	}
	r.printf("Extensions (%d)\n", len(c.Extensions))
	r.list("", c.Extensions)
}
