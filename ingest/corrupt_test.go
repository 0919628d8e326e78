package ingest_test

import (
	"context"
	"math/rand/v2"
	"regexp"
	"runtime"
	"testing"

	"github.com/stencildb/stencildb/ingest"
	"github.com/stencildb/stencildb/table"
	"github.com/stencildb/stencildb/testdata"
)

// varied is a table with a column of each type, and NULLs.
func varied(t *testing.T) *table.Table {
	t.Helper()
	var fields []table.Field
	for _, typ := range columnTypes {
		fields = append(fields, table.Field{Name: "c_" + typ.String(), Type: typ})
	}
	b := table.NewBuilder("t", fields, 0)
	for i := range 300 {
		for c, f := range fields {
			v := table.Value{Type: f.Type, I: int64(i % 2), F: float64(i) / 3, S: string(rune('a' + i%20))}
			if v.Null = i%7 == c%7 || f.Type.Kind == table.Unknown; f.Type.Kind != table.Boolean {
				v.I = int64(i)
			}
			b.Column(c).Value(v)
		}
		if err := b.EndRow(); err != nil {
			t.Fatal(err)
		}
	}
	return b.Table()
}

// internals are words that are about the code of this program and its libraries.
var internals = regexp.MustCompile(`runtime error|index out|slice bounds|nil pointer|panic|goroutine|interface conversion|reflect|thrift|flatbuf|arrow/| parquet:|invalid memory|EOF|makeslice|\*\w+\.|%!`)

// load must end in a sound table or an error of one line, and take little memory.
func loadDamaged(t *testing.T, name string, data []byte) {
	t.Helper()
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	tab, err := ingest.Load(context.Background(), "t", ingest.Source{Path: name, Data: data}, ingest.Options{})
	runtime.ReadMemStats(&after)
	if got := after.TotalAlloc - before.TotalAlloc; got > 512<<20 {
		t.Errorf("%s of %d bytes took %d bytes of memory", name, len(data), got)
	}
	if err != nil {
		oneLine(t, err)
		if internals.MatchString(err.Error()) {
			t.Errorf("the error shows the program's insides: %v", err)
		}
		if tab != nil {
			t.Errorf("%s: an error and a table", name)
		}
		return
	}
	check(t, tab)
}

func TestDamagedFiles(t *testing.T) {
	tab := varied(t)
	whole := map[string][]byte{"t.parquet": parquetBytes(t, tab), "t.arrow": arrowBytes(t, tab), "s.arrow": streamBytes(t, tab)}
	r := rand.New(rand.NewPCG(1, 2))
	for name, data := range whole {
		for range 600 {
			damaged := append([]byte(nil), data...)
			switch r.IntN(4) {
			case 0:
				damaged = damaged[:r.IntN(len(damaged))]
			case 1: // the metadata at the end, where most lengths are
				for range 1 + r.IntN(3) {
					damaged[len(damaged)-1-r.IntN(min(len(damaged), 2000))] = byte(r.Uint32())
				}
			case 2:
				for range 1 + r.IntN(8) {
					damaged[r.IntN(len(damaged))] ^= 1 << r.IntN(8)
				}
			default: // a run of ones or zeros
				at := r.IntN(len(damaged))
				for i := range min(8, len(damaged)-at) {
					damaged[at+i] = [...]byte{0, 0x7f, 0xff}[r.IntN(3)]
				}
			}
			if len(damaged) > 0 {
				loadDamaged(t, name, damaged)
			}
		}
	}
}

// No truncation of a file passes for the whole.
func TestTruncatedFiles(t *testing.T) {
	tab := varied(t)
	for name, data := range map[string][]byte{"t.parquet": parquetBytes(t, tab), "t.arrow": arrowBytes(t, tab), "s.arrow": streamBytes(t, tab)} {
		for n := 1; n < len(data); n += 1 + n%37 {
			if _, err := ingest.Load(context.Background(), "t", ingest.Source{Path: name, Data: data[:n]}, ingest.Options{}); err == nil {
				// The end mark of a stream is two words; a reader may stop at the first zero.
				if name == "s.arrow" && n > len(data)-8 {
					continue
				}
				t.Errorf("%s: the first %d of %d bytes loaded", name, n, len(data))
			}
		}
	}
	for _, n := range []int{1, 100, len(testdata.Flights200k) / 2, len(testdata.Flights200k) - 1} {
		if _, err := ingest.Load(context.Background(), "t", ingest.Source{Path: "f.parquet", Data: testdata.Flights200k[:n]}, ingest.Options{}); err == nil {
			t.Errorf("the first %d bytes of the flights loaded", n)
		}
	}
}
