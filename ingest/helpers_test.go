package ingest_test

import (
	"context"
	"strings"
	"testing"

	"github.com/stencildb/stencildb/ingest"
	"github.com/stencildb/stencildb/table"
)

// tb is what *testing.T and *rapid.T share.
type tb interface {
	Helper()
	Fatalf(format string, args ...any)
	Errorf(format string, args ...any)
}

// loadText loads CSV text.
func loadText(text string, s ingest.Source, o ingest.Options) (*table.Table, error) {
	s.Path, s.Format, s.Data = "t.csv", ingest.CSV, []byte(text)
	return ingest.Load(context.Background(), "t", s, o)
}

func mustLoad(t tb, text string, s ingest.Source) *table.Table {
	t.Helper()
	tab, err := loadText(text, s, ingest.Options{})
	if err != nil {
		t.Fatalf("%v", err)
	}
	check(t, tab)
	return tab
}

func check(t tb, tab *table.Table) {
	t.Helper()
	if err := tab.Check(); err != nil {
		t.Fatalf("%v", err)
	}
}

func oneLine(t *testing.T, err error) {
	t.Helper()
	if strings.ContainsAny(err.Error(), "\n\r") {
		t.Errorf("an error of several lines: %q", err)
	}
}
