package arrays

import (
	"io"
	"slices"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/stencildb/stencildb/ingest/source"
	"github.com/stencildb/stencildb/internal/xslices"
	"github.com/stencildb/stencildb/sqlstate"
	"github.com/stencildb/stencildb/table"
)

// BatchWriter is a file of record batches on its way.
type BatchWriter interface {
	Write(arrow.RecordBatch) error
	Close() error
}

// AsText is a schema with text in the place of some types.
func AsText(s *arrow.Schema, which func(arrow.DataType) bool) *arrow.Schema {
	fields := s.Fields()
	for i, f := range fields {
		if which(f.Type) {
			fields[i].Type = arrow.BinaryTypes.String
		}
	}
	return arrow.NewSchema(fields, nil)
}

// NewTextWriter writes batches of a schema that has text in the place of some types.
func NewTextWriter(to BatchWriter, s *arrow.Schema) TextWriter { return TextWriter{to, s} }

// TextWriter writes as text what its schema has as text.
type TextWriter struct {
	BatchWriter
	schema *arrow.Schema
}

// Write implements [BatchWriter].
func (t TextWriter) Write(r arrow.RecordBatch) error {
	columns := slices.Clone(r.Columns())
	for i, f := range t.schema.Fields() {
		if f.Type.ID() == arrow.STRING && columns[i].DataType().ID() != arrow.STRING {
			columns[i] = text(columns[i])
		}
	}
	r = array.NewRecordBatch(t.schema, columns, r.NumRows())
	defer r.Release()
	return t.BatchWriter.Write(r)
}

// WrittenSchema is the schema that a file on its way has of a schema: text in the place of types that it has nothing for.
func WrittenSchema(out BatchWriter, s *arrow.Schema) *arrow.Schema {
	if t, ok := out.(TextWriter); ok {
		return t.schema
	}
	return s
}

// text is an array's values as text: intervals as SQL prints them.
func text(a arrow.Array) arrow.Array {
	value := a.ValueStr
	switch a := a.(type) {
	case *array.Dictionary:
		value = func(i int) string { return DictionaryText(a, i) }
	case *array.MonthDayNanoInterval:
		value = func(i int) string { return intervalOf(a.Value(i)).String() }
	case *array.Decimal256:
		t := a.DataType().(*arrow.Decimal256Type)
		of := table.Type{Kind: table.Decimal, Precision: int(t.Precision), Scale: int(t.Scale)}
		value = func(i int) string { return table.Dec(of, a.Value(i).BigInt()).String() }
	}
	b := array.NewStringBuilder(memory.DefaultAllocator)
	defer b.Release()
	b.Reserve(a.Len())
	for i := range a.Len() {
		if a.IsNull(i) {
			b.AppendNull()
		} else {
			b.Append(value(i))
		}
	}
	return b.NewArray()
}

// DictionaryText is the text of element i.
func DictionaryText(a *array.Dictionary, i int) string {
	return a.Dictionary().(*array.String).Value(a.GetValueIndex(i))
}

// arrowBatch is how many rows a record batch of a table has at most.
const arrowBatch = 1 << 16

// TableWriter writes a table to a file of record batches.
func TableWriter(open func(io.Writer, *arrow.Schema) (BatchWriter, error)) func(io.Writer, *table.Table) error {
	return func(w io.Writer, t *table.Table) error { return writeBatches(w, t, open) }
}

// writeBatches writes a table. A column without a NULL is declared so.
func writeBatches(w io.Writer, t *table.Table, open func(io.Writer, *arrow.Schema) (BatchWriter, error)) error {
	if err := source.CheckWritable(t); err != nil {
		return err
	}
	t = t.Compacted()
	nulls := make([]bool, len(t.Fields))
	for _, c := range t.Chunks {
		for i, s := range c.Segments {
			nulls[i] = nulls[i] || s.Nulls > 0
		}
	}
	out, err := NewChunkWriter(w, t.Fields, nulls, open)
	if err != nil {
		return err
	}
	for _, c := range t.Chunks {
		if err := out.WriteChunk(c); err != nil {
			return err
		}
	}
	return out.Close()
}

// ChunkWriter writes chunks of a table as record batches.
type ChunkWriter struct {
	BatchWriter
	fields []table.Field
	nulls  []bool // whether a column may have NULLs
	schema *arrow.Schema
}

// WriteChunk writes a chunk. A DATE beyond 32 bits of days is an error.
func (w *ChunkWriter) WriteChunk(c *table.Chunk) error { return w.WriteRows(c, 0, c.Rows) }

// WriteRows writes the rows of a chunk, of which none is deleted, from row from to before row to.
func (w *ChunkWriter) WriteRows(c *table.Chunk, from, to int) error {
	for i, s := range c.Segments {
		f := w.fields[i]
		if s.Nulls > 0 && !w.nulls[i] {
			return sqlstate.Errorf(sqlstate.NotNullViolation, "column %s: a NULL, in a column that has none", source.ShowName(f.Name))
		}
		if f.Type.Kind != table.Date || s.NonNull() == 0 {
			continue
		}
		for _, code := range []uint64{0, s.Max} {
			if d := s.Decode(code); d.I != int64(int32(d.I)) {
				return sqlstate.Errorf(sqlstate.NumericOutOfRange, "column %s: %s %s does not fit the format's 32 bits", source.ShowName(f.Name), f.Type, d)
			}
		}
	}
	var columns Columns
	for b := (table.Block{First: from, N: min(arrowBatch, to-from)}); b.N > 0; b.First, b.N = b.First+b.N, min(arrowBatch, to-b.First-b.N) {
		arrays := xslices.Map(c.Segments, func(s *table.Segment) arrow.Array { return columns.Array(s, b) })
		if err := w.Write(array.NewRecordBatch(w.schema, arrays, int64(b.N))); err != nil {
			return err
		}
	}
	return nil
}

func NewChunkWriter(w io.Writer, columns []table.Field, nulls []bool, open func(io.Writer, *arrow.Schema) (BatchWriter, error)) (*ChunkWriter, error) {
	var fields []arrow.Field
	for i, f := range columns {
		field := arrow.Field{Name: f.Name, Type: TypeOf(f.Type), Nullable: f.Type.Kind == table.Unknown || nulls[i]}
		if f.Type.Kind == table.Varchar {
			field.Type = DictionaryType
		}
		fields = append(fields, field)
	}
	schema := arrow.NewSchema(fields, nil)
	out, err := open(w, schema)
	return &ChunkWriter{out, columns, nulls, schema}, err
}
