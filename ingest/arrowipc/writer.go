package arrowipc

import (
	"io"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/ipc"

	"github.com/stencildb/stencildb/ingest/arrays"
)

// NewStream begins an Arrow IPC stream of batches of a schema.
func NewStream(w io.Writer, s *arrow.Schema) (arrays.BatchWriter, error) {
	return ipc.NewWriter(w, ipc.WithSchema(s)), nil
}

// NewFile begins an Arrow IPC file (Feather version 2), uncompressed, of batches of
// a schema. A file has one dictionary a column, and chunks of a table have each their own,
// so that text is plain there.
func NewFile(w io.Writer, s *arrow.Schema) (arrays.BatchWriter, error) {
	plain := arrays.AsText(s, func(t arrow.DataType) bool { return t.ID() == arrow.DICTIONARY })
	out, err := ipc.NewFileWriter(w, ipc.WithSchema(plain))
	return arrays.NewTextWriter(out, plain), err
}
