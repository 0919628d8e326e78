package cmd

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stencildb/stencildb/ingest"
	"github.com/stencildb/stencildb/storage"
	"github.com/stencildb/stencildb/table"
)

func TestCheck(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "db")
	check := func() (status int, out, errs string) {
		var o, e strings.Builder
		status = Execute(context.Background(), []string{"check", dir}, strings.NewReader(""), &o, &e)
		return status, o.String(), e.String()
	}
	if status, out, errs := check(); status != exitFailure || out != "" || !strings.Contains(errs, "there is no database") {
		t.Errorf("no folder: %d, %q, %q", status, out, errs)
	}
	plain := dir
	dir = file(t, "s.csv", "a\n1\n")
	if status, out, errs := check(); status != exitFailure || out != "" || !strings.Contains(errs, "s.csv is a file: name a folder") {
		t.Errorf("a file: %d, %q, %q", status, out, errs)
	}
	dir = plain
	define := func(name, view string) *storage.Definition {
		return &storage.Definition{Name: name, View: view, Fields: []table.Field{{Name: "a", Type: table.Type{Kind: table.BigInt}}}, Columns: make([]storage.Column, 1)}
	}
	rows := func(values ...table.Value) []*table.Chunk {
		return []*table.Chunk{{Rows: len(values), Segments: []*table.Segment{table.SegmentOf(values[0].Type, values...)}}}
	}
	s, err := storage.Open(context.Background(), dir, ingest.Options{})
	if err == nil {
		_, err = s.Append([]storage.Change{{Table: "t", Define: define("t", ""), Append: rows(table.Int(1), table.Int(2))}})
	}
	if err == nil {
		_, err = s.Checkpoint(context.Background(), []*table.Table{{Name: "t", Fields: define("t", "").Fields, Chunks: rows(table.Int(1), table.Int(2))}})
	}
	for _, c := range []storage.Change{{Table: "t", Append: rows(table.Int(3))}, {Table: "u", Define: define("u", "")}, {Table: "v", Define: define("v", "SELECT a FROM t")}} {
		if err == nil {
			_, err = s.Append([]storage.Change{c})
		}
	}
	if err == nil {
		err = s.Close()
	}
	if err != nil {
		t.Fatal(err)
	}
	if status, out, errs := check(); status != exitOK || out != dir+" is sound: 2 tables with 3 rows in 1 file, 1 view, 3 records of the log\n" || errs != "" {
		t.Errorf("all is well: %d, %q, %q", status, out, errs)
	}
	path := filepath.Join(dir, "log-2")
	data, err := os.ReadFile(path)
	if err == nil {
		data[70] ^= 1
		err = os.WriteFile(path, data, 0o666)
	}
	if err != nil {
		t.Fatal(err)
	}
	status, out, errs := check()
	if status != exitFailure || !strings.HasPrefix(out, "log-2: at byte 64: the record there is damaged") || !strings.Contains(errs, "1 thing is wrong") {
		t.Errorf("a damaged log: %d, %q, %q", status, out, errs)
	}
}
