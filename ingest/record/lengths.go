package record

import (
	"github.com/stencildb/stencildb/ingest/inference"
)

// lengths are those of the fields of some records.
type lengths struct {
	records int64
	bytes   []int64 // by column
}

// see takes in records of so many columns.
func (l *lengths) see(fields []inference.Field, columns int) {
	l.bytes = make([]int64, columns)
	for i, f := range fields {
		l.bytes[i%columns] += int64(f.To - f.From)
	}
	l.records = int64(len(fields) / columns)
}

func (l *lengths) add(other lengths) {
	if l.records == 0 {
		*l = other
		return
	}
	for i, n := range other.bytes {
		l.bytes[i] += n
	}
	l.records += other.records
}

// average is how long a field of a column is, rounded up.
func (l *lengths) average(column int) int64 {
	if l.records == 0 {
		return 0
	}
	return (l.bytes[column] + l.records - 1) / l.records
}
