package ingest

import (
	"bufio"
	"context"
	"io"
	"strings"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"

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
		buf := bufio.NewWriterSize(untilDone{ctx, w}, 1<<20) // the Parquet library panics where its first bytes cannot be written
		if err := Compressed(buf, codec, func(w io.Writer) error { return write(w, t) }); err != nil {
			return err
		}
		return buf.Flush()
	})
}

// untilDone writes for as long as ctx has not ended.
type untilDone struct {
	ctx context.Context
	w   io.Writer
}

// Write implements io.Writer.
func (u untilDone) Write(p []byte) (int, error) {
	if err := u.ctx.Err(); err != nil {
		return 0, err
	}
	return u.w.Write(p)
}

// CheckExtension reports a path whose extension [WriteFile] does not know.
func CheckExtension(path string) error {
	_, _, err := writer(path)
	return err
}

// writer picks the function for a path, and the compression around it.
func writer(path string) (write func(io.Writer, *table.Table) error, codec string, err error) {
	format, codec := FormatOf(path)
	switch {
	case format == CSV:
		return delimited(','), codec, nil
	case format == TSV:
		return delimited('\t'), codec, nil
	case format == Arrow && strings.Contains(path, ".arrows"):
		return batches(NewArrowStream), codec, nil
	case format == Arrow:
		return batches(NewArrowFile), codec, nil
	case format == Parquet && codec == "":
		return batches(NewParquetFile), "", nil
	}
	return nil, "", sqlstate.Errorf(sqlstate.InvalidParameterValue, "%s: the extension names no format: want .csv, .tsv (also .gz, .zst), .parquet or .arrow", path)
}

// Compressed has write write through a compression: "gz", "zst", or "" for none.
func Compressed(w io.Writer, codec string, write func(io.Writer) error) error {
	z, err := Compressor(w, codec)
	if err != nil {
		return err
	}
	if err := write(z); err != nil {
		z.Close()
		return err
	}
	return z.Close()
}

// Compressor writes through a compression: "gz", "zst", or "" for none. Closing it ends that, and leaves w open.
func Compressor(w io.Writer, codec string) (io.WriteCloser, error) {
	switch codec {
	case "gz":
		return gzip.NewWriter(w), nil
	case "zst":
		return zstd.NewWriter(w)
	}
	return unpacked{w}, nil
}

// unpacked writes what it is given.
type unpacked struct{ io.Writer }

// Close implements io.Closer.
func (unpacked) Close() error { return nil }

// checkWritable refuses a table with columns that cannot be written.
func checkWritable(t *table.Table) error {
	for _, f := range t.Fields {
		if f.Unsupported != "" {
			return sqlstate.Errorf(sqlstate.FeatureNotSupported, "column %s cannot be written: %s", show(f.Name), f.Unsupported)
		}
	}
	return nil
}
