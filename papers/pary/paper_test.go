package pary

import (
	"testing"

	"github.com/stencildb/stencildb/papers/lab/labtest"
)

// What is drawn and claimed is what testdata says; the cases depend on the device.
func TestPaper(t *testing.T) { labtest.Golden(t, Paper(), 0) }
