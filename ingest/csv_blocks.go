package ingest

import (
	"bytes"
	"fmt"
	"io"
	"iter"
)

// block is whole records of a CSV text.
type block struct {
	of   *loader // of the file
	text []byte
	line int   // on which it starts, from 1
	read int64 // bytes of the text up to its end
	cut  bool  // the end of no record, which is too long
	err  error // that ended the reading; without text
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
	var rest []byte // of a record
	for n, end := blockBytes, false; !end; {
		text := make([]byte, len(rest)+n)
		copy(text, rest)
		got, err := io.ReadFull(in, text[len(rest):])
		end = err == io.EOF || err == io.ErrUnexpectedEOF
		if err != nil && !end {
			return fail(err)
		}
		text = text[:len(rest)+got]
		if b.read == read {
			if text, err = skipBOM(text); err != nil {
				return fail(err)
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
			return false
		}
		b.line += lines
	}
	return true
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
