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
	quotes bool    // in it there may be some
	cut    bool    // the end of no record, which is too long
	err    error   // that ended the reading; without text
}

// blockBytes is about how much text a block has.
var blockBytes = 1 << 20

// blocks cuts the texts of the files, from their starts, where records end: after a line feed
// outside quotes.
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
	b := block{of: l, line: 1, read: read}
	fail := func(err error) bool {
		yield(block{of: l, line: b.line, err: err})
		return false
	}
	in, err := l.start()
	if err != nil {
		return fail(err)
	}
	defer in.Close()
	room, rest := newRoom(blockBytes), 0 // rest: bytes of a record that are there
	for end := false; !end; {
		got, err := io.ReadFull(in, room[rest:len(room)-window])
		end = err == io.EOF || err == io.ErrUnexpectedEOF
		if err != nil && !end {
			return fail(err)
		}
		text := room[:rest+got]
		if b.read == read {
			if text, err = skipBOM(text); err != nil {
				return fail(err)
			}
		}
		b.read += int64(got)
		at, quotes := records(text)
		if end {
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
		if at == 0 {
			continue
		}
		lines := bytes.Count(b.text, []byte{'\n'}) // before who reads the block takes out quotes in place
		if !yield(b) || b.cut {
			return false
		}
		b.line += lines
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
// quotes.
func records(text []byte) (end int, quoted bool) {
	quote := []byte{'"'}
	quotes := bytes.Count(text, quote) // before at
	quoted = quotes > 0
	for at := len(text); ; {
		feed := bytes.LastIndexByte(text[:at], '\n')
		if feed < 0 {
			return 0, quoted
		}
		if quotes -= bytes.Count(text[feed:at], quote); quotes%2 == 0 {
			return feed + 1, quoted
		}
		at = feed
	}
}

// skipBOM is text without a byte order mark.
func skipBOM(text []byte) ([]byte, error) {
	if bytes.HasPrefix(text, []byte("\xff\xfe")) || bytes.HasPrefix(text, []byte("\xfe\xff")) {
		return nil, fmt.Errorf("line 1: the text is UTF-16: convert it to UTF-8")
	}
	return bytes.TrimPrefix(text, []byte("\xef\xbb\xbf")), nil
}
