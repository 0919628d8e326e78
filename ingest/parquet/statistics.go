package parquet

import (
	"encoding/binary"
	"math"
	"strings"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/bitutil"
	"github.com/apache/arrow-go/v18/parquet"
	"github.com/apache/arrow-go/v18/parquet/metadata"
	"github.com/apache/arrow-go/v18/parquet/schema"
	"github.com/stencildb/stencildb/ingest/columnar"
	"github.com/stencildb/stencildb/ingest/source"
	"github.com/stencildb/stencildb/internal/numbers"
	"github.com/stencildb/stencildb/table"
)

// chunkStatistics is what the footer of a Parquet file states about a column chunk, as the file has it.
type chunkStatistics struct {
	lo, hi  int64 // of the values as they are stored
	bounded bool
	exact   bool
	nulls   int64 // negative: not stated, or of a column that has none by its schema
	rows    int64
}

// use is what may be used of it.
func (s chunkStatistics) use(d *schema.Column) columnar.Statistics {
	out := columnar.Unstated
	if s.bounded {
		out.Lo, out.Hi, out.Bounded, out.Exact = table.OrdinalInt(s.lo), table.OrdinalInt(s.hi), true, s.exact
	}
	switch {
	case d.MaxDefinitionLevel() == 0:
		out.Nulls = 0
	case s.nulls <= s.rows:
		out.Nulls = int(s.nulls)
	}
	return out
}

func (s chunkStatistics) verifier() *verifier {
	return &verifier{chunkStatistics: s, left: s.rows, least: math.MaxInt64, top: math.MinInt64}
}

// exactWriters are the writers, by the name in created_by, whose bounds of integers are exact: the smallest and the largest
// value of the column chunk. They do not say so by is_min_value_exact and is_max_value_exact, which are newer than they. Each
// keeps the extremes of the values as it writes them, and shortens none but those of bytes.
var exactWriters = map[string]string{
	"parquet-mr":        "parquet-column: org/apache/parquet/column/statistics: IntStatistics.updateStats, LongStatistics.updateStats",
	"parquet-cpp":       "cpp/src/parquet/statistics.cc: TypedStatisticsImpl::Update",
	"parquet-cpp-arrow": "cpp/src/parquet/statistics.cc: TypedStatisticsImpl::Update",
	"parquet-go":        "arrow-go: parquet/metadata/statistics_types.gen.go: Int32Statistics.Update, Int64Statistics.Update",
	"stencildb":         "this package's writer, which is arrow-go's",
	"DuckDB":            "extension/parquet/include/writer/parquet_write_stats.hpp: NumericStatisticsState",
	"parquet-rs":        "parquet/src/column/writer/encoder.rs: get_min_max",
}

// writtenExactly reports whether the bounds of integers of a writer are values.
func writtenExactly(createdBy string) bool {
	name, version, _ := strings.Cut(createdBy, " ")
	if name == "parquet-go" && strings.HasPrefix(version, "version latest") { // another library of the same name
		return false
	}
	return exactWriters[name] != ""
}

// statistics reads what the footer states about the column in a row group. arrow-go's own [metadata.TypedStatistics] cannot
// tell what is stated from what is not: a bound that is missing is 0 there.
func (c column) statistics(meta *metadata.FileMetaData, group int) (s chunkStatistics) {
	rg := meta.RowGroups[group]
	s = chunkStatistics{nulls: -1, rows: rg.NumRows}
	chunk := rg.Columns[c.leaf]
	if c.stored == nil || chunk.MetaData == nil || chunk.MetaData.Statistics == nil {
		return s
	}
	stated, d := chunk.MetaData.Statistics, meta.Schema.Column(c.leaf)
	if stated.NullCount != nil && d.MaxDefinitionLevel() > 0 {
		s.nulls = *stated.NullCount
	}
	var ok [2]bool
	ordered := meta.ColumnOrders != nil && c.leaf < len(meta.ColumnOrders) && meta.ColumnOrders[c.leaf].IsSetTYPE_ORDER()
	s.lo, ok[0] = c.integer(d, stated.MinValue)
	s.hi, ok[1] = c.integer(d, stated.MaxValue)
	exact := func(flag *bool) bool {
		return flag != nil && *flag || flag == nil && writtenExactly(meta.GetCreatedBy())
	}
	s.exact = exact(stated.IsMinValueExact) && exact(stated.IsMaxValueExact)
	if !ordered || !ok[0] || !ok[1] { // those of older writers, which are in the order of numbers with a sign
		s.lo, ok[0] = c.integer(d, stated.Min)
		s.hi, ok[1] = c.integer(d, stated.Max)
		s.exact = writtenExactly(meta.GetCreatedBy())
	}
	s.bounded = ok[0] && ok[1] && s.lo <= s.hi && s.nulls != s.rows
	return s
}

