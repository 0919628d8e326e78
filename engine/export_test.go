package engine

// NumberSubplansAnew has the next subplan be the first, whichever tests ran before.
func NumberSubplansAnew() { subplans.Store(0) }
