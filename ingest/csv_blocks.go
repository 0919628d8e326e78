package ingest

import (
	"bytes"
	"fmt"
	"io"
	"iter"
)

// block is whole records of a CSV text.
type block struct {
	text []byte
	line int   // on which it starts, from 1
	read int64 // bytes of the text up to its end
	cut  bool  // the end of no record, which is too long
	err  error // that ended the reading; without text
}

// blockBytes is about how much text a block has.
var blockBytes = 1 << 20

// blocks cuts the text, from its start, where records end: after a line feed outside quotes.
func (r *csvReader) blocks() iter.Seq[block] {
	return func(yield func(block) bool) {
		in, err := r.open()
		if err != nil {
			yield(block{err: err})
			return
		}
		defer in.Close()
		var rest []byte // of a record
		b := block{line: 1}
		for n, end := blockBytes, false; !end; {
			text := make([]byte, len(rest)+n)
			copy(text, rest)
			got, err := io.ReadFull(in, text[len(rest):])
			end = err == io.EOF || err == io.ErrUnexpectedEOF
			if err != nil && !end {
				yield(block{err: err})
				return
			}
			text = text[:len(rest)+got]
			if b.read == 0 {
				if text, err = skipBOM(text); err != nil {
					yield(block{err: err})
					return
				}
			}
			b.read += int64(got)
			at := len(text)
			if !end {
				at = records(text)
			}
			b.cut = at == 0 && len(text) > 2*maxField // no record is longer
			if b.cut {
				at = len(text)
			}
			if rest, n = text[at:], max(blockBytes, len(text)-at); at == 0 {
				continue
			}
			b.text = text[:at]
			lines := bytes.Count(b.text, []byte{'\n'}) // before who reads the block takes out quotes in place
			if !yield(b) || b.cut {
				return
			}
			b.line += lines
		}
	}
}

// records is where the last record that ends in text does; 0 for none.
func records(text []byte) int {
	quote := []byte{'"'}
	quotes := bytes.Count(text, quote) // before at
	for at := len(text); ; {
		feed := bytes.LastIndexByte(text[:at], '\n')
		if feed < 0 {
			return 0
		}
		if quotes -= bytes.Count(text[feed:at], quote); quotes%2 == 0 {
			return feed + 1
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
