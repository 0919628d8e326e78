package source

import (
	"bytes"
	"fmt"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
	"unsafe"
)

// ShowName is a name as it stands in an error: quoted where it would not be one
// word on one line.
func ShowName(name string) string {
	for _, c := range name {
		if !strconv.IsGraphic(c) {
			return strconv.Quote(name)
		}
	}
	return name
}

// escaped is a column's name as an option of a path spells it.
func escaped(name string) string {
	var b strings.Builder
	for _, c := range name {
		if unicode.IsLetter(c) || unicode.IsDigit(c) || strings.ContainsRune("_-. ", c) {
			b.WriteRune(c)
			continue
		}
		for _, c := range []byte(string(c)) {
			fmt.Fprintf(&b, "%%%02X", c)
		}
	}
	return b.String()
}

// Quote shows a field in an error: on one line, and its beginning only when long.
func Quote(b []byte) string {
	const most = 40
	if len(b) > most {
		cut := most
		for cut > most-utf8.UTFMax && !utf8.RuneStart(b[cut]) {
			cut--
		}
		return strconv.Quote(string(b[:cut])) + "..."
	}
	return strconv.Quote(string(b))
}

// View is b as a string, for callees that do not keep it.
func View(b []byte) string { return unsafe.String(unsafe.SliceData(b), len(b)) }

// TrimBlanks is text without the blanks around it.
func TrimBlanks(text []byte) []byte {
	if len(text) == 0 || text[0] > ' ' && text[len(text)-1] > ' ' { // nearly always
		return text
	}
	return bytes.Trim(text, " \t\n\v\f\r")
}

// FewNames are names, but not many.
func FewNames(names []string) string {
	out := ""
	for i, name := range names {
		switch {
		case i == 5 && len(names) > 6:
			return out + fmt.Sprintf(", %d more", len(names)-i)
		case i > 0:
			out += ", "
		}
		out += name
	}
	return out
}
