package source

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"sync/atomic"

	"github.com/stencildb/stencildb/internal/parallel"
	"github.com/stencildb/stencildb/sqlstate"
)

// Damage is what is wrong with a file whose parts do not fit together, in words.
type Damage string

func (d Damage) Error() string { return string(d) }

// SQLState is the code of a file whose parts do not fit together.
func (d Damage) SQLState() string { return string(sqlstate.BadCopyFileFormat) }

// IsDamaged reports the error of a file whose parts do not fit together.
func IsDamaged(err error) bool { return errors.As(err, new(Damage)) }

func Damagef(format string, args ...any) error { return Damage(fmt.Sprintf(format, args...)) }

// Damaged is the error that a library met in a part of a file. Its words are about its
// own code: only those of this package, of the system and of ctx are passed on.
func Damaged(err error, part string, args ...any) error {
	part = fmt.Sprintf(part, args...)
	var known Damage
	var system *fs.PathError
	switch {
	case errors.As(err, &known):
		return Damagef("%s: %s", part, known)
	case errors.As(err, &system), errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded):
		return fmt.Errorf("%s: %w", part, err)
	}
	return Damagef("%s cannot be decoded", part)
}

// advice follows what is wrong with a damaged file.
const advice = "the file is damaged or incomplete: write it or fetch it again"

// MemoryError is that of a table which takes more memory than the options allow.
type MemoryError struct{ Limit int64 }

func (e *MemoryError) Error() string {
	return fmt.Sprintf("the table takes more than the %s of host memory allowed: raise --host-memory, or host_memory by SET, or load less", ShowSize(e.Limit))
}

// SQLState is the code of memory that is used up.
func (e *MemoryError) SQLState() string { return string(sqlstate.OutOfMemory) }

// ShowSize prints a number of bytes for people.
func ShowSize(n int64) string {
	if n == 1 {
		return "1 byte"
	}
	f, unit := float64(n), 0
	for f >= 1024 && unit < 4 {
		f /= 1024
		unit++
	}
	return fmt.Sprintf("%.4g %s", f, [...]string{"bytes", "KiB", "MiB", "GiB", "TiB"}[unit])
}

// Explain makes the error of reading one line that names the file. It is deferred: arrow-go
// panics on some corrupt files, which must end the reading and not the program.
func (in *Input) Explain(path string, err *error) {
	if r := recover(); r != nil {
		if p, ok := r.(*parallel.Panic); ok {
			r = p.Value
		}
		known, ok := r.(Damage)
		if !ok {
			known = "its parts do not fit together"
		}
		*err = known
	}
	if limit := atomic.SwapInt64(&in.over, 0); *err != nil && limit > 0 {
		*err = &MemoryError{limit}
	}
	var known Damage
	switch {
	case errors.As(*err, &known):
		*err = fmt.Errorf("%s: %w; %s", path, known, advice)
	case *err != nil && strings.HasPrefix((*err).Error(), path+": "): // that of opening it again
	case *err != nil && in.Size() > 0:
		code := sqlstate.Of(*err)
		if code == sqlstate.InternalError { // of its content, which nothing else is said of
			code = sqlstate.BadCopyFileFormat
		}
		*err = sqlstate.Errorf(code, "%s: %w", path, *err)
	}
}
