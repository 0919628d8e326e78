package glctx

import (
	"sync/atomic"
	"time"

	"github.com/go-gl/gl/v4.5-core/gl"
)

// working counts the contexts of the process whose GL threads run something.
var working atomic.Int32

// waitSpin is how long WaitForDevice looks without sleeping. waitPause is how long it keeps out of the driver
// between two looks, because another thread that hands passes over waits while it is inside.
const (
	waitSpin  = 2 * time.Millisecond
	waitPause = 10 * time.Microsecond
)

// WaitForDevice waits until the device has done what it was given, where other contexts work or,
// opened together with this one, are about to. NVIDIA's driver lets no other thread in while
// one waits inside it for a read-back, so that two devices would work in turns. A context
// that works alone reads back at once. Call it before reading back, on the GL thread.
func (c *Context) WaitForDevice() {
	if !c.beside && working.Load() < 2 || c.caps.Software {
		return
	}
	fence := gl.FenceSync(gl.SYNC_GPU_COMMANDS_COMPLETE, 0)
	defer gl.DeleteSync(fence)
	gl.Flush()
	for start := time.Now(); gl.ClientWaitSync(fence, 0, 0) == gl.TIMEOUT_EXPIRED; {
		if time.Since(start) > waitSpin {
			time.Sleep(waitSpin / 20)
		}
		for look := time.Now(); time.Since(look) < waitPause; {
		}
	}
}
