package table

import (
	"runtime"

	"github.com/stencildb/stencildb/internal/parallel"
)

// InParts calls do for parts of n rows, on all cores, and waits for all. Each begins at a multiple of 64, so that parts have
// no word of a bitmap in common.
func InParts(n int, do func(from, to int)) {
	workers := runtime.GOMAXPROCS(0)
	size := max(1<<14, (n/(4*workers)+63)&^63)
	if n <= size { // others take time to wake
		if n > 0 {
			do(0, n)
		}
		return
	}
	var wg parallel.Group
	free := make(chan struct{}, workers)
	for from := 0; from < n; from += size {
		free <- struct{}{}
		wg.Go(func() {
			do(from, min(n, from+size))
			<-free
		})
	}
	wg.Wait()
}
