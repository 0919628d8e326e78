package parquet

import "testing"

func TestLevelsThatAreOnes(t *testing.T) {
	for _, c := range []struct {
		levels  []byte
		n, want int // negative: an error
	}{
		{nil, 0, 0},
		{nil, 1, -1},
		{[]byte{10, 1}, 5, 5},
		{[]byte{10, 0}, 5, 0},
		{[]byte{10, 3}, 5, -1}, // a level beyond the largest
		{[]byte{10, 1}, 6, -1}, // the run ends in the middle
		{[]byte{10, 1, 4, 1}, 7, 7},
		{[]byte{10, 1, 4, 0}, 7, 5},
		{[]byte{10, 1, 4, 0}, 5, 5},
		{[]byte{10}, 5, -1},
		{[]byte{0, 1}, 5, -1},
		{[]byte{0x80}, 5, -1}, // half a header
		{[]byte{0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 1}, 5, -1},
		{[]byte{0xfe, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 1, 1}, 5, 5},
		{[]byte{5, 0xff, 0xff}, 16, 16},
		{[]byte{5, 0xff, 0x03}, 10, 10},
		{[]byte{5, 0xff, 0xfd}, 10, 9},
		{[]byte{5, 0xff, 0x03}, 11, 10},
		{[]byte{5, 0xfe, 0xff}, 16, 15},
		{[]byte{5, 0xff}, 9, -1},
		{[]byte{3, 0xff, 4, 1}, 10, 10},
		{[]byte{1}, 1, -1},
	} {
		got, ok := levelsOfOne(c.levels, c.n)
		if !ok {
			got = -1
		}
		if got != c.want {
			t.Errorf("%v, %d levels: %d ones, want %d", c.levels, c.n, got, c.want)
		}
	}
}
