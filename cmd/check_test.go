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
	s, err := storage.Open(context.Background(), dir, ingest.Options{})
	if err == nil {
		d := &storage.Definition{Name: "t", Fields: []table.Field{{Name: "a", Type: table.Type{Kind: table.BigInt}}}, Columns: make([]storage.Column, 1)}
		_, err = s.Append([]storage.Change{{Table: "t", Define: d}})
	}
	if err == nil {
		err = s.Close()
	}
	if err != nil {
		t.Fatal(err)
	}
	if status, out, errs := check(); status != exitOK || out != "" || errs != "" {
		t.Errorf("all is well: %d, %q, %q", status, out, errs)
	}
	path := filepath.Join(dir, "log-1")
	data, err := os.ReadFile(path)
	if err == nil {
		data[100] ^= 1
		err = os.WriteFile(path, data, 0o666)
	}
	if err != nil {
		t.Fatal(err)
	}
	status, out, errs := check()
	if status != exitFailure || !strings.HasPrefix(out, "log-1: at byte 64: the record there is damaged") || !strings.Contains(errs, "1 thing is wrong") {
		t.Errorf("a damaged log: %d, %q, %q", status, out, errs)
	}
}
