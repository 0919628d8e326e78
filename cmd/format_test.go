package cmd

import (
	"math"
	"math/big"
	"strings"
	"testing"
	"time"

	"github.com/stencildb/stencildb/engine"
	"github.com/stencildb/stencildb/ingest"
	"github.com/stencildb/stencildb/table"
)

func TestJSONValues(t *testing.T) {
	huge, _ := new(big.Int).SetString("12345678901234567890123456789", 10)
	real := func(f float32) table.Value {
		return table.Value{Type: table.Type{Kind: table.Real}, F: float64(f)}
	}
	of := func(k table.Kind, i int64) table.Value { return table.Value{Type: table.Type{Kind: k}, I: i} }
	for _, c := range []struct {
		v    table.Value
		want string
	}{
		{table.Null(table.Type{Kind: table.Date}), "null"},
		{table.Bool(true), "true"},
		{table.Bool(false), "false"},
		{table.Int(0), "0"},
		{of(table.SmallInt, -7), "-7"},
		{table.Int(1 << 53), "9007199254740992"},
		{table.Int(1<<53 + 1), `"9007199254740993"`},
		{table.Int(-1 << 53), "-9007199254740992"},
		{table.Int(-1<<53 - 1), `"-9007199254740993"`},
		{table.Int(math.MinInt64), `"-9223372036854775808"`},
		{table.Dec(table.Type{Kind: table.Decimal, Precision: 10, Scale: 2}, big.NewInt(-5)), `"-0.05"`},
		{table.Dec(table.Type{Kind: table.Decimal, Precision: 38}, big.NewInt(3)), `"3"`},
		{table.Dec(table.Type{Kind: table.Decimal, Precision: 38, Scale: 1}, huge), `"1234567890123456789012345678.9"`},
		{table.Float(0.1), "0.1"},
		{real(0.1), "0.1"},
		{table.Float(float64(float32(0.1))), "0.10000000149011612"},
		{table.Float(1e300), "1e+300"},
		{table.Float(5e-324), "5e-324"},
		{table.Float(1e20), "100000000000000000000"},
		{table.Float(math.NaN()), `"NaN"`},
		{table.Float(math.Inf(1)), `"Infinity"`},
		{real(float32(math.Inf(-1))), `"-Infinity"`},
		{of(table.Date, 0), `"1970-01-01"`},
		{of(table.Timestamp, 1), `"1970-01-01 00:00:00.000001"`},
		{table.Str(""), `""`},
		{table.Str("<a> \"b\"\n\u2028"), `"<a> \"b\"\n\u2028"`},
	} {
		if got := string(jsonValue(c.v)); got != c.want {
			t.Errorf("%s %v is %s, want %s", c.v.Type, c.v, got, c.want)
		}
	}
}

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
