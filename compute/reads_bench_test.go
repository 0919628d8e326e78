package compute_test

import (
	"context"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/go-gl/gl/v4.5-core/gl"

	"github.com/stencildb/stencildb/glctx"
	"github.com/stencildb/stencildb/shaders"
)

// readMiB is what BenchmarkReads reads.
const readMiB = 40

// reads are ways for a compute program to read element i of a buffer of words words.
var reads = []struct {
	name, declare, read string
	words               int
}{
	{"block_uvec4", "layout(std430, binding = 1) readonly buffer B { uvec4 x[]; };", "x[i]", 4},
	{"block_uint", "layout(std430, binding = 1) readonly buffer B { uint x[]; };", "uvec4(x[i])", 1},
	{"image_RGBA32UI", "layout(binding = 0, rgba32ui) readonly uniform uimageBuffer x;", "imageLoad(x, i)", 4},
	{"image_R32UI", "layout(binding = 1, r32ui) readonly uniform uimageBuffer x;", "imageLoad(x, i)", 1},
	{"texel_RGBA32UI", "layout(binding = 0) uniform usamplerBuffer x;", "texelFetch(x, i)", 4},
	{"texel_R32UI", "layout(binding = 1) uniform usamplerBuffer x;", "texelFetch(x, i)", 1},
	{"none", "", "uvec4(i)", 4},
}

// orders are in which order the threads of a dispatch take the elements. Hardware wants steps of the
// whole dispatch; the eight threads of a vector want a run.
var orders = map[string]string{
	"steps": "for (int i = int(gl_GlobalInvocationID.x); i < n; i += threads)",
	"runs":  "for (int i = me / 8 * run + me % 8, end = (me / 8 + 1) * run; i < end; i += 8)",
}

// BenchmarkReads is how fast programs read a buffer of 40 MiB with 512 threads. The layout of planes
// and the programs for software go by it (docs/hardware.md). Median wall times in turns.
//
//	go test -tags egl -run - -bench Reads ./compute
func BenchmarkReads(b *testing.B) {
	ctx, err := glctx.Open(glctx.Options{})
	if err != nil {
		b.Fatal(err)
	}
	defer ctx.Close()
	type run struct {
		name    string
		program *shaders.Program
		took    []time.Duration
	}
	err = ctx.Do(context.Background(), func() error {
		var buffers [2]uint32
		gl.CreateBuffers(2, &buffers[0])
		defer gl.DeleteBuffers(2, &buffers[0])
		gl.NamedBufferStorage(buffers[0], 4<<10, nil, 0)
		gl.NamedBufferStorage(buffers[1], readMiB<<20, gl.Ptr(make([]byte, readMiB<<20)), 0)
		gl.BindBufferBase(gl.SHADER_STORAGE_BUFFER, 0, buffers[0])
		gl.BindBufferBase(gl.SHADER_STORAGE_BUFFER, 1, buffers[1])
		var textures [2]uint32
		gl.CreateTextures(gl.TEXTURE_BUFFER, 2, &textures[0])
		defer gl.DeleteTextures(2, &textures[0])
		for i, format := range []uint32{gl.RGBA32UI, gl.R32UI} {
			gl.TextureBuffer(textures[i], format, buffers[1])
			gl.BindTextureUnit(uint32(i), textures[i])
			gl.BindImageTexture(uint32(i), textures[i], 0, false, 0, gl.READ_ONLY, format)
		}
		cache := shaders.NewCache(ctx)
		defer cache.Close()
		var runs []*run
		for _, r := range reads {
			for order, loop := range orders {
				p, err := cache.Get(shaders.ComposeCompute(r.name, nil, nil, fmt.Sprintf(`layout(local_size_x = 64) in;
layout(std430, binding = 0) buffer Result { uint result[]; };
%s
uniform int n;
void main() {
    int me = int(gl_GlobalInvocationID.x), threads = int(gl_NumWorkGroups.x) * 64, run = n / threads * 8;
    uvec4 all = uvec4(0u);
    %s
        all ^= %s;
    result[me] = all.x ^ all.y ^ all.z ^ all.w;
}
`, r.declare, loop, r.read)))
				if err != nil {
					return err
				}
				if err := p.Set([]shaders.Uniform{shaders.Int("n", readMiB<<18/int32(r.words))}); err != nil {
					return err
				}
				runs = append(runs, &run{name: r.name + "_" + order, program: p})
			}
		}
		for b.Loop() {
			for _, r := range runs {
				gl.UseProgram(r.program.ID)
				ctx.Finish()
				start := time.Now()
				gl.DispatchCompute(8, 1, 1)
				ctx.Finish()
				r.took = append(r.took, time.Since(start))
			}
		}
		b.ReportMetric(0, "ns/op")
		for _, r := range runs {
			slices.Sort(r.took)
			b.ReportMetric(float64(r.took[len(r.took)/2].Microseconds())/1000, r.name+"-ms")
		}
		return ctx.Check("reads")
	})
	if err != nil {
		b.Fatal(err)
	}
}
