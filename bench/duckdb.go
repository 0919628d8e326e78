//go:build duckdb

package bench

import (
	"context"
	"database/sql"
	"fmt"
	"runtime"
	"sync/atomic"
	"time"

	"github.com/duckdb/duckdb-go/v2"

	"github.com/stencildb/stencildb/table"
)

// DuckDB has as many threads as Go.
func init() {
	peers["duckdb"] = sqlPeer{name: "duckdb", driver: "duckdb", load: loadDuckDB, holds: func(t *table.Table, col int) bool {
		_, ok := duckTypes[t.Fields[col].Type.Kind]
		return ok
	}}.peer()
}

// duckTypes are DuckDB's types of those that it is given.
var duckTypes = map[table.Kind]duckdb.Type{
	table.SmallInt: duckdb.TYPE_SMALLINT,
	table.Integer:  duckdb.TYPE_INTEGER,
	table.BigInt:   duckdb.TYPE_BIGINT,
	table.Real:     duckdb.TYPE_FLOAT,
	table.Double:   duckdb.TYPE_DOUBLE,

	table.Date:      duckdb.TYPE_DATE,
	table.Timestamp: duckdb.TYPE_TIMESTAMP,
}

// loadDuckDB has a table function that reads the codes on all threads fill the table. So
// the rows of a table may change places, by blocks.
func loadDuckDB(ctx context.Context, conn *sql.Conn, t *table.Table, columns []int) error {
	source := &duckSource{rows: t.Rows(), from: columns}
	for _, i := range columns {
		info, err := duckdb.NewTypeInfo(duckTypes[t.Fields[i].Type.Kind])
		if err != nil {
			return err
		}
		source.columns = append(source.columns, duckdb.ColumnInfo{Name: t.Fields[i].Name, T: info})
	}
	step := duckdb.GetDataChunkCapacity()
	for _, c := range t.Compacted().Chunks {
		for from := 0; from < c.Rows; from += step {
			source.blocks = append(source.blocks, duckBlock{c, from, min(from+step, c.Rows)})
		}
	}
	err := duckdb.RegisterTableUDF(conn, "stencildb_source", duckdb.ParallelChunkTableFunction{
		BindArguments: func(map[string]any, ...any) (duckdb.ParallelChunkTableSource, error) { return source, nil },
	})
	if err != nil {
		return err
	}
	for _, text := range []string{
		fmt.Sprintf("SET threads = %d", runtime.GOMAXPROCS(0)),
		"SET preserve_insertion_order = false",
		"CREATE TABLE " + quoted(t.Name) + " AS SELECT * FROM stencildb_source()",
	} {
		if _, err := conn.ExecContext(ctx, text); err != nil {
			return err
		}
	}
	return nil
}

// duckSource hands the rows of a table to DuckDB.
type duckSource struct {
	rows    int
	columns []duckdb.ColumnInfo
	from    []int // the column of the table that each is
	blocks  []duckBlock
	next    atomic.Int64 // block to hand out
}

// duckBlock is rows of one chunk, as many as DuckDB takes at a time.
type duckBlock struct {
	chunk    *table.Chunk
	from, to int
}

// ColumnInfos implements duckdb.ParallelChunkTableSource.
func (s *duckSource) ColumnInfos() []duckdb.ColumnInfo { return s.columns }

// Cardinality implements duckdb.ParallelChunkTableSource.
func (s *duckSource) Cardinality() *duckdb.CardinalityInfo {
	return &duckdb.CardinalityInfo{Cardinality: uint(s.rows), Exact: true}
}

// Init implements duckdb.ParallelChunkTableSource.
func (s *duckSource) Init() duckdb.ParallelTableSourceInfo {
	s.next.Store(0)
	return duckdb.ParallelTableSourceInfo{MaxThreads: runtime.GOMAXPROCS(0)}
}

// NewLocalState implements duckdb.ParallelChunkTableSource.
func (s *duckSource) NewLocalState() any { return &struct{}{} }

// FillChunk implements duckdb.ParallelChunkTableSource.
func (s *duckSource) FillChunk(_ any, out duckdb.DataChunk) error {
	i := int(s.next.Add(1)) - 1
	if i >= len(s.blocks) {
		return out.SetSize(0)
	}
	b := s.blocks[i]
	for col, from := range s.from {
		for row := b.from; row < b.to; row++ {
			if err := setDuck(out, col, row-b.from, b.chunk.Segments[from].Value(row)); err != nil {
				return err
			}
		}
	}
	return out.SetSize(b.to - b.from)
}

func setDuck(out duckdb.DataChunk, col, row int, v table.Value) error {
	switch {
	case v.Null:
		return out.SetValue(col, row, nil)
	case v.Type.IsFloat():
		return duckdb.SetChunkValue(out, col, row, v.F)
	case v.Type.Kind == table.Date:
		return duckdb.SetChunkValue(out, col, row, time.Unix(86400*v.I, 0).UTC())
	case v.Type.Kind == table.Timestamp:
		return duckdb.SetChunkValue(out, col, row, time.UnixMicro(v.I).UTC())
	}
	return duckdb.SetChunkValue(out, col, row, v.I)
}
