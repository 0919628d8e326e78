package hsu

import (
	"testing"

	"github.com/stencildb/stencildb/glctx"
	"github.com/stencildb/stencildb/papers/lab/labtest"
)

// What is measured, drawn and claimed is what testdata says.
func TestPaper(t *testing.T) { labtest.Golden(t, Paper(), 100_000, "4-1", "4-4", "4-8") }

// The largest table is one that a storage block holds, a quarter of the budget, or host memory.
func TestMost(t *testing.T) {
	for _, c := range []struct {
		block, budget, memory int64
		want                  int
		holder                string
	}{
		{128 << 20, 1 << 34, 1 << 40, 8 << 20, "a storage block of the device, of 128.0 MiB,"}, {1 << 40, 1 << 30, 1 << 40, 16 << 20, "a storage block of the device, of 256.0 MiB,"},
		{1 << 40, 1 << 50, 1 << 40, 128 << 20, "a storage block of the device, of 2.0 GiB,"}, {128 << 20, 1 << 34, 10_000, 10, "this machine's memory"},
	} {
		if rows, holder := most(&glctx.Caps{MaxStorageBlock: c.block, Budget: c.budget}, c.memory); rows != c.want || holder != c.holder {
			t.Errorf("%+v: %d, %s", c, rows, holder)
		}
	}
}
