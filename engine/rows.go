package engine

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"slices"
	"time"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"

	"github.com/stencildb/stencildb/engine/querystats"
	"github.com/stencildb/stencildb/ingest/arrays"
	"github.com/stencildb/stencildb/internal/numbers"
	"github.com/stencildb/stencildb/table"
)

// Rows is the answer of a statement while it comes: a cursor that starts before the
// first row. It holds a bounded number of rows, whatever the answer's size, and
// does not keep other statements waiting. One goroutine uses it at a time.
//
//	rows, err := db.Query(ctx, "SELECT name, fare FROM trips WHERE fare > $1", 50)
//	if err != nil {
//		return err
//	}
//	defer rows.Close()
//	for rows.Next() {
//		var name string
//		var fare float64
//		if err := rows.Scan(&name, &fare); err != nil {
//			return err
//		}
//	}
//	return rows.Err()
//
// An error that a row raises in the select list ends the rows after those before it.
type Rows struct {
	of      *Statement
	columns []Column // those of the statement's tree, of the types that the values have
	arrays  []int    // see bound

	ctx     context.Context
	closing []func() // what Close calls
	next    func() (batch, error, bool)

	now  batch                          // nil before the first and after the last
	at   int                            // the row of now; -1 before its first
	read []func(i int, to *table.Value) // the columns of now, once a value of it has been asked for
	room []table.Value                  // for rows to come
	err  error
	over bool

	collector *querystats.Collector // nil where no backend has run
	before    *querystats.Collector // what was taken before that; nil for nothing
	files     Loading               // reading them, and what of the device was waited for then
	waited    time.Duration         // planning included

	changed int // rows of tables, by the statement
}

// open starts reading: what is wrong at once is an error now. The types of columns are
// those of the first batch, where they are known only then.
func (r *Rows) open() error {
	b, err := r.pull()
	if err != nil {
		r.Close()
		return err
	}
	r.now, r.at = b, 0
	if _, ok := b.(computed); !ok && b != nil {
		for i, c := range r.columns {
			if first := r.value(i); !first.Null && c.Type.Kind == table.Decimal && c.Type != first.Type {
				r.columns = slices.Clone(r.columns)
				r.columns[i].Type = first.Type // the scale of a quotient is known only now
			}
		}
	}
	r.at = -1
	return nil
}

// pull waits for the next batch; nil at the end. A panic on the way is an error.
func (r *Rows) pull() (_ batch, err error) {
	start := time.Now()
	defer func() { r.waited += time.Since(start) }()
	defer recovered(&err)
	for {
		b, err, ok := r.next()
		if !ok || err != nil {
			return nil, err
		}
		if b.Len() > 0 {
			return b, nil
		}
	}
}

// batch returns the rows from the one after the current on, as many as have come; nil
// at the end.
func (r *Rows) batch() batch {
	if r.over {
		return nil
	}
	if r.now != nil && r.at+1 < r.now.Len() {
		return r.now.cut(r.at+1, r.now.Len())
	}
	b, err := r.pull()
	if b == nil {
		if err != nil {
			r.err = r.of.described(ended(r.ctx, err))
			r.of.db.tx.fail(r.err)
		}
		r.Close()
		return nil
	}
	return b
}

// Next goes to the next row and reports whether there is one. At the end [Rows.Err]
// tells why.
func (r *Rows) Next() bool {
	if !r.over && r.now != nil && r.at+1 < r.now.Len() {
		r.at++
		return true
	}
	r.now, r.at, r.read = r.batch(), 0, nil
	return r.now != nil
}

// roomRows is for how many rows [Rows.Values] makes room at once: who keeps one of them keeps all.
const roomRows = 32

// Values returns the current row, one value a column.
func (r *Rows) Values() []table.Value { return r.values(roomRows) }

// values is Values, where room is made for so many rows at once.
func (r *Rows) values(room int) []table.Value {
	n := len(r.columns)
	if len(r.room) < max(1, n) {
		r.room = make([]table.Value, n*min(room, r.now.Len()-r.at))
	}
	out := r.room[:n:n]
	r.room = r.room[n:]
	if m, ok := r.now.(intermediate); ok {
		c, at := m.at(r.at)
		for i, s := range c.Segments {
			s.Read(at, &out[i])
		}
	} else {
		for i := range out {
			r.put(i, &out[i])
		}
	}
	if r.arrays != nil {
		return arrayed(r.arrays, out)
	}
	return out
}

// Go returns the value of a column in the current row as [Rows.Scan] into *any does: an int64, float64, bool, string or
// time.Time. A NUMERIC and an interval are text, and NULL is nil.
func (r *Rows) Go(col int) any {
	if r.arrays != nil {
		return goValue(r.Values()[col])
	}
	return goValue(r.value(col))
}

// value is that of a column in the current row.
func (r *Rows) value(col int) (v table.Value) {
	r.put(col, &v)
	return v
}

// put is value into the place of the zero one.
func (r *Rows) put(col int, to *table.Value) {
	switch b := r.now.(type) {
	case valueRows:
		*to = b[r.at][col]
		return
	case intermediate:
		c, at := b.at(r.at)
		c.Segments[col].Read(at, to)
		return
	}
	if r.read == nil {
		for i, a := range r.now.(computed) {
			r.read = append(r.read, arrays.Reader(a, r.columns[i].Type))
		}
	}
	r.read[col](r.at, to)
}

