package sqlstate

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"testing"
)

// The code of an error is that of the first in its tree, or of what it was caused by.
func TestOf(t *testing.T) {
	_, missing := os.Open(filepath.Join(t.TempDir(), "none"))
	there := os.Mkdir(t.TempDir(), 0o700)
	inner := Errorf(DivisionByZero, "no")
	for _, c := range []struct {
		err  error
		want Code
	}{
		{errors.New("x"), InternalError},
		{inner, DivisionByZero},
		{fmt.Errorf("column a: %w", inner), DivisionByZero},
		{Errorf(InvalidText, "column a: %w", inner), InvalidText},
		{errors.Join(errors.New("x"), inner), DivisionByZero},
		{fmt.Errorf("the statement was stopped: %w", context.Canceled), QueryCanceled},
		{context.DeadlineExceeded, QueryCanceled},
		{fmt.Errorf("reading: %w", missing), UndefinedFile},
		{there, DuplicateFile},
	} {
		if got := Of(c.err); got != c.want {
			t.Errorf("%v has %s, want %s", c.err, got, c.want)
		}
	}
}
