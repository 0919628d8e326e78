package ingest

import (
	"bufio"
	"context"
	"io"
	"strings"

	"github.com/stencildb/stencildb/ingest/arrays"
	"github.com/stencildb/stencildb/ingest/arrowipc"
	"github.com/stencildb/stencildb/ingest/csv"
	"github.com/stencildb/stencildb/ingest/parquet"
	"github.com/stencildb/stencildb/ingest/source"
	"github.com/stencildb/stencildb/internal/files"
	"github.com/stencildb/stencildb/sqlstate"
	"github.com/stencildb/stencildb/table"
)

// WriteFile writes a table in the format that the path's extension names. These are .csv or
// .tsv, .arrow, .feather, .ipc or .arrows (a stream), also with .gz or .zst, or .parquet. The file
// appears whole or not at all: when ctx ends, nothing of it is left.
func WriteFile(ctx context.Context, path string, t *table.Table) error {
	write, codec, err := writer(path)
	if err != nil {
		return err
	}
	return files.Write(path, func(w io.Writer) error {
		buf := bufio.NewWriterSize(source.ContextWriter(ctx, w), 1<<20) // the Parquet library panics where its first bytes cannot be written
		if err := source.Compressed(buf, codec, func(w io.Writer) error { return write(w, t) }); err != nil {
			return err
		}
		return buf.Flush()
	})
}

// CheckExtension reports a path whose extension [WriteFile] does not know.
func CheckExtension(path string) error {
	_, _, err := writer(path)
	return err
}

// writer picks the function for a path, and the compression around it.
func writer(path string) (write func(io.Writer, *table.Table) error, codec string, err error) {
	format, codec := source.FormatOf(path)
	switch {
	case format == CSV:
		return csv.Writer(','), codec, nil
	case format == TSV:
		return csv.Writer('\t'), codec, nil
	case format == Arrow && strings.Contains(path, ".arrows"):
		return arrays.TableWriter(arrowipc.NewStream), codec, nil
	case format == Arrow:
		return arrays.TableWriter(arrowipc.NewFile), codec, nil
	case format == Parquet && codec == "":
		return arrays.TableWriter(parquet.NewWriter), "", nil
	}
	return nil, "", sqlstate.Errorf(sqlstate.InvalidParameterValue, "%s: the extension names no format: want .csv, .tsv (also .gz, .zst), .parquet or .arrow", path)
}
