package ingest

import (
	"bytes"
	"fmt"
	"io"
	"iter"
	"sync"
)

// block is whole records of a CSV text.
type block struct {
	of     *loader // of the file
	text   []byte  // followed by window bytes of anything
	room   []byte  // that text is in
	line   int     // on which it starts, from 1
	read   int64   // bytes of the text up to its end
	first  bool    // of its file, with the first record that is not blank, unless blank lines count
	quotes bool    // in it there may be some
	lone   bool    // in it there are carriage returns without a line feed
	cut    bool    // the end of no record, which is too long
	err    error   // that ended the reading; without text
}

// blockBytes is about how much text a block has.
var blockBytes = 1 << 20

// blocks cuts the texts of the files, from their starts, where records end: after a line feed
// outside quotes, or where there is none a carriage return.
func (r *csvReader) blocks() iter.Seq[block] {
	return func(yield func(block) bool) {
		read := int64(0) // of the files before
		for _, l := range r.files {
			if !l.blocks(read, yield) {
				return
			}
			read += l.file.Size()
		}
	}
}

// blocks yields those of one file, and reports whether more are wanted.
func (l *loader) blocks(read int64, yield func(block) bool) bool {
	b := block{of: l, line: 1, read: read, first: true}
	fail := func(err error) bool {
		yield(block{of: l, line: b.line, err: err})
		return false
	}
	in, err := l.start()
	if err != nil {
		return fail(err)
	}
	defer in.Close()
	var objects jsonCutter
	room, rest := newRoom(blockBytes), 0 // rest: bytes of a record that are there
	for end := false; !end; {
		got, err := io.ReadFull(in, room[rest:len(room)-window])
		end = err == io.EOF || err == io.ErrUnexpectedEOF
		if err != nil && !end {
			return fail(err)
		}
		text := room[:rest+got]
		if b.read == read {
			if text, err = l.skipBOM(text); err != nil {
				return fail(err)
			}
		}
		b.read += int64(got)
		if b.first && l.skipBlank {
			blank := len(text) - len(bytes.TrimLeft(text, "\r\n"))
			if blank > 0 && blank == len(text) && !end && text[blank-1] == '\r' {
				blank-- // a line feed may follow
			}
			b.line += lineEnds(text[:blank])
			text = text[blank:]
		}
		var at int
		var quotes bool
		var wrong *errJSON
		if l.json {
			at, wrong = objects.cut(text, rest, end)
		} else if at, quotes = records(text); end {
			at = len(text)
		}
		b.cut = at == 0 && len(text) > 2*maxField // no record is longer
		if b.cut {
			at = len(text)
		}
		b.text, b.room, b.quotes, rest = text[:at], room, quotes, len(text)-at
		if !end {
			room = newRoom(rest + max(blockBytes, rest))
			copy(room, text[at:])
		}
		if wrong != nil && at < wrong.at {
			wrong.line = lineEnds(text[at:wrong.at])
		}
		if at == 0 && wrong == nil {
			continue
		}
		lines, feeds := lineEnds(b.text), bytes.Count(b.text, []byte{'\n'}) // before who reads the block takes out quotes in place
		b.lone = lines > feeds
		if at > 0 && !yield(b) || b.cut {
			return false
		}
		b.line += lines
		b.first = false
		if wrong != nil {
			b.line += wrong.line
			return fail(fmt.Errorf("line %d: %w", b.line, wrong.err))
		}
	}
	return true
}

// rooms are those of blocks that are no longer needed.
var rooms sync.Pool

// newRoom is room for n bytes, and a window.
func newRoom(n int) []byte {
	if room, ok := rooms.Get().(*[]byte); ok && cap(*room) >= n+window {
		return (*room)[:n+window]
	}
	return make([]byte, n+window)
}

// done gives the block's room to another one.
func (b *block) done() {
	if room := b.room; room != nil { // the pointer keeps no block
		rooms.Put(&room)
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

// lineEnds is how many lines end in text: with a line feed, a carriage return, or both.
func lineEnds(text []byte) int {
	n := bytes.Count(text, []byte{'\n'})
	if returns := bytes.Count(text, []byte{'\r'}); returns > 0 {
		n += returns - bytes.Count(text, []byte("\r\n"))
	}
	return n
}
