package record

import (
	"bytes"
	"fmt"
	"io"
	"iter"
	"sync"

	"github.com/stencildb/stencildb/ingest/source"
)

// Block is whole records of a CSV text.
type Block struct {
	Of     *source.Loader // of the file
	Text   []byte         // followed by window bytes of anything
	room   []byte         // that text is in
	Line   int            // on which it starts, from 1
	read   int64          // bytes of the text up to its end
	First  bool           // of its file, with the first record that is not blank, unless blank lines count
	Quotes bool           // in it there may be some
	Lone   bool           // in it there are carriage returns without a line feed
	Cut    bool           // the end of no record, which is too long
	Err    error          // that ended the reading; without text
}

// done gives the block's room to another one.
func (b *Block) done() {
	if room := b.room; room != nil { // the pointer keeps no block
		rooms.Put(&room)
	}
}

// Cutter finds in the text of a file where the last record that is whole ends; 0 for none. It is given what is left of the text, and more and more. It goes on at
// a place of the text. quotes says whether there may be some. What is wrong between records is told with its place.
type Cutter func(text []byte, from int, last bool) (end int, quotes bool, wrong *Misplaced)

// Misplaced is what is wrong at a place of a text, so many lines behind the records before it.
type Misplaced struct {
	At, line int
	Err      error
}

// BlockBytes is about how much text a block has.
var BlockBytes = 1 << 20

// Blocks cuts the texts of the files, from their starts, where records end.
func (r *Reader) Blocks() iter.Seq[Block] {
	return func(yield func(Block) bool) {
		read := int64(0) // of the files before
		for _, l := range r.files {
			if !r.blocksOf(l, read, yield) {
				return
			}
			read += l.Input.Size()
		}
	}
}

// blocksOf yields those of one file, and reports whether more are wanted.
func (r *Reader) blocksOf(l *source.Loader, read int64, yield func(Block) bool) bool {
	b := Block{Of: l, Line: 1, read: read, First: true}
	fail := func(err error) bool {
		yield(Block{Of: l, Line: b.Line, Err: err})
		return false
	}
	in, err := l.Decompressed()
	if err != nil {
		return fail(err)
	}
	defer in.Close()
	cut := r.format.Cutter()
	room, rest := newRoom(BlockBytes), 0 // rest: bytes of a record that are there
	for end := false; !end; {
		got, err := io.ReadFull(in, room[rest:len(room)-Window])
		end = err == io.EOF || err == io.ErrUnexpectedEOF
		if err != nil && !end {
			return fail(err)
		}
		text := room[:rest+got]
		if b.read == read {
			if text, err = l.SkipBOM(text); err != nil {
				return fail(err)
			}
		}
		b.read += int64(got)
		if b.First && r.SkipBlank {
			blank := len(text) - len(bytes.TrimLeft(text, "\r\n"))
			if blank > 0 && blank == len(text) && !end && text[blank-1] == '\r' {
				blank-- // a line feed may follow
			}
			b.Line += LineEnds(text[:blank])
			text = text[blank:]
		}
		at, quotes, wrong := cut(text, rest, end)
		b.Cut = at == 0 && len(text) > 2*MaxField // no record is longer
		if b.Cut {
			at = len(text)
		}
		b.Text, b.room, b.Quotes, rest = text[:at], room, quotes, len(text)-at
		if !end {
			room = newRoom(rest + max(BlockBytes, rest))
			copy(room, text[at:])
		}
		if wrong != nil && at < wrong.At {
			wrong.line = LineEnds(text[at:wrong.At])
		}
		if at == 0 && wrong == nil {
			continue
		}
		lines, feeds := LineEnds(b.Text), bytes.Count(b.Text, []byte{'\n'}) // before who reads the block takes out quotes in place
		b.Lone = lines > feeds
		if at > 0 && !yield(b) || b.Cut {
			return false
		}
		b.Line += lines
		b.First = false
		if wrong != nil {
			b.Line += wrong.line
			return fail(fmt.Errorf("line %d: %w", b.Line, wrong.Err))
		}
	}
	return true
}

// rooms are those of blocks that are no longer needed.
var rooms sync.Pool

// newRoom is room for n bytes, and a window.
func newRoom(n int) []byte {
	if room, ok := rooms.Get().(*[]byte); ok && cap(*room) >= n+Window {
		return (*room)[:n+Window]
	}
	return make([]byte, n+Window)
}

// LineEnds is how many lines end in text: with a line feed, a carriage return, or both.
func LineEnds(text []byte) int {
	n := bytes.Count(text, []byte{'\n'})
	if returns := bytes.Count(text, []byte{'\r'}); returns > 0 {
		n += returns - bytes.Count(text, []byte("\r\n"))
	}
	return n
}

// Window is how many bytes are looked at together for what ends a field.
const Window = 64

// MaxField is the longest CSV field in bytes: what is longer is taken for a missing quote.
// Tests set it.
var MaxField = 64 << 20
