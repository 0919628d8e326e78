// Package ordered computes the elements of a sequence on several goroutines and
// yields the results in the order of the sequence.
package ordered

import (
	"iter"
	"sync"
)

// Map yields f of every element of in. Each worker has a number from 0. At most
// 2*workers results are computed ahead of the one that is yielded. When the caller
// stops, Map returns after the calls of f that are under way.
func Map[A, B any](workers int, in iter.Seq[A], f func(worker int, a A) B) iter.Seq[B] {
	type job struct {
		a   A
		out chan B
	}
	return func(yield func(B) bool) {
		jobs, order, stop := make(chan job), make(chan chan B, 2*workers), make(chan struct{})
		var wg sync.WaitGroup
		defer wg.Wait()
		defer close(stop)
		wg.Go(func() {
			defer close(jobs)
			defer close(order)
			for a := range in {
				j := job{a, make(chan B, 1)}
				select {
				case order <- j.out:
				case <-stop:
					return
				}
				select {
				case jobs <- j:
				case <-stop:
					return
				}
			}
		})
		for w := range workers {
			wg.Go(func() {
				for j := range jobs {
					j.out <- f(w, j.a)
				}
			})
		}
		for out := range order {
			if !yield(<-out) {
				return
			}
		}
	}
}
