package pary

import (
	"runtime"

	"github.com/stencildb/stencildb/internal/parallel"
)

// Serial is the text's serial search: one core, a binary search for each query, strings compared word by word. It writes where the
// queries stand, or [Missing].
func Serial(keys, queries []Key, places []uint32) {
	for i, q := range queries {
		lo, hi := 0, len(keys)
		places[i] = Missing
		for lo < hi {
			at := int(uint(lo+hi) / 2)
			order := 0
			for w := 0; order == 0 && w < len(q); w++ {
				switch a, b := keys[at][w], q[w]; {
				case a < b:
					order = -1
				case a > b:
					order = 1
				}
			}
			switch {
			case order == 0:
				places[i], lo = uint32(at), hi
			case order < 0:
				lo = at + 1
			default:
				hi = at
			}
		}
	}
}

// Search is a search on the host: [Serial], [SIMD] or [Vectors].
type Search func(keys, queries []Key, places []uint32)

// SIMD is the text's search with the vector unit: the binary search of one core, the 16 bytes of a string compared by one instruction.
func SIMD(keys, queries []Key, places []uint32) { onVectors(Serial, simdBinary, keys, queries, places) }

// Vectors is a p-ary search with the vector unit, the text's future work. One instruction compares four boundaries, so that p = 5, by
// their first four characters. Where these are equal, the rest of the strings is compared.
func Vectors(keys, queries []Key, places []uint32) {
	onVectors(scalarPAry, simdPAry, keys, queries, places)
}

func onVectors(portable, vectors Search, keys, queries []Key, places []uint32) {
	switch {
	case len(queries) == 0:
	case len(keys) == 0 || !hasSIMD:
		portable(keys, queries, places)
	default:
		vectors(keys, queries, places)
	}
}

// vectorP is p of [Vectors]: four boundaries.
const vectorP = 5

// scalarPAry is the portable form of [Vectors].
func scalarPAry(keys, queries []Key, places []uint32) {
	for i, q := range queries {
		lo, size := 0, len(keys)
		places[i] = Missing
		for size > 0 {
			width := (size + vectorP - 1) / vectorP
			part := 0
			for part < vectorP-1 && (part+1)*width < size && keys[lo+(part+1)*width].Compare(q) <= 0 {
				part++
			}
			lo, size = lo+part*width, min(width, size-part*width)
			if width == 1 {
				if keys[lo] == q {
					places[i] = uint32(lo)
				}
				break
			}
		}
	}
}

// Threads is the text's search with threads: the batch divided over all cores.
func Threads(by Search) Search {
	return func(keys, queries []Key, places []uint32) {
		cores := min(runtime.GOMAXPROCS(0), len(queries))
		var wg parallel.Group
		for c := range cores {
			from, to := c*len(queries)/cores, (c+1)*len(queries)/cores
			wg.Go(func() { by(keys, queries[from:to], places[from:to]) })
		}
		wg.Wait()
	}
}
