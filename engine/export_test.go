package engine

// NumberSubplansAnew has the next subplan be the first, whichever tests ran before.
func NumberSubplansAnew() { subplans.Store(0) }

// SetMaxSteps has a WITH RECURSIVE end after so many steps until the function is called.
func SetMaxSteps(n int) (back func()) {
	was := maxSteps
	maxSteps = n
	return func() { maxSteps = was }
}
