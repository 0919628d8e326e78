package bench

import (
	"slices"
	"strings"

	"github.com/stencildb/stencildb/bench/meter"
	"github.com/stencildb/stencildb/bench/report"
	"github.com/stencildb/stencildb/bench/workload"
	"github.com/stencildb/stencildb/expr"
	"github.com/stencildb/stencildb/table"
)

// maxCSVRows is the rows up to which a table is written as CSV, too.
const maxCSVRows = 4_000_000

// loadOperations are those of the suite load. One statement needs four columns of integers, of CSV all
// columns; a peer makes a table of them first. Another is over one column, which a peer answers from the
// file.
var loadOperations = []workload.Operation{
	{Name: "parquet_load", Attributes: 1, Integers: true, Query: loading(meter.ParquetFile)},
	{Name: "parquet_first_answer", Attributes: 1, Query: reading(meter.ParquetFile)},
	{Name: "csv_load", Attributes: 1, Integers: true, Query: loading(meter.CSVFile)},
	{Name: "csv_first_answer", Attributes: 1, Query: reading(meter.CSVFile)},
}

func loading(of meter.FileFormat) func(*workload.TableProfile) meter.Query {
	return func(f *workload.TableProfile) meter.Query {
		q := meter.Query{File: of}
		var sums []string
		n := f.Integers
		if of == meter.ParquetFile { // the columns of which lie apart
			n = min(n, report.MaxAttributes)
		}
		for i := range n {
			q.Columns = append(q.Columns, f.Integer(i))
			sums = append(sums, "SUM("+f.Integer(i)+")")
		}
		q.SQL = "SELECT " + strings.Join(sums, ", ") + " FROM " + f.Table
		return q
	}
}

func reading(of meter.FileFormat) func(*workload.TableProfile) meter.Query {
	return func(f *workload.TableProfile) meter.Query {
		q := f.CountWhere(workload.Below60(f))
		q.File = of
		return q
	}
}

// fromFile is a query as a peer runs it over a file.
func fromFile(q meter.Query, t *table.Table, path string) []string {
	from := " FROM " + workload.Quoted(t.Name)
	in := " FROM " + expr.Quote(path)
	if q.Columns == nil {
		return []string{strings.Replace(q.SQL, from, in, 1)}
	}
	return slices.Concat([]string{"CREATE TABLE " + workload.Quoted(t.Name) + " AS SELECT " + strings.Join(q.Columns, ", ") + in}, []string{q.SQL})
}
