package plan

// Declined is the error by which a backend leaves a query to another one, which
// may be able to do it.
type Declined struct{ Why string }

func (e *Declined) Error() string { return e.Why }
