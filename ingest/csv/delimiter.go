package csv

import (
	"fmt"

	"github.com/stencildb/stencildb/ingest/inference"
)

// sniffedRecords is how many records are looked at for the delimiter.
const sniffedRecords = 1000

// sniffDelim finds the delimiter: a comma, unless another one, and not that, gives the same number of several fields
// in every record looked at. Of two such it is the one that gives more.
func (r *text) sniffDelim() {
	r.Source.Delim = ','
	if n, same := r.shape(','); n > 1 && same {
		r.delimSure = true
		return
	}
	most := 1
	for _, d := range []byte(";\t|") {
		if n, same := r.shape(d); n > most && same {
			most, r.Source.Delim = n, d
		}
	}
	if r.delimSure = most > 1; r.delimSure {
		r.Taken = append(r.Taken, fmt.Sprintf("the delimiter is %q", r.Source.Delim))
	}
}

// shape is how many columns the first record has, blank lines aside, and whether all others looked at have as many.
func (r *text) shape(delim byte) (columns int, same bool) {
	records := 0
	for b := range r.Blocks() {
		if b.Err != nil {
			return columns, false
		}
		s, f, n := newScanner(b, delim), inference.Field{}, 0
		for s.next(&f) {
			if n++; !f.Last {
				continue
			}
			if columns == 0 && !f.Blank(n-1) {
				columns = n
			}
			if n != columns && !f.Blank(n-1) {
				return columns, false
			}
			if records++; records == sniffedRecords {
				return columns, true
			}
			n = 0
		}
		if s.err != nil {
			return columns, false
		}
	}
	return columns, true
}
