package ingest_test

import (
	"context"
	"testing"

	"github.com/stencildb/stencildb/ingest"
	"github.com/stencildb/stencildb/table"
	"github.com/stencildb/stencildb/testdata"
)

// The facts of the embedded data that README.md states.
func TestFlights200k(t *testing.T) {
	tab, err := ingest.Load(context.Background(), "flights", ingest.Source{Format: ingest.Parquet, Data: testdata.Flights200k}, ingest.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if err := tab.Check(); err != nil {
		t.Fatal(err)
	}
	if tab.Rows() != 200_000 || len(tab.Fields) != 3 || len(testdata.Flights200k) > 2<<20 {
		t.Fatalf("%d rows of %d columns in %d bytes", tab.Rows(), len(tab.Fields), len(testdata.Flights200k))
	}
	for i, want := range []struct {
		name              string
		kind              table.Kind
		bits              int
		lo, hi, head, end string
	}{
		{"delay", table.SmallInt, 11, "-86", "1444", "", ""},
		{"distance", table.SmallInt, 13, "30", "4962", "", ""},
		{"time", table.Real, 0, "0", "23.983334", "", ""},
	} {
		s := tab.Chunks[0].Segments[i]
		if tab.Fields[i].Name != want.name || s.Type.Kind != want.kind || s.Nulls != 0 ||
			s.Decode(0).String() != want.lo || s.Decode(s.Max).String() != want.hi || want.bits != 0 && s.Bits != want.bits {
			t.Errorf("%s %s: %d NULLs, %d bits, %s to %s", tab.Fields[i].Name, s.Type, s.Nulls, s.Bits, s.Decode(0), s.Decode(s.Max))
		}
	}
}
