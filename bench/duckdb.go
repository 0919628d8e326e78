//go:build duckdb

package bench

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"runtime"
	"sync/atomic"
	"time"

	"github.com/duckdb/duckdb-go/v2"

	"github.com/stencildb/stencildb/table"
)

func init() { peers["duckdb"] = peer{open: openDuckDB} }

// duckDB is DuckDB in memory, with as many threads as Go has.
type duckDB struct {
	db    *sql.DB
	conn  *sql.Conn
	lacks lacking
}

func openDuckDB() (System, error) {
	db, err := sql.Open("duckdb", "")
	if err != nil {
		return nil, err
	}
	conn, err := db.Conn(context.Background())
	if err != nil {
		return nil, errors.Join(err, db.Close())
	}
	d := &duckDB{db: db, conn: conn}
	if _, err := conn.ExecContext(context.Background(), fmt.Sprintf("SET threads = %d", runtime.GOMAXPROCS(0))); err != nil {
		return nil, errors.Join(err, d.Close())
	}
	return d, nil
}

// Close implements System.
func (d *duckDB) Close() error { return errors.Join(d.conn.Close(), d.db.Close()) }

// Load implements System: a table function that reads the codes on all threads
// fills the table. So the rows of a table may change places, by blocks.
func (d *duckDB) Load(ctx context.Context, t *table.Table) error {
	source, lacks, err := newDuckSource(t)
	if d.lacks = lacks; err != nil || len(source.columns) == 0 {
		return err
	}
	err = duckdb.RegisterTableUDF(d.conn, "stencildb_source", duckdb.ParallelChunkTableFunction{
		BindArguments: func(map[string]any, ...any) (duckdb.ParallelChunkTableSource, error) { return source, nil },
	})
	if err != nil {
		return err
	}
	for _, text := range []string{
		"SET preserve_insertion_order = false",
		"CREATE TABLE " + quoted(t.Name) + " AS SELECT * FROM stencildb_source()",
	} {
		if _, err := d.conn.ExecContext(ctx, text); err != nil {
			return fmt.Errorf("duckdb: %w", err)
		}
	}
	return nil
}

// Prepare implements System.
func (d *duckDB) Prepare(ctx context.Context, q Query) (Statement, error) {
	return prepareSQL(ctx, d.conn, q.textFor("duckdb"), d.lacks)
}

// duckSource hands the rows of a table to DuckDB.
type duckSource struct {
	table   *table.Table
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

func newDuckSource(t *table.Table) (s *duckSource, lacks lacking, err error) {
	s = &duckSource{table: t}
	for i, f := range t.Fields {
		typ, ok := duckTypes[f.Type.Kind]
		if !ok {
			lacks = append(lacks, f)
			continue
		}
		info, err := duckdb.NewTypeInfo(typ)
		if err != nil {
			return nil, nil, err
		}
		s.columns, s.from = append(s.columns, duckdb.ColumnInfo{Name: f.Name, T: info}), append(s.from, i)
	}
	step := duckdb.GetDataChunkCapacity()
	for _, c := range t.Compacted().Chunks {
		for from := 0; from < c.Rows; from += step {
			s.blocks = append(s.blocks, duckBlock{c, from, min(from+step, c.Rows)})
		}
	}
	return s, lacks, nil
}

// ColumnInfos implements duckdb.ParallelChunkTableSource.
func (s *duckSource) ColumnInfos() []duckdb.ColumnInfo { return s.columns }

// Cardinality implements duckdb.ParallelChunkTableSource.
func (s *duckSource) Cardinality() *duckdb.CardinalityInfo {
	return &duckdb.CardinalityInfo{Cardinality: uint(s.table.Rows()), Exact: true}
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
		if err := fillDuck(out, col, b.chunk.Segments[from], b.from, b.to); err != nil {
			return err
		}
	}
	return out.SetSize(b.to - b.from)
}

func fillDuck(out duckdb.DataChunk, col int, seg *table.Segment, from, to int) error {
	for row := from; row < to; row++ {
		var err error
		v := table.FromOrdinal(seg.Type, seg.Base+seg.Codes.At(row))
		switch {
		case seg.IsNull(row):
			err = out.SetValue(col, row-from, nil)
		case v.Type.IsFloat():
			err = duckdb.SetChunkValue(out, col, row-from, v.F)
		case v.Type.Kind == table.Date:
			err = duckdb.SetChunkValue(out, col, row-from, time.Unix(86400*v.I, 0).UTC())
		case v.Type.Kind == table.Timestamp:
			err = duckdb.SetChunkValue(out, col, row-from, time.UnixMicro(v.I).UTC())
		default:
			err = duckdb.SetChunkValue(out, col, row-from, v.I)
		}
		if err != nil {
			return err
		}
	}
	return nil
}
