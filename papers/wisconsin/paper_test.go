package wisconsin

import (
	"testing"

	"github.com/stencildb/stencildb/papers/lab/labtest"
)

// What is measured, drawn and claimed is what testdata says; the sizes of the copies of figure 14 are the device's.
func TestPaper(t *testing.T) {
	labtest.Golden(t, Paper(), 10_000, "7", "10", "11", "12", "table3", "table4", "13")
}
