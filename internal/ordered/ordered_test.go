package ordered

import (
	"iter"
	"sync/atomic"
	"testing"
)

func count(n int) iter.Seq[int] {
	return func(yield func(int) bool) {
		for i := 0; i < n && yield(i); i++ {
		}
	}
}

func TestResultsKeepTheOrder(t *testing.T) {
	for _, workers := range []int{1, 2, 7} {
		next := 0
		for got := range Map(workers, count(1000), func(_, a int) int { return a * a }) {
			if got != next*next {
				t.Fatalf("%d workers: result %d is %d", workers, next, got)
			}
			next++
		}
		if next != 1000 {
			t.Fatalf("%d workers: %d results", workers, next)
		}
	}
}

// Whoever stops early has had few elements computed in vain, and none after that.
func TestStopping(t *testing.T) {
	var calls atomic.Int64
	for got := range Map(3, count(1<<40), func(_, a int) int { calls.Add(1); return a }) {
		if got == 10 {
			break
		}
	}
	ended := calls.Load()
	if most := int64(11 + 2*3 + 1 + 3); ended > most {
		t.Errorf("%d calls, want at most %d", ended, most)
	}
	if calls.Load() != ended {
		t.Error("calls went on after the end")
	}
}
