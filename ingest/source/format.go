package source

import (
	"bytes"
	"cmp"
	"io"
	"path/filepath"
	"slices"
	"strings"

	"github.com/stencildb/stencildb/sqlstate"
)

// FormatOf is the format ("" for none) and the compression ("", "gz" or "zst") that a path's
// extensions name.
func FormatOf(path string) (format Format, codec string) {
	base := strings.ToLower(filepath.Base(path))
	ext := filepath.Ext(base)
	if ext == ".gz" || ext == ".zst" {
		codec = ext[1:]
		ext = filepath.Ext(strings.TrimSuffix(base, ext))
	}
	return map[string]Format{".csv": CSV, ".tsv": TSV, ".tab": TSV, ".parquet": Parquet,
		".json": JSON, ".ndjson": JSON, ".jsonl": JSON, ".jsonlines": JSON, ".arrow": Arrow, ".feather": Arrow, ".ipc": Arrow, ".arrows": Arrow}[ext], codec
}

// Detect finds the format and the compression, and reports whether the extension or the
// source named the format.
func (l *Loader) Detect() (format Format, known bool, err error) {
	format, l.Codec = FormatOf(l.Source.Path)
	format = cmp.Or(l.Source.Format, format)
	if format == Parquet && l.Codec != "" {
		return "", true, sqlstate.Errorf(sqlstate.FeatureNotSupported, "a Parquet file is compressed inside: unpack the .%s first", l.Codec)
	}
	if l.Codec != "" {
		return cmp.Or(format, CSV), format != "", nil
	}
	first := make([]byte, 512)
	n, err := l.Input.ReadAt(first, 0)
	if err != nil && err != io.EOF {
		return "", false, err
	}
	first = first[:n]
	text := format == CSV || format == TSV || format == JSON
	for _, m := range magics {
		switch {
		case !bytes.HasPrefix(first, []byte(m.bytes)):
		case format == "":
			l.Codec = m.codec
			return m.format, false, nil
		case text && m.codec != "":
			l.Codec = m.codec
			l.Note("packed as .%s, which its name does not say", m.codec)
			return format, true, nil
		case m.codec == "" && format != m.format && (!text || slices.Contains(first, 0)):
			return "", true, OptionErrorf("by its first bytes it is of the format %s, and no %s file; FROM read_%s('%s') reads it, whatever its name",
				m.format, format, m.format, strings.ReplaceAll(l.Source.Path, "'", "''"))
		}
	}
	return cmp.Or(format, CSV), format != "", nil
}

// IsText reports a file that begins with lines of text.
func (l *Loader) IsText() bool {
	first := make([]byte, 512)
	n, err := l.Input.ReadAt(first, 0)
	if err != nil && err != io.EOF {
		return false
	}
	for _, m := range magics {
		if bytes.HasPrefix(first[:n], []byte(m.bytes)) {
			return false
		}
	}
	lines := false
	for _, c := range first[:n] {
		switch {
		case c == '\n':
			lines = true
		case c < ' ' && c != '\t' && c != '\r':
			return false
		}
	}
	return lines
}

// magics are how files begin.
var magics = []struct {
	bytes  string
	format Format
	codec  string
}{{"PAR1", Parquet, ""}, {"ARROW1", Arrow, ""}, {"\xff\xff\xff\xff", Arrow, ""}, {"\x1f\x8b", CSV, "gz"}, {"\x28\xb5\x2f\xfd", CSV, "zst"}}
