package glctx

import (
	"os"
	"runtime"
	"slices"
	"strings"

	"github.com/go-gl/gl/v4.5-core/gl"
)

// Caps is what a device can do, read once when its context is opened.
type Caps struct {
	Vendor   string `json:"vendor"`
	Renderer string `json:"renderer"`
	Version  string `json:"version"`
	GLSL     string `json:"glsl"`
	// Software says that the CPU renders (llvmpipe and the like).
	Software bool `json:"software"`

	MaxTextureSize   int   `json:"max_texture_size"`   // texels, each way
	MaxStorageBlock  int64 `json:"max_storage_block"`  // bytes of a shader storage block
	MaxTextureBuffer int   `json:"max_texture_buffer"` // texels
	SamplesBits      int   `json:"samples_bits"`       // of an occlusion query's counter

	// Multiprocessors is how many units share the work groups of a dispatch: the
	// streaming multiprocessors where the driver tells, the cores in software,
	// else 0.
	Multiprocessors int `json:"multiprocessors"`

	DepthBounds bool `json:"depth_bounds"` // EXT_depth_bounds_test
	// BufferAddresses says that programs may read buffers by their addresses (NV_shader_buffer_load).
	BufferAddresses bool `json:"buffer_addresses"`
	GPUTimer        bool `json:"gpu_timer"` // timer queries tell the truth: not in software

	MemoryTotal int64 `json:"memory_total"` // bytes on the GPU; of RAM where the driver does not say
	MemoryFree  int64 `json:"memory_free"`  // bytes, likewise, when the context was opened
	Budget      int64 `json:"budget"`       // bytes that columns and buffers may take in all

	Extensions []string `json:"extensions"` // sorted, without the disabled ones
	Disabled   []string `json:"disabled,omitempty"`
	// Limits holds every limit read, by its GL name without "GL_".
	Limits map[string]int64 `json:"limits"`

	major, minor int
}

// Has reports whether the extension is there and not disabled, with or without
// its "GL_".
func (c *Caps) Has(extension string) bool {
	_, found := slices.BinarySearch(c.Extensions, "GL_"+strings.TrimPrefix(extension, "GL_"))
	return found
}

// software names the renderers that run on the CPU.
var software = []string{"llvmpipe", "softpipe", "swrast", "lavapipe", "swiftshader", "software rasterizer", "openswr"}

func isSoftware(renderer string) bool {
	renderer = strings.ToLower(renderer)
	return slices.ContainsFunc(software, func(name string) bool { return strings.Contains(renderer, name) })
}

// limits are the glGetInteger64v limits that code here or a reader may want.
var limits = []struct {
	name string
	enum uint32
}{
	{"MAX_TEXTURE_SIZE", gl.MAX_TEXTURE_SIZE},
	{"MAX_ARRAY_TEXTURE_LAYERS", gl.MAX_ARRAY_TEXTURE_LAYERS},
	{"MAX_TEXTURE_BUFFER_SIZE", gl.MAX_TEXTURE_BUFFER_SIZE},
	{"MAX_TEXTURE_IMAGE_UNITS", gl.MAX_TEXTURE_IMAGE_UNITS},
	{"MAX_COMBINED_TEXTURE_IMAGE_UNITS", gl.MAX_COMBINED_TEXTURE_IMAGE_UNITS},
	{"MAX_FRAMEBUFFER_WIDTH", gl.MAX_FRAMEBUFFER_WIDTH},
	{"MAX_FRAMEBUFFER_HEIGHT", gl.MAX_FRAMEBUFFER_HEIGHT},
	{"MAX_FRAMEBUFFER_SAMPLES", gl.MAX_FRAMEBUFFER_SAMPLES},
	{"MAX_COLOR_ATTACHMENTS", gl.MAX_COLOR_ATTACHMENTS},
	{"MAX_DRAW_BUFFERS", gl.MAX_DRAW_BUFFERS},
	{"MAX_FRAGMENT_UNIFORM_COMPONENTS", gl.MAX_FRAGMENT_UNIFORM_COMPONENTS},
	{"MAX_UNIFORM_BLOCK_SIZE", gl.MAX_UNIFORM_BLOCK_SIZE},
	{"MAX_SHADER_STORAGE_BLOCK_SIZE", gl.MAX_SHADER_STORAGE_BLOCK_SIZE},
	{"MAX_SHADER_STORAGE_BUFFER_BINDINGS", gl.MAX_SHADER_STORAGE_BUFFER_BINDINGS},
	{"MAX_FRAGMENT_SHADER_STORAGE_BLOCKS", gl.MAX_FRAGMENT_SHADER_STORAGE_BLOCKS},
	{"MAX_COMPUTE_SHADER_STORAGE_BLOCKS", gl.MAX_COMPUTE_SHADER_STORAGE_BLOCKS},
	{"MAX_COMPUTE_IMAGE_UNIFORMS", gl.MAX_COMPUTE_IMAGE_UNIFORMS},
	{"MAX_IMAGE_UNITS", gl.MAX_IMAGE_UNITS},
	{"MAX_COMPUTE_SHARED_MEMORY_SIZE", gl.MAX_COMPUTE_SHARED_MEMORY_SIZE},
	{"MAX_COMPUTE_WORK_GROUP_INVOCATIONS", gl.MAX_COMPUTE_WORK_GROUP_INVOCATIONS},
	{"MAX_DEBUG_LOGGED_MESSAGES", gl.MAX_DEBUG_LOGGED_MESSAGES},
	{"MAX_DEBUG_MESSAGE_LENGTH", gl.MAX_DEBUG_MESSAGE_LENGTH},
}

