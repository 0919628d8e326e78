package inference

import (
	"encoding/binary"
)

// In each of the eight bytes of a word: a one, the highest bit, the others.
const (
	LowestBits = 0x0101010101010101
	HighBits   = 0x80 * LowestBits
	LowBits    = 0x7f * LowestBits
)

// LoadWord is the eight bytes that b starts with, some of which may be behind its end; b is in an
// array of as many.
func LoadWord(b []byte) uint64 { return binary.LittleEndian.Uint64(b[:8]) }

// nondigits has the highest bit of each byte of a word that is no digit.
func nondigits(word uint64) uint64 {
	x := word ^ '0'*LowestBits
	return ((x&LowBits + (0x80-10)*LowestBits) | x) & HighBits
}
