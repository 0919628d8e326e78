package engine

import (
	"errors"

	"github.com/stencildb/stencildb/engine/backends"
	"github.com/stencildb/stencildb/glctx"
	"github.com/stencildb/stencildb/pass"
)

// NumberSubplansAnew has the next subplan be the first, whichever tests ran before.
func NumberSubplansAnew() { subplans.Store(0) }

// SetMaxSteps has a WITH RECURSIVE end after so many steps until the function is called.
func SetMaxSteps(n int) (back func()) {
	was := maxSteps
	maxSteps = n
	return func() { maxSteps = was }
}

// StopAtFirstPass has each statement that runs on the devices of a DB end with an error at its first pass. It calls do first.
func StopAtFirstPass(db *DB, do func()) {
	open := db.backends.Opener
	db.backends.Opener = func(o glctx.Options) (*backends.Devices, error) {
		d, err := open(o)
		if err == nil {
			for _, g := range d.GPUs {
				g.Wrap = func(r pass.Runner) pass.Runner { return stopper{r, do} }
			}
		}
		return d, err
	}
}

// stopper is a runner that runs nothing.
type stopper struct {
	pass.Runner
	do func()
}

var errStopper = errors.New("engine: the pass is not run")

func (s stopper) Run(*pass.Pass) (pass.Count, error) {
	s.do()
	return nil, errStopper
}