const smCountNV = 0x933B // GL_SM_COUNT_NV, of NV_shader_thread_group

// readCaps reads everything from the current context.
func readCaps(o Options) *Caps {
	c := &Caps{
		Vendor: text(gl.VENDOR), Renderer: text(gl.RENDERER),
		Version: text(gl.VERSION), GLSL: text(gl.SHADING_LANGUAGE_VERSION),
		Limits: map[string]int64{},
	}
	c.major, c.minor = integer(gl.MAJOR_VERSION), integer(gl.MINOR_VERSION)
	if c.Software = isSoftware(c.Renderer); c.Software {
		keepFreed()
	}
	c.readExtensions(o.disabled())
	for _, l := range limits {
		var v int64
		gl.GetInteger64v(l.enum, &v)
		c.Limits[l.name] = v
	}
	var groups int32
	gl.GetIntegeri_v(gl.MAX_COMPUTE_WORK_GROUP_COUNT, 0, &groups)
	c.Limits["MAX_COMPUTE_WORK_GROUP_COUNT"] = int64(groups)
	c.MaxTextureSize = int(c.Limits["MAX_TEXTURE_SIZE"])
	c.MaxStorageBlock = c.Limits["MAX_SHADER_STORAGE_BLOCK_SIZE"]
	c.MaxTextureBuffer = int(c.Limits["MAX_TEXTURE_BUFFER_SIZE"])
	c.SamplesBits = counterBits(gl.SAMPLES_PASSED)
	c.DepthBounds = c.Has("EXT_depth_bounds_test")
	c.BufferAddresses = c.Has("NV_shader_buffer_load") && c.Has("NV_gpu_shader5")
	// Software drivers stamp the time when they take a command, not when they
	// have done it.
	c.GPUTimer = !c.Software && counterBits(gl.TIMESTAMP) > 0 && !slices.Contains(c.Disabled, "GL_ARB_timer_query")
	switch {
	case c.Software:
		c.Multiprocessors = runtime.NumCPU()
	case c.Has("NV_shader_thread_group"):
		c.Multiprocessors = integer(smCountNV)
	}
	c.readMemory(o.Memory)
	for range maxErrors { // a limit that the driver does not know is 0, not an error
		if gl.GetError() == gl.NO_ERROR {
			break
		}
	}
	return c
}

func (c *Caps) readExtensions(disabled []string) {
	for i := range uint32(integer(gl.NUM_EXTENSIONS)) {
		name := gl.GoStr(gl.GetStringi(gl.EXTENSIONS, i))
		if !slices.Contains(disabled, name) {
			c.Extensions = append(c.Extensions, name)
		}
	}
	slices.Sort(c.Extensions)
	c.Extensions = slices.Compact(c.Extensions)
	c.Disabled = disabled
}

// disabled lists the extensions to pretend absent, sorted, each with its "GL_".
func (o Options) disabled() []string {
	var list []string
	for _, name := range slices.Concat(o.Disable, strings.Split(os.Getenv("STENCILDB_DISABLE"), ",")) {
		if name = strings.TrimSpace(name); name != "" {
			list = append(list, "GL_"+strings.TrimPrefix(name, "GL_"))
		}
	}
	slices.Sort(list)
	return slices.Compact(list)
}

func text(enum uint32) string { return gl.GoStr(gl.GetString(enum)) }

func integer(enum uint32) int {
	var v int32
	gl.GetIntegerv(enum, &v)
	return int(v)
}

// counterBits returns the width of a query's counter, 0 where it counts nothing.
func counterBits(target uint32) int {
	var bits int32
	gl.GetQueryiv(target, gl.QUERY_COUNTER_BITS, &bits)
	return int(bits)
}
