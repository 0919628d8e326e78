package csv

import (
	"bytes"

	"github.com/stencildb/stencildb/ingest/record"
)

// Cutter implements [record.Format].
func (r *text) Cutter() record.Cutter {
	return func(text []byte, _ int, last bool) (end int, quotes bool, _ *record.Misplaced) {
		if end, quotes = records(text); last {
			end = len(text)
		}
		return end, quotes, nil
	}
}

// records is where the last record that ends in text does; 0 for none. It says whether text has
// quotes. A carriage return ends records of a text without line feeds, but at its end, where a line feed may follow.
func records(text []byte) (end int, quoted bool) {
	quotes := bytes.Count(text, []byte{'"'})
	if end = recordEnd(text, '\n', quotes); end == 0 && len(text) > 0 {
		last := text[:len(text)-1]
		end = recordEnd(last, '\r', bytes.Count(last, []byte{'"'}))
	}
	return end, quotes > 0
}

// recordEnd is what follows the last of the bytes that end lines outside of quotes; 0 for none.
func recordEnd(text []byte, eol byte, quotes int) int {
	for at := len(text); ; { // quotes are those before at
		i := bytes.LastIndexByte(text[:at], eol)
		if i < 0 {
			return 0
		}
		if quotes -= bytes.Count(text[i:at], []byte{'"'}); quotes%2 == 0 {
			return i + 1
		}
		at = i
	}
}
