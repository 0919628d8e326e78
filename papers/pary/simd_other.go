//go:build !amd64

package pary

const hasSIMD = false

// Nothing calls these where there are no vector instructions.

func simdBinary([]Key, []Key, []uint32) {}
func simdPAry([]Key, []Key, []uint32)   {}
