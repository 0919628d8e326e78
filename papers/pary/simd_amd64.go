package pary

/*
#cgo CFLAGS: -O3
#cgo noescape pary_binary
#cgo nocallback pary_binary
#cgo noescape pary_pary
#cgo nocallback pary_pary
#include "simd_amd64.h"
*/
import "C"

const hasSIMD = true

// The searches in simd_amd64.c, of one query and one key at least.

func simdBinary(keys, queries []Key, places []uint32) {
	C.pary_binary(words(keys), C.int64_t(len(keys)), words(queries), C.int64_t(len(queries)), (*C.uint32_t)(&places[0]))
}

func simdPAry(keys, queries []Key, places []uint32) {
	C.pary_pary(words(keys), C.int64_t(len(keys)), words(queries), C.int64_t(len(queries)), (*C.uint32_t)(&places[0]))
}

func words(k []Key) *C.uint32_t { return (*C.uint32_t)(&k[0][0]) }
