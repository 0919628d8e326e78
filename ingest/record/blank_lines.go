package record

import (
	"github.com/stencildb/stencildb/ingest/source"
	"github.com/stencildb/stencildb/internal/numbers"
)

// BlankLines are the blank lines of a text of several columns, which are left out.
type BlankLines struct {
	inner int  // those before a record
	last  int  // those behind the last one
	first int  // the line of the first of all; 0 for none
	rows  bool // there is a record
}

// Skip takes a blank line in.
func (b *BlankLines) Skip(line int) {
	if b.last++; b.first == 0 {
		b.first = line
	}
}

// Row takes a record in.
func (b *BlankLines) Row() {
	b.rows = true
	b.inner += b.last
	b.last = 0
}

// lead takes in the blank lines before the first record of a file, which is on a line.
func (b *BlankLines) lead(line int) {
	b.inner, b.first, b.rows = b.inner+line-1, 1, true
}

// add takes in those of the text behind.
func (b *BlankLines) add(next BlankLines) {
	if b.first == 0 {
		b.first = next.first
	}
	if next.rows {
		b.inner, b.last, b.rows = b.inner+b.last+next.inner, next.last, true
	} else {
		b.last += next.last
	}
}

// note notes those that do not end the text.
func (b *BlankLines) note(l *source.Loader) {
	if b.inner > 0 {
		l.Note("%s left out, the first on line %d", numbers.Count(b.inner, "blank line is", "blank lines are"), b.first)
	}
}