// Scan copies the current row into dest, one pointer a column. It takes *int64, *int, *int32, *float64,
// *string, *bool, *time.Time, *[]byte, *[]float64, *big.Int, *big.Rat, *[table.Value] and *any. A pointer to
// one of these pointers becomes nil for NULL. Other types that implement database/sql's Scanner get what *any
// would. A value that does not fit its destination is an error, and so is NULL where nothing can hold it.
func (r *Rows) Scan(dest ...any) error {
	if r.now == nil || r.at < 0 {
		return errors.New("engine: Scan without a row: call Next before it")
	}
	columns, value := r.Columns(), r.value
	if r.arrays != nil {
		row := r.Values()
		value = func(i int) table.Value { return row[i] }
	}
	if len(dest) != len(columns) {
		return fmt.Errorf("engine: Scan into %s of a row of %s",
			numbers.Count(len(dest), "destination", "destinations"), numbers.Count(len(columns), "column", "columns"))
	}
	for i, d := range dest {
		if err := assign(d, value(i)); err != nil {
			return fmt.Errorf("engine: column %s: %w", columns[i].Name, err)
		}
	}
	return nil
}

// Batches yields the rows that Next has not come to, as Arrow record batches of up to some ten thousand rows. Who takes a batch releases
// it, and reads no value of it from then on: its memory is used again. bigint is Int64, integer Int32, smallint Int16, real Float32, double
// precision Float64, boolean Boolean, date Date32. numeric is Decimal128, beyond 38 digits Decimal256, and beyond 76 text. timestamp is
// Timestamp[us] without a zone, and an interval Interval[MonthDayNano]. A column of text is a dictionary of Utf8, other text is Utf8, and
// an array a List. Who leaves the loop before its end closes the rows.
func (r *Rows) Batches() iter.Seq2[arrow.RecordBatch, error] {
	return func(yield func(arrow.RecordBatch, error) bool) {
		defer r.Close()
		schema := schemaOf(r.columns)
		for b := range r.rest() {
			if !yield(r.record(schema, b), nil) {
				return
			}
		}
		if r.err != nil {
			yield(nil, r.err)
		}
	}
}

// record is a batch in Arrow.
func (r *Rows) record(schema *arrow.Schema, b batch) arrow.RecordBatch {
	if v, ok := b.(valueRows); ok {
		b = v.computed(schema)
	}
	columns := b.(computed)
	if r.arrays != nil {
		schema, columns = r.Schema(), arrayedColumns(r.arrays, columns, r.columns)
	}
	batch := array.NewRecordBatch(schema, columns, int64(columns.Len()))
	for _, c := range columns { // the batch has them now
		c.Release()
	}
	return batch
}

// Schema is that of the batches.
func (r *Rows) Schema() *arrow.Schema { return schemaOf(r.Columns()) }

func schemaOf(columns []Column) *arrow.Schema {
	fields := make([]arrow.Field, len(columns))
	for i, c := range columns {
		fields[i] = arrow.Field{Name: c.Name, Type: arrays.TypeOf(c.Type), Nullable: true}
		if c.coded {
			fields[i].Type = arrays.DictionaryType
		}
	}
	return arrow.NewSchema(fields, nil)
}

// Columns are the names and types of the columns.
func (r *Rows) Columns() []Column {
	if r.arrays == nil {
		return r.columns
	}
	return arrayedTypes(r.arrays, r.columns)
}

// SQL is the statement's text, as given, without the semicolon.
func (r *Rows) SQL() string { return r.of.parsed.Text }

// Err is the error that ended the rows; nil before their end, and after one without
// an error.
func (r *Rows) Err() error { return r.err }

// Stats says what the statement has taken so far.
func (r *Rows) Stats() Stats {
	s, before := r.collector.Snapshot(), r.before.Snapshot()
	s.Passes, s.Samples, s.Loading = s.Passes+before.Passes, s.Samples+before.Samples, s.Loading.Plus(before.Loading)
	s.Elapsed += max(0, r.waited-s.Loading.Total())
	s.Loading = s.Loading.Plus(r.files)
	s.Load = s.Loading.Total()
	s.Changed = r.changed
	return s
}

// drain reads the rows to their end.
func (r *Rows) drain() (Stats, error) {
	for range r.rest() {
	}
	return r.Stats(), r.err
}

// rest yields the rows that Next has not come to.
func (r *Rows) rest() iter.Seq[batch] {
	return func(yield func(batch) bool) {
		for b := r.batch(); b != nil; b = r.batch() {
			if m, ok := b.(intermediate); ok {
				b = m.values()
			}
			if r.now, r.read = nil, nil; !yield(b) { // who takes it may release it
				return
			}
		}
	}
}

// Close ends the statement and releases what it holds. It may be called twice, and
// is not needed after Next has returned false.
func (r *Rows) Close() error {
	for _, f := range r.closing {
		f()
	}
	r.over, r.closing, r.now, r.read = true, nil, nil, nil
	return nil
}
