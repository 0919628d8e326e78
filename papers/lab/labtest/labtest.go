// Package labtest opens a device for tests of papers.
package labtest

import (
	"testing"

	"github.com/stencildb/stencildb/glctx"
	"github.com/stencildb/stencildb/papers/lab"
)

// Device opens the first device, and closes it at the end of the test, where an object that is left on it is an error.
func Device(t testing.TB) *lab.Device {
	t.Helper()
	list, err := lab.Open(glctx.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := lab.Close(list); err != nil {
			t.Error(err)
		}
	})
	return list[0]
}
