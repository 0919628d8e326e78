package ingest_test

import (
	"testing"

	"github.com/stencildb/stencildb/ingest"
)

func TestRowCounts(t *testing.T) {
	for text, want := range map[string]int{"0": 0, "1": 1, "1000": 1000, "1k": 1000, "100K": 100_000, "1M": 1_000_000, "16Mi": 1 << 24, "2^28": 1 << 28, "1G": 1e9, "2^0": 1} {
		if got, err := ingest.ParseRows(text); err != nil || got != want {
			t.Errorf("%s is %d (%v), want %d", text, got, err, want)
		}
	}
	for _, text := range []string{"", "-1", "1.5M", "M", "2^", "2^41", "2^-1", "1kk", "99999999999999999999", "9999999999999G"} {
		if got, err := ingest.ParseRows(text); err == nil {
			t.Errorf("%q is %d, want an error", text, got)
		}
	}
}
