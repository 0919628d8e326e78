package compute_test

import (
	"context"
	"errors"
	"slices"
	"testing"
	"time"
	"unsafe"

	"github.com/go-gl/gl/v4.5-core/gl"

	"github.com/stencildb/stencildb/glctx"
	"github.com/stencildb/stencildb/shaders"
)

// BenchmarkReadBack is how long a small result takes from a dispatch to the host: the
// time that every query of compute has at least. Median wall times in turns.
//
//	go test -tags egl -run - -bench ReadBack ./compute
func BenchmarkReadBack(b *testing.B) {
	ctx, err := glctx.Open(glctx.Options{})
	if err != nil {
		b.Fatal(err)
	}
	defer ctx.Close()
	const size, persistent = 256, gl.MAP_READ_BIT | gl.MAP_PERSISTENT_BIT | gl.MAP_COHERENT_BIT
	err = ctx.Do(context.Background(), func() error {
		var result, mapped uint32
		gl.CreateBuffers(1, &result)
		gl.CreateBuffers(1, &mapped)
		defer gl.DeleteBuffers(1, &result)
		defer gl.DeleteBuffers(1, &mapped)
		gl.NamedBufferStorage(result, size, nil, gl.DYNAMIC_STORAGE_BIT)
		gl.NamedBufferStorage(mapped, size, nil, persistent|gl.CLIENT_STORAGE_BIT)
		memory := gl.MapNamedBufferRange(mapped, 0, size, persistent)
		if memory == nil {
			return errors.New("the buffer cannot be mapped")
		}
		var words [size / 4]uint32
		cache := shaders.NewCache(ctx)
		defer cache.Close()
		p, err := cache.Get(shaders.ComposeCompute("count", nil, nil, `layout(local_size_x = 64) in;
layout(std430, binding = 0) buffer Result { uint result[]; };
void main() { atomicAdd(result[gl_LocalInvocationIndex], 1u); }
`))
		if err != nil {
			return err
		}
		gl.UseProgram(p.ID)
		zero := func(buffer uint32) {
			gl.ClearNamedBufferSubData(buffer, gl.R32UI, 0, size, gl.RED_INTEGER, gl.UNSIGNED_INT, nil)
		}
		var zeros [size / 4]uint32
		update := func() { gl.NamedBufferSubData(result, 0, size, unsafe.Pointer(&zeros[0])) }
		dispatch := func(buffer uint32) {
			gl.BindBufferBase(gl.SHADER_STORAGE_BUFFER, 0, buffer)
			gl.MemoryBarrier(gl.SHADER_STORAGE_BARRIER_BIT)
			gl.DispatchCompute(128, 1, 1)
		}
		get := func() {
			gl.MemoryBarrier(gl.BUFFER_UPDATE_BARRIER_BIT)
			gl.GetNamedBufferSubData(result, 0, size, unsafe.Pointer(&words[0]))
		}
		fence := func(spin bool) {
			gl.MemoryBarrier(gl.CLIENT_MAPPED_BUFFER_BARRIER_BIT)
			f := gl.FenceSync(gl.SYNC_GPU_COMMANDS_COMPLETE, 0)
			if spin {
				for s := gl.ClientWaitSync(f, gl.SYNC_FLUSH_COMMANDS_BIT, 0); s == gl.TIMEOUT_EXPIRED; s = gl.ClientWaitSync(f, 0, 0) {
				}
			} else {
				gl.ClientWaitSync(f, gl.SYNC_FLUSH_COMMANDS_BIT, 1e9)
			}
			gl.DeleteSync(f)
			copy(words[:], unsafe.Slice((*uint32)(memory), len(words)))
		}
		copyBack := func() {
			gl.MemoryBarrier(gl.BUFFER_UPDATE_BARRIER_BIT)
			gl.CopyNamedBufferSubData(result, mapped, 0, 0, size)
		}
		ways := []struct {
			name string
			run  func()
			took []time.Duration
		}{
			{name: "get_only", run: get},
			{name: "clear_get", run: func() { zero(result); get() }},
			{name: "dispatch_get", run: func() { dispatch(result); get() }},
			{name: "clear_dispatch_get", run: func() { zero(result); dispatch(result); get() }},
			{name: "update_dispatch_get", run: func() { update(); dispatch(result); get() }},
			{name: "dispatch_dispatch_get", run: func() { dispatch(result); dispatch(result); get() }},
			{name: "clear_dispatch_copy_wait", run: func() { zero(result); dispatch(result); copyBack(); fence(false) }},
			{name: "clear_dispatch_copy_spin", run: func() { zero(result); dispatch(result); copyBack(); fence(true) }},
			{name: "clear_dispatch_mapped_spin", run: func() { zero(mapped); dispatch(mapped); fence(true) }},
			{name: "dispatch_copy_spin", run: func() { dispatch(result); copyBack(); fence(true) }},
			{name: "dispatch_finish", run: func() { dispatch(result); ctx.Finish() }},
		}
		for b.Loop() {
			for i := range ways {
				for range 3 { // the first after another way may pay for the change
					ctx.Finish()
					start := time.Now()
					ways[i].run()
					ways[i].took = append(ways[i].took, time.Since(start))
				}
			}
		}
		b.ReportMetric(0, "ns/op")
		for _, w := range ways {
			slices.Sort(w.took)
			b.ReportMetric(float64(w.took[len(w.took)/2].Nanoseconds())/1000, w.name+"-us")
		}
		return ctx.Check("read back")
	})
	if err != nil {
		b.Fatal(err)
	}
}
