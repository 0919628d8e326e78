package terminal

import (
	"strings"
	"testing"
	"time"
)

func TestProgressBar(t *testing.T) {
	half := Progress{50, 100, ", 12,000 rows"}
	if got, want := barLine("loading", "t", half, 2*time.Second), "loading t [###############               ]  50 %, 12,000 rows, 2 s left"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
	var out strings.Builder
	if got := barLine("tracing", "passes", Progress{1, 4, ""}, 0); !strings.HasSuffix(got, "tracing passes [#######                       ]  25 %") {
		t.Errorf("%q", got)
	}
	c := &Console{To: &out}
	update := bar(c, "loading")
	update("t", Progress{Done: 1}) // size unknown
	update("t", Progress{1, 2, ""})
	update("t", Progress{2, 2, ""})
	update("t", Progress{2, 2, ""})
	if got, want := out.String(), wiped+barLine("loading", "t", Progress{1, 2, ""}, 0)+wiped; got != want {
		t.Errorf("%q, want %q: drawn once, wiped once", got, want)
	}
	if ProgressOn(&out, "loading") != nil {
		t.Error("there is a progress bar on something that is no terminal")
	}
}