// integer reads a bound of a column of integers with a sign, days or microseconds. One outside of the column's own type is none.
func (c column) integer(d *schema.Column, v []byte) (n int64, ok bool) {
	switch t, times := c.stored.(*arrow.TimestampType); {
	case times && t.Unit != arrow.Microsecond:
		return 0, false
	case !times && c.stored.ID() != arrow.INT32 && c.stored.ID() != arrow.INT64 && c.stored.ID() != arrow.DATE32:
		return 0, false
	}
	switch {
	case d.PhysicalType() == parquet.Types.Int32 && len(v) == 4:
		n = int64(int32(binary.LittleEndian.Uint32(v)))
	case d.PhysicalType() == parquet.Types.Int64 && len(v) == 8:
		n = int64(binary.LittleEndian.Uint64(v))
	default:
		return 0, false
	}
	lo, hi := int64(math.MinInt64), int64(math.MaxInt64)
	if t, ok := d.LogicalType().(interface {
		BitWidth() int8
		IsSigned() bool
	}); ok && t.BitWidth() < 64 {
		if hi = 1<<t.BitWidth() - 1; t.IsSigned() {
			hi >>= 1
		}
		if lo = 0; t.IsSigned() {
			lo = -hi - 1
		}
	}
	return n, lo <= n && n <= hi
}

// verifier compares the values of a column chunk with what the footer states about them, while they are decoded.
type verifier struct {
	chunkStatistics
	left       int64 // rows
	found      int64 // NULLs
	some       bool
	least, top int64
}

// add takes the next values.
func (v *verifier) add(a arrow.Array) error {
	v.left -= int64(a.Len())
	v.found += int64(a.NullN())
	if v.nulls >= 0 && (v.found > v.nulls || v.left == 0 && v.found < v.nulls) {
		more := ""
		if v.left > 0 {
			more = " so far"
		}
		return source.Damagef("the footer states %s, and there are %d%s", numbers.Count(v.nulls, "NULL", "NULLs"), v.found, more)
	}
	if !v.bounded {
		return nil
	}
	if a.NullN() < a.Len() {
		lo, hi := int64(0), int64(0)
		if a.DataType().(arrow.FixedWidthDataType).BitWidth() == 32 {
			lo, hi = extent[int32](a)
		} else {
			lo, hi = extent[int64](a)
		}
		v.least, v.top = min(v.least, lo), max(v.top, hi)
		switch {
		case lo < v.lo:
			return source.Damagef("the footer states that no value is less than %d as it is stored, and there is %d", v.lo, lo)
		case hi > v.hi:
			return source.Damagef("the footer states that no value is greater than %d as it is stored, and there is %d", v.hi, hi)
		}
	}
	switch {
	case v.left > 0 || !v.exact:
	case v.found == v.rows:
		return source.Damagef("the footer states values from %d to %d, and all rows are NULL", v.lo, v.hi)
	case v.least != v.lo:
		return source.Damagef("the footer states that the smallest value is %d as it is stored, and it is %d", v.lo, v.least)
	case v.top != v.hi:
		return source.Damagef("the footer states that the largest value is %d as it is stored, and it is %d", v.hi, v.top)
	}
	return nil
}

// extent is the smallest and the largest value of an array that has one.
func extent[T int32 | int64](a arrow.Array) (lo, hi int64) {
	values := arrow.GetValues[T](a.Data(), 1)
	if a.NullN() == 0 {
		l, h := values[0], values[0]
		for _, v := range values {
			l, h = min(l, v), max(h, v)
		}
		return int64(l), int64(h)
	}
	valid, at := a.NullBitmapBytes(), a.Data().Offset()
	lo, hi = math.MaxInt64, math.MinInt64
	for i, v := range values {
		if bitutil.BitIsSet(valid, at+i) {
			lo, hi = min(lo, int64(v)), max(hi, int64(v))
		}
	}
	return lo, hi
}
