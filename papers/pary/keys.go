package pary

import (
	"math/bits"
	"slices"

	"github.com/stencildb/stencildb/generate"
	"github.com/stencildb/stencildb/table"
)

// Key is a string of 16 bytes as four words, the first characters in the highest bits: keys compare as their words do.
type Key [4]uint32

// Compare is -1, 0 or 1 where k is before, equal to or after other.
func (k Key) Compare(other Key) int { return slices.Compare(k[:], other[:]) }

// String is the 16 bytes.
func (k Key) String() string {
	var text []byte
	for _, w := range k {
		text = append(text, byte(w>>24), byte(w>>16), byte(w>>8), byte(w))
	}
	return string(text)
}

// KeyOf is the key of up to 16 bytes, filled up with zeros.
func KeyOf(text string) (k Key) {
	for i := range min(len(text), KeyBytes) {
		k[i/4] |= uint32(text[i]) << (24 - i%4*8)
	}
	return k
}

// KeyBytes is the size of a key; characters of which come before its null.
const (
	KeyBytes   = 16
	characters = 15
)

// alphabet is what random strings are made of, in the order of ASCII: six bits a character.
const alphabet = "-0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ_abcdefghijklmnopqrstuvwxyz"

// codeBits are those of a string's number.
const codeBits = 6 * characters

// Streams of random bits.
const (
	upperStream = iota
	lowerStream
	wordStream
	queryStream
)

// Missing is the place of a key that is not there.
const Missing = ^uint32(0)

// Keys makes n different random strings of 15 characters and a null, in order. String i is a random number of the i-th of n equal
// spans of all numbers. All cores work; a key depends only on n, the seed and its place.
func Keys(n int, seed uint64) []Key {
	keys := make([]Key, n)
	table.InParts(n, func(from, to int) {
		for i := from; i < to; i++ {
			keys[i] = keyAt(uint64(i), uint64(n), generate.Random(seed, uint64(i), upperStream)>>(64-upperBits), generate.Random(seed, uint64(i), lowerStream))
		}
	})
	return keys
}

// upperBits are those of a string's number above a word.
const upperBits = codeBits - 64

// keyAt is (i * 2^90 + r) / n as a string. r is the words hi and lo; n is subtracted where r is not below 2^90 - n, so that the next string
// is always larger.
func keyAt(i, n, hi, lo uint64) (k Key) {
	if hi == 1<<upperBits-1 && ^lo < n {
		lo -= n
	}
	hi += i << upperBits
	first, rest := bits.Div64(0, hi, n)
	second, _ := bits.Div64(rest, lo, n)
	for c := characters - 1; c >= 0; c-- {
		k[c/4] |= uint32(alphabet[second&63]) << (24 - c%4*8)
		second = second>>6 | first<<58
		first >>= 6
	}
	return k
}

// Words makes n different words of 32 bits, in order, as [Keys] makes strings; n is at most 2^31.
func Words(n int, seed uint64) []uint32 {
	words := make([]uint32, n)
	table.InParts(n, func(from, to int) {
		for i := from; i < to; i++ {
			r := generate.Random(seed, uint64(i), wordStream) >> 32
			if r >= 1<<32-uint64(n) {
				r -= uint64(n)
			}
			words[i] = uint32((uint64(i)<<32 + r) / uint64(n))
		}
	})
	return words
}

// Places are those of the keys that a batch asks for: every key alike, with repetitions.
func Places(batch, n int, seed uint64) []uint32 {
	places := make([]uint32, batch)
	for i := range places {
		hi, _ := bits.Mul64(generate.Random(seed, uint64(i), queryStream), uint64(n))
		places[i] = uint32(hi)
	}
	return places
}

// miss is a string that is no key, right behind one: its last byte is not null.
func (k Key) miss() Key {
	k[3] |= 1
	return k
}

// flat are keys as the words of a block.
func flat(keys []Key) []uint32 {
	words := make([]uint32, 0, 4*len(keys))
	for _, k := range keys {
		words = append(words, k[:]...)
	}
	return words
}
