package match

import (
	"encoding/binary"
	"unicode/utf8"
	"unsafe"
)

// notASCII is the highest bit of each byte, which no character of ASCII has.
const notASCII = 0x8080808080808080

// IsASCII reports a text of ASCII alone.
func IsASCII(s string) bool {
	b, all := unsafe.Slice(unsafe.StringData(s), len(s)), uint64(0) // nobody writes to it
	if len(b) >= 8 {
		all = binary.LittleEndian.Uint64(b[len(b)-8:])
		for ; len(b) > 8; b = b[8:] {
			all |= binary.LittleEndian.Uint64(b)
		}
		return all&notASCII == 0
	}
	for _, c := range b {
		all |= uint64(c)
	}
	return all&notASCII == 0
}

// CountCharacters is how many characters a text has.
func CountCharacters(s string) int64 {
	if IsASCII(s) {
		return int64(len(s))
	}
	return int64(utf8.RuneCountInString(s))
}
