package source

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"
	"github.com/stencildb/stencildb/internal/files"
	"github.com/stencildb/stencildb/sqlstate"
)

// Decompressed returns the uncompressed data from the start.
func (l *Loader) Decompressed() (io.ReadCloser, error) {
	if _, err := l.Input.Seek(0, io.SeekStart); err != nil {
		return nil, err
	}
	in, err := decompressor(l.Input, l.Codec)
	if err == nil {
		in = inUTF8(in, l.Source.Encoding)
	}
	return in, err
}

// decompressor reads what has been compressed.
func decompressor(from io.Reader, codec string) (io.ReadCloser, error) {
	switch codec {
	case "gz":
		z, err := gzip.NewReader(from)
		if err != nil {
			return nil, unpackError("gzip", err)
		}
		return unpacker{z, "gzip"}, nil
	case "zst":
		z, err := zstd.NewReader(from, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxMemory(1<<30))
		if err != nil {
			return nil, unpackError("zstd", err)
		}
		return unpacker{z.IOReadCloser(), "zstd"}, nil
	}
	return io.NopCloser(from), nil
}

// Unpacked opens a file to read it from its beginning to its end, without the compression that its extension names.
func Unpacked(ctx context.Context, path string) (io.ReadCloser, error) {
	f, err := files.Open(ctx, path)
	if err != nil {
		return nil, err
	}
	_, codec := FormatOf(path)
	in, err := decompressor(f, codec)
	if err != nil {
		return nil, errors.Join(fmt.Errorf("%s: %w", path, err), f.Close())
	}
	return twoClosers{in, f}, nil
}

// twoClosers is a reader with what it reads from.
type twoClosers struct {
	io.ReadCloser
	from io.Closer
}

func (t twoClosers) Close() error { return errors.Join(t.ReadCloser.Close(), t.from.Close()) }

// unpacker turns the errors of a decompressor into words.
type unpacker struct {
	io.ReadCloser
	what string
}

func (u unpacker) Read(p []byte) (int, error) {
	n, err := u.ReadCloser.Read(p)
	if err != nil && err != io.EOF {
		err = unpackError(u.what, err)
	}
	return n, err
}

func unpackError(what string, err error) error {
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return sqlstate.Errorf(sqlstate.BadCopyFileFormat, "the %s data ends too early: the file is truncated", what)
	}
	if system := (*fs.PathError)(nil); errors.As(err, &system) {
		return err
	}
	return Damagef("not valid %s data", what)
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
