package ordered

import (
	"iter"
	"sync/atomic"
	"testing"

	"github.com/stencildb/stencildb/internal/parallel"
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

// A panic in a worker or in the sequence, however deep, comes to the caller after the
// results before it.
func TestPanicsComeToTheCaller(t *testing.T) {
	same := func(_, a int) int { return a }
	failing := func(yield func(int) bool) {
		for a := range count(20) {
			if a == 10 {
				panic("at 10")
			}
			if !yield(a) {
				return
			}
		}
	}
	for name, seq := range map[string]iter.Seq[int]{
		"worker": Map(3, count(20), func(_, a int) int {
			if a == 10 {
				panic("at 10")
			}
			return a
		}),
		"sequence": Map(3, failing, same),
		"nested":   Map(2, Map(3, failing, same), same),
	} {
		next := 0
		func() {
			defer func() {
				if p, ok := recover().(*parallel.Panic); !ok || p.Value != "at 10" || len(p.Stack) == 0 {
					t.Errorf("%s: caught %v", name, p)
				}
			}()
			for got := range seq {
				if got != next {
					t.Errorf("%s: result %d is %d", name, next, got)
				}
				next++
			}
		}()
		if next != 10 {
			t.Errorf("%s: %d results before the panic", name, next)
		}
	}
}
