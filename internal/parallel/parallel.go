// Package parallel starts the goroutines of the engine and of what it calls. A panic of one of them does not end the process.
// Whoever waits for it gets it, as a panic or as an error. Nothing else in those packages starts goroutines.
package parallel

import (
	"context"
	"fmt"
	"runtime/debug"
	"sync"
	"sync/atomic"

	"golang.org/x/sync/errgroup"
)

// Panic is what a panic of another goroutine becomes for who waits for it.
type Panic struct {
	Value any
	Stack []byte // of that goroutine
}

// Error is one line with the panic's value.
func (p *Panic) Error() string { return fmt.Sprintf("panic: %v", p.Value) }

// Unwrap is the panic's value where that is an error.
func (p *Panic) Unwrap() error {
	err, _ := p.Value.(error)
	return err
}

// Caught is a recovered value; nil where there was no panic.
func Caught(value any) *Panic {
	p, again := value.(*Panic)
	if value == nil || again {
		return p
	}
	return &Panic{value, debug.Stack()}
}

// Call is the error of f; a panic of it is a [*Panic].
func Call(f func() error) (err error) {
	defer func() {
		if p := Caught(recover()); p != nil {
			err = p
		}
	}()
	return f()
}

// Go starts f, for which nobody waits. Where it panics, failed is told.
func Go(f func(), failed func(*Panic)) {
	go func() {
		defer func() {
			if p := Caught(recover()); p != nil {
				failed(p)
			}
		}()
		f()
	}()
}

// Group is some goroutines that one waits for: a [sync.WaitGroup] whose Wait panics where one of them has. The zero value is ready.
type Group struct {
	running  sync.WaitGroup
	panicked atomic.Pointer[Panic]
}

// Go starts f.
func (g *Group) Go(f func()) {
	g.running.Go(func() {
		defer func() {
			if p := Caught(recover()); p != nil {
				g.panicked.CompareAndSwap(nil, p)
			}
		}()
		f()
	})
}

// Wait waits for all. It panics with the first [*Panic] that one of them had since the last Wait.
func (g *Group) Wait() {
	g.running.Wait()
	if p := g.panicked.Swap(nil); p != nil {
		panic(p)
	}
}

// Errors is an [errgroup.Group] in which a panic is the error of its goroutine, a [*Panic]. The zero value is ready.
type Errors struct {
	plain errgroup.Group
	ended *errgroup.Group // one whose context ends with the first error; nil for plain
}

// WithContext is a group, and a context that ends with its first error.
func WithContext(ctx context.Context) (*Errors, context.Context) {
	of, inner := errgroup.WithContext(ctx)
	return &Errors{ended: of}, inner
}

func (g *Errors) group() *errgroup.Group {
	if g.ended != nil {
		return g.ended
	}
	return &g.plain
}

// SetLimit bounds the goroutines that run at the same time.
func (g *Errors) SetLimit(n int) { g.group().SetLimit(n) }

// Go starts f, once the limit lets it.
func (g *Errors) Go(f func() error) { g.group().Go(func() error { return Call(f) }) }

// Wait waits for all, and returns the first error.
func (g *Errors) Wait() error { return g.group().Wait() }
