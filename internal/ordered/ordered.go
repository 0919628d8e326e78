// Package ordered computes the elements of a sequence on several goroutines and
// yields the results in the order of the sequence.
package ordered

import (
	"iter"
	"runtime"

	"github.com/stencildb/stencildb/internal/parallel"
)

// Map yields f of every element of in. Each worker has a number from 0. At most
// 2*workers results are computed ahead of the one that is yielded. When the caller
// stops, Map returns after the calls of f that are under way. A panic in f, or in the
// sequence, becomes one of the caller's goroutine, with a [*parallel.Panic].
func Map[A, B any](workers int, in iter.Seq[A], f func(worker int, a A) B) iter.Seq[B] {
	type result struct {
		b     B
		wrong *parallel.Panic
	}
	call := func(w int, a A) (r result) {
		defer func() { r.wrong = parallel.Caught(recover()) }()
		r.b = f(w, a)
		return r
	}
	return func(yield func(B) bool) {
		free, order, stop := make(chan int, workers), make(chan chan result, 2*workers), make(chan struct{})
		for w := range workers {
			free <- w
		}
		var wg parallel.Group
		defer wg.Wait()
		defer close(stop)
		wg.Go(func() {
			defer close(order)
			defer func() {
				if p := parallel.Caught(recover()); p != nil {
					out := make(chan result, 1)
					out <- result{wrong: p}
					select {
					case order <- out:
					case <-stop:
					}
				}
			}()
			for a := range in {
				out := make(chan result, 1)
				select {
				case order <- out:
				case <-stop:
					return
				}
				w := <-free
				wg.Go(func() {
					out <- call(w, a)
					free <- w
				})
			}
		})
		for out := range order {
			r := <-out
			if r.wrong != nil {
				panic(r.wrong)
			}
			if !yield(r.b) {
				return
			}
		}
	}
}

// Each calls do for 0 to n-1, on all cores, and returns when all calls have.
func Each(n int, do func(int)) {
	for range Map(runtime.GOMAXPROCS(0), func(yield func(int) bool) {
		for i := range n {
			if !yield(i) {
				return
			}
		}
	}, func(_, i int) bool { do(i); return true }) {
	}
}
