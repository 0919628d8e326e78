package wisconsin

import (
	"testing"

	"github.com/stencildb/stencildb/papers/lab/labtest"
)

// What is measured, drawn and claimed is what testdata says; the sizes of the copies of figure 14 are the device's.
func TestPaper(t *testing.T) {
	labtest.Golden(t, Paper(), 10_000, "7", "10", "11", "12", "table3", "table4", "13")
}

// Copies are of 1 KB to 1 GB, of fewer bytes where a storage block or a small largest table has fewer.
func TestCopySizes(t *testing.T) {
	for _, c := range []struct {
		rows        int
		block       int64
		least, most int
		steps       int
	}{
		{paperRows, 2 << 30, 1 << 10, 1 << 30, 11}, {100 * paperRows, 2 << 30, 1 << 10, 1 << 30, 11}, {paperRows, 128 << 20, 1 << 10, 64 << 20, 9},
		{paperRows - 1, 2 << 30, 1 << 10, 64 << 20, 9}, {1000, 2 << 30, 1 << 10, 64 << 10, 4}, {1, 2 << 30, 1 << 10, 4 << 10, 2},
	} {
		list := copySizes(c.rows, c.block)
		if len(list) != c.steps || list[0] != c.least || list[len(list)-1] != c.most {
			t.Errorf("%+v: %v", c, list)
		}
	}
}
