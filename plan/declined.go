package plan

import "errors"

// Declined is the error by which a backend leaves a query to another one, which
// may be able to do it.
type Declined struct{ Why string }

func (e *Declined) Error() string { return e.Why }

// IsDeclined reports the error of a backend that leaves a query to another way to do it.
func IsDeclined(err error) bool { return errors.As(err, new(*Declined)) }
