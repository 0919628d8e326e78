//go:build !window

package glctx

import (
	"strings"
	"testing"
)

func TestWithoutWindowsTheErrorSaysHowToBuild(t *testing.T) {
	_, err := OpenWindow(WindowOptions{})
	if err == nil || !strings.Contains(err.Error(), "go build -tags egl,window") {
		t.Errorf("%v", err)
	}
}
