package ingest

import (
	"context"
	"errors"
	"fmt"
	"io/fs"

	"github.com/stencildb/stencildb/sqlstate"
)

// damage is what is wrong with a file whose parts do not fit together, in words.
type damage string

func (d damage) Error() string { return string(d) }

// SQLState is the code of a file whose parts do not fit together.
func (d damage) SQLState() string { return string(sqlstate.BadCopyFileFormat) }

// IsDamaged reports the error of a file whose parts do not fit together.
func IsDamaged(err error) bool { return errors.As(err, new(damage)) }

func damagef(format string, args ...any) error { return damage(fmt.Sprintf(format, args...)) }

// damaged is the error that a library met in a part of a file. Its words are about its
// own code: only those of this package, of the system and of ctx are passed on.
func damaged(err error, part string, args ...any) error {
	part = fmt.Sprintf(part, args...)
	var known damage
	var system *fs.PathError
	switch {
	case errors.As(err, &known):
		return damagef("%s: %s", part, known)
	case errors.As(err, &system), errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded):
		return fmt.Errorf("%s: %w", part, err)
	}
	return damagef("%s cannot be decoded", part)
}

// advice follows what is wrong with a damaged file.
const advice = "the file is damaged or incomplete: write it or fetch it again"
