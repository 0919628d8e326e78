package cmd

import (
	"strings"
	"testing"
	"time"

	"github.com/stencildb/stencildb/engine"
	"github.com/stencildb/stencildb/ingest"
)

func TestFooter(t *testing.T) {
	s := engine.Stats{Backend: "classic", Passes: 21, Samples: 1234567, Elapsed: 412 * time.Microsecond, Load: 31 * time.Millisecond}
	want := "2 rows, classic, 21 passes, 1,234,567 samples counted, 0.412 ms (loading 31.000 ms)"
	if got := footer(true, 2, s); got != want {
		t.Errorf("%q, want %q", got, want)
	}
	s.Passes, s.Samples, s.Load = 1, 1, 0
	if got, want := footer(true, 1, s), "1 row, classic, 1 pass, 1 sample counted, 0.412 ms"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}

func TestProgressBar(t *testing.T) {
	half := progress{50, 100, loadingWords(ingest.Progress{Done: 3 << 19, Total: 3 << 20, Rows: 12_000})}
	if got, want := barLine("loading", "t", half, 2*time.Second), "loading t [###############               ]  50 %, 12,000 rows, 1.5 MiB of 3.0 MiB, 2 s left"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
	var out strings.Builder
	if got := barLine("tracing", "passes", progress{1, 4, ""}, 0); !strings.HasSuffix(got, "tracing passes [#######                       ]  25 %") {
		t.Errorf("%q", got)
	}
	c := &console{w: &out}
	update := bar(c, "loading")
	update("t", progress{done: 1}) // size unknown
	update("t", progress{1, 2, ""})
	update("t", progress{2, 2, ""})
	update("t", progress{2, 2, ""})
	if got, want := out.String(), wiped+barLine("loading", "t", progress{1, 2, ""}, 0)+wiped; got != want {
		t.Errorf("%q, want %q: drawn once, wiped once", got, want)
	}
	if progressOn(&out, "loading") != nil {
		t.Error("there is a progress bar on something that is no terminal")
	}
}
