package ingest

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/stencildb/stencildb/ingest/source"
)

// ParseLoad reads NAME=PATH[?option&option...], the argument of --load. The
// options are header=false, delim=C, null=TEXT (may be given several times) and
// types=COLUMN:TYPE,COLUMN:TYPE..., strict=true and encoding=latin1. In them %XX stands for a byte, so that %26 is
// an ampersand; a path cannot contain a question mark. Without NAME= the table is
// named after the file, less its extensions; after a pattern, less what may vary.
func ParseLoad(spec string) (name string, s Source, err error) {
	head, _, _ := strings.Cut(spec, "?")
	name, path, named := strings.Cut(head, "=")
	if !named {
		path = head
		name, _, _ = strings.Cut(filepath.Base(path), ".")
		if at := strings.IndexAny(name, "*["); at >= 0 {
			name = strings.TrimRight(name[:at], "-_ ")
		}
	}
	if name == "" || path == "" {
		return "", s, fmt.Errorf("load %q: want NAME=PATH[?option&option...]", spec)
	}
	if s, err = source.ParsePath(path + spec[len(head):]); err != nil {
		return "", s, fmt.Errorf("load %s: %w", name, err)
	}
	return name, s, nil
}

// InFolder is what to load of an argument of --load. That is itself, or where it is a folder, with or without
// options, each of its files whose extension names a format. A folder without any is an error.
func InFolder(spec string) ([]string, error) {
	path, _, _ := strings.Cut(spec, "?")
	if info, err := os.Stat(path); err != nil || !info.IsDir() {
		return []string{spec}, nil
	}
	entries, err := os.ReadDir(path)
	if err != nil {
		return nil, err
	}
	var list []string
	for _, e := range entries {
		if format, _ := source.FormatOf(e.Name()); format != "" && !e.IsDir() {
			name, _, _ := strings.Cut(e.Name(), ".")
			list = append(list, name+"="+filepath.Join(path, e.Name())+spec[len(path):])
		}
	}
	if len(list) == 0 {
		return nil, fmt.Errorf("folder %s: there is no file of an extension that names a format: .csv, .tsv, .json, .parquet or .arrow", path)
	}
	return list, nil
}
