package ingest_test

import (
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/klauspost/compress/zstd"

	"github.com/stencildb/stencildb/ingest"
	"github.com/stencildb/stencildb/table"
)

func TestParseLoad(t *testing.T) {
	big, text := table.Type{Kind: table.BigInt}, table.Type{Kind: table.Varchar}
	for _, c := range []struct {
		spec string
		name string
		want ingest.Source
	}{
		{"t=a.csv", "t", ingest.Source{Path: "a.csv"}},
		{"t=dir/a=b.csv", "t", ingest.Source{Path: "dir/a=b.csv"}},
		{"dir/flights.csv.gz", "flights", ingest.Source{Path: "dir/flights.csv.gz"}},
		{"t=a.csv?header=false", "t", ingest.Source{Path: "a.csv", Header: ingest.HeaderNone}},
		{"t=a.csv?header=true", "t", ingest.Source{Path: "a.csv", Header: ingest.HeaderThere}},
		{"t=a.csv?delim=;", "t", ingest.Source{Path: "a.csv", Delim: ';'}},
		{"t=a.csv?delim=;&null=NA", "t", ingest.Source{Path: "a.csv", Delim: ';', Nulls: []string{"NA"}}},
		{"t=a.csv?delim=%26", "t", ingest.Source{Path: "a.csv", Delim: '&'}},
		{"t=a.csv?delim=%09", "t", ingest.Source{Path: "a.csv", Delim: '\t'}},
		{`t=a.csv?delim=\t`, "t", ingest.Source{Path: "a.csv", Delim: '\t'}},
		{"t=a.csv?delim=?", "t", ingest.Source{Path: "a.csv", Delim: '?'}},
		{"t=a.csv?null=NA&null=-&null=a+b%20c", "t", ingest.Source{Path: "a.csv", Nulls: []string{"NA", "-", "a+b c"}}},
		{"t=a.csv?header=false&delim=;&null=NA&types=a:bigint,b:text", "t", ingest.Source{Path: "a.csv", Header: ingest.HeaderNone, Delim: ';', Nulls: []string{"NA"},
			Types: []ingest.ColumnType{{Name: "a", Type: big}, {Name: "b", Type: text}}}},
		{"t=a.csv?types=x:numeric(10,2),y:Decimal(5),z:DOUBLE%20PRECISION,a%2Cb:date,c:d:int", "t", ingest.Source{Path: "a.csv", Types: []ingest.ColumnType{
			{Name: "x", Type: table.Type{Kind: table.Decimal, Precision: 10, Scale: 2}},
			{Name: "y", Type: table.Type{Kind: table.Decimal, Precision: 5}},
			{Name: "z", Type: table.Type{Kind: table.Double}},
			{Name: "a,b", Type: table.Type{Kind: table.Date}},
			{Name: "c:d", Type: table.Type{Kind: table.Integer}},
		}}},
	} {
		name, got, err := ingest.ParseLoad(c.spec)
		if err != nil {
			t.Errorf("%s: %v", c.spec, err)
		} else if d := cmp.Diff(c.want, got); d != "" || name != c.name {
			t.Errorf("%s: named %s, %s", c.spec, name, d)
		}
	}
	for spec, want := range map[string]string{
		"":                              `load "": want NAME=PATH[?option&option...]`,
		"=a.csv":                        `load "=a.csv": want NAME=PATH[?option&option...]`,
		"t=":                            `load "t=": want NAME=PATH[?option&option...]`,
		"t=a.csv?header":                `load t: option "header": want header=, delim=, null=, types=, strict= or encoding=`,
		"in/day-?.csv":                  `load day-: option ".csv": want header=, delim=, null=, types=, strict= or encoding=; a ? begins options, and in a pattern of files there are * and [...] alone`,
		"t=a.csv?header=perhaps":        `load t: option header: "perhaps" is neither true nor false`,
		"t=a.csv?delim=":                `load t: option delim: "" is not one ASCII character other than a quote or a line break`,
		"t=a.csv?delim=ab":              `load t: option delim: "ab" is not one ASCII character other than a quote or a line break`,
		"t=a.csv?delim=é":               `load t: option delim: "é" is not one ASCII character other than a quote or a line break`,
		"t=a.csv?delim=%22":             `load t: option delim: "\"" is not one ASCII character other than a quote or a line break`,
		"t=a.csv?quote='":               `load t: unknown option "quote": there are header, delim, null, types, strict and encoding`,
		"t=a.csv?null=5%":               `load t: option null: "5%" is not %XX escaped (write %25 for a percent sign)`,
		"t=a.csv?types=a":               `load t: option types: "a": want COLUMN:TYPE`,
		"t=a.csv?types=a:int,a:text":    `load t: option types: column a has two types: give one`,
		"t=a.csv?types=a:uuid":          `load t: option types: column a: unknown type "uuid": want bigint, int, smallint, double, real, numeric(p,s), boolean, date, timestamp or text`,
		"t=a.csv?types=a:numeric":       `load t: option types: column a: numeric needs its digits: numeric(p,s)`,
		"t=a.csv?types=a:numeric(19,2)": `load t: option types: column a: numeric(19,2): want numeric(p,s) with 1 <= p <= 18 and 0 <= s <= p`,
		"t=a.csv?types=a:numeric(2,3)":  `load t: option types: column a: numeric(2,3): want numeric(p,s) with 1 <= p <= 18 and 0 <= s <= p`,
		"t=a.csv?types=a:numeric(2":     `load t: option types: column a: numeric(2: want numeric(p,s) with 1 <= p <= 18 and 0 <= s <= p`,
	} {
		if _, _, err := ingest.ParseLoad(spec); err == nil || err.Error() != want {
			t.Errorf("%s: got  %v\nwant %s", spec, err, want)
		}
	}
}

func write(t *testing.T, name string, data []byte) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, data, 0o644); err != nil {
		t.Fatal(err)
	}
	return path
}

func gz(t *testing.T, data []byte) []byte {
	t.Helper()
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	if _, err := z.Write(data); err != nil {
		t.Fatal(err)
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func zst(t *testing.T, data []byte) []byte {
	t.Helper()
	z, err := zstd.NewWriter(nil)
	if err != nil {
		t.Fatal(err)
	}
	return z.EncodeAll(data, nil)
}

func small(t *testing.T) *table.Table {
	t.Helper()
	return mustLoad(t, "a,b\n1,x\n2,\n,\"\"\n", ingest.Source{})
}

func encode(t tb, tab *table.Table, write func(w *bytes.Buffer, tab *table.Table) error) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := write(&b, tab); err != nil {
		t.Fatalf("%v", err)
	}
	return b.Bytes()
}

func parquetBytes(t tb, tab *table.Table) []byte {
	return encode(t, tab, func(w *bytes.Buffer, tab *table.Table) error { return ingest.WriteParquet(w, tab) })
}

func arrowBytes(t tb, tab *table.Table) []byte {
	return encode(t, tab, func(w *bytes.Buffer, tab *table.Table) error { return ingest.WriteArrow(w, tab) })
}

func TestFormatsByExtensionAndContent(t *testing.T) {
	want := small(t)
	csv := []byte("a,b\n1,x\n2,\n,\"\"\n")
	tsv := bytes.ReplaceAll(csv, []byte(","), []byte("\t"))
	pq, ar, st := parquetBytes(t, want), arrowBytes(t, want), streamBytes(t, want)
	for name, data := range map[string][]byte{
		"t.csv": csv, "t.CSV": csv, "t.csv.gz": gz(t, csv), "t.csv.zst": zst(t, csv),
		"t.tsv": tsv, "t.tsv.gz": gz(t, tsv),
		"t.parquet": pq, "t.arrow": ar, "t.feather": ar, "t.ipc": st,
		"t.arrow.gz": gz(t, ar), "t.arrow.zst": zst(t, ar), "u.arrow.gz": gz(t, st),
		"t": csv, "t.dat": pq, "u.dat": ar, "v.dat": st, "w.dat": gz(t, csv), "x.dat": zst(t, csv), "y.gz": gz(t, csv),
	} {
		t.Run(name, func(t *testing.T) {
			got, err := ingest.Load(context.Background(), "t", ingest.Source{Path: write(t, name, data)}, ingest.Options{})
			if err != nil {
				t.Fatal(err)
			}
			check(t, got)
			equal(t, got, want)
		})
	}
}

func TestLoadErrors(t *testing.T) {
	dir := t.TempDir()
	load := func(s ingest.Source) error {
		tab, err := ingest.Load(context.Background(), "t", s, ingest.Options{})
		if err == nil || tab != nil {
			t.Errorf("%s loaded", s.Path)
			return os.ErrInvalid
		}
		oneLine(t, err)
		return err
	}
	missing := filepath.Join(dir, "none.csv")
	csv := write(t, "t.csv", []byte("a\n1\n"))
	pq := write(t, "t.parquet", parquetBytes(t, small(t)))
	empty := write(t, "e.parquet", nil)
	for _, c := range []struct {
		s    ingest.Source
		want string
	}{
		{ingest.Source{Path: missing}, missing + ": no such file"},
		{ingest.Source{Path: dir}, dir + " is a directory: name a file"},
		{ingest.Source{Path: filepath.Join(csv, "x")}, filepath.Join(csv, "x") + ": not a directory"},
		{ingest.Source{Path: empty}, empty + " is empty: not even the first bytes of a Parquet file"},
		{ingest.Source{Path: empty, Format: ingest.Arrow}, empty + " is empty: not even the first bytes of an Arrow file"},
		{ingest.Source{Path: empty, Format: ingest.JSON}, empty + " is empty: not even an object, whose members would be the columns"},
		{ingest.Source{Path: empty, Format: ingest.TSV}, empty + " is empty: not even a header"},
		{ingest.Source{Path: pq, Header: ingest.HeaderNone}, pq + ": header, delim, null, types, strict and encoding are for CSV; a parquet file says these itself"},
		{ingest.Source{Path: csv, Format: "xls"}, csv + `: header, delim, null, types, strict and encoding are for CSV; a xls file says these itself`},
		{ingest.Source{Path: csv, Delim: '"'}, csv + `: delimiter '"' is not one ASCII character other than a quote or a line break`},
	} {
		if c.s.Format == "xls" {
			c.want = csv + `: unknown format "xls": want csv, tsv, json, parquet or arrow`
		}
		if err := load(c.s); err.Error() != c.want {
			t.Errorf("got  %v\nwant %s", err, c.want)
		}
	}
	for _, c := range []struct {
		name string
		data []byte
		want string
	}{
		{"t.csv.gz", gz(t, []byte("a\n1\n"))[:15], "the gzip data ends too early: the file is truncated"},
		{"t.csv.gz", []byte("a\n1\n2\n3\n4\n5\n"), "not valid gzip data"},
		{"t.csv.zst", zst(t, []byte("a\n1\n"))[:8], "the zstd data ends too early: the file is truncated"},
		{"t.csv.zst", []byte("a\n1\n"), "not valid zstd data"},
		{"t.csv.gz", gz(t, nil), "empty: not even a header"},
		{"t.parquet.gz", gz(t, nil), "a Parquet file is compressed inside: unpack the .gz first"},
		{"t.parquet", []byte("PAR1"), "not a complete Parquet file"},
		{"t.parquet", []byte("a,b\n1,2\n3,4\n"), "it is text, as of CSV, and no parquet file"},
		{"t.parquet", parquetBytes(t, small(t))[:200], "not a complete Parquet file"},
		{"t.arrow", []byte("ARROW1\x00\x00"), "not a complete Arrow file"},
		{"t.arrow", []byte("a,b\n1,2\n"), "it is text, as of CSV, and no arrow file"},
		{"t.parquet", []byte("PAR1abcdefghPARE"), "the Parquet file is encrypted, which is not supported: write it without"},
		{"t.csv", parquetBytes(t, small(t)), "by its first bytes it is of the format parquet, and no csv file; FROM read_parquet('"},
		{"t.arrow", parquetBytes(t, small(t)), "by its first bytes it is of the format parquet, and no arrow file; FROM read_parquet('"},
		{"t.parquet", []byte("ARROW1\x00\x00"), "by its first bytes it is of the format arrow, and no parquet file; FROM read_arrow('"},
		{"t.feather", []byte("FEA1...."), "version 1 of Feather is not supported: write it again as version 2"},
	} {
		path := write(t, c.name, c.data)
		if err := load(ingest.Source{Path: path}); !strings.HasPrefix(err.Error(), path+": "+c.want) {
			t.Errorf("got  %v\nwant %s: %s...", err, path, c.want)
		}
	}
}

// A file that may not be read is an error that says so, unless the tests run as
// root, who may read anything.
func TestLoadWithoutPermission(t *testing.T) {
	path := write(t, "t.csv", []byte("a\n1\n"))
	if err := os.Chmod(path, 0); err != nil {
		t.Fatal(err)
	}
	_, err := ingest.Load(context.Background(), "t", ingest.Source{Path: path}, ingest.Options{})
	if want := path + ": permission denied"; os.Geteuid() != 0 && (err == nil || err.Error() != want) {
		t.Errorf("got %v, want %s", err, want)
	}
}

// kept is a temporary file that counts those that are open.
type kept struct {
	*os.File
	open *int
}

func (k kept) Close() error {
	*k.open--
	return k.File.Close()
}

// What can be read once only, as what comes through a pipe, is kept. It is kept in memory, or in a temporary file where it takes more
// than a sixteenth of the limit.
func TestLoadFromPipe(t *testing.T) {
	var text strings.Builder
	text.WriteString("a,b\n")
	for i := range uint64(20_000) {
		fmt.Fprintf(&text, "%d,%d\n", i*0x9e3779b97f4a7c15>>2, i%7)
	}
	want := mustLoad(t, text.String(), ingest.Source{})
	for _, name := range []string{"a.csv", "a.csv.gz", "a.parquet", "a.arrow", "a.arrow.zst", "a.arrows"} {
		path := filepath.Join(t.TempDir(), name)
		err := ingest.WriteFile(context.Background(), path, want)
		data, err2 := os.ReadFile(path)
		if err = errors.Join(err, err2, os.Remove(path), syscall.Mkfifo(path, 0o600)); err != nil {
			t.Fatal(err)
		}
		for _, limit := range []int64{0, 1 << 25, 1 << 20} {
			go func() { _ = os.WriteFile(path, data, 0o600) }()
			open, made := 0, 0
			o := ingest.Options{MemoryLimit: limit, Temporary: func() (ingest.Temporary, error) {
				f, err := os.Create(filepath.Join(t.TempDir(), "kept"))
				open, made = open+1, made+1
				return kept{f, &open}, err
			}}
			got, err := ingest.Load(context.Background(), "t", ingest.Source{Path: path}, o)
			if err != nil {
				t.Fatalf("%s, at most %d bytes: %v", name, limit, err)
			}
			equal(t, got, want)
			if open != 0 || (made > 0) != (limit == 1<<20) {
				t.Errorf("%s, at most %d bytes: %d files are made, and %d open", name, limit, made, open)
			}
		}
	}
}

func TestWriteFile(t *testing.T) {
	want := small(t)
	dir := t.TempDir()
	for _, name := range []string{"a.csv", "a.tsv", "a.csv.gz", "a.csv.zst", "a.parquet", "a.arrow", "a.feather", "a.arrow.zst", "a.arrows"} {
		path := filepath.Join(dir, name)
		if err := ingest.WriteFile(context.Background(), path, want); err != nil {
			t.Fatal(err)
		}
		got, err := ingest.Load(context.Background(), "t", ingest.Source{Path: path}, ingest.Options{})
		if err != nil {
			t.Fatal(err)
		}
		equal(t, got, want)
	}
	for _, name := range []string{"a.xls", "a", "a.parquet.gz", "none/a.csv"} {
		if err := ingest.WriteFile(context.Background(), filepath.Join(dir, name), want); err == nil {
			t.Errorf("%s was written", name)
		}
	}
	// A failed write leaves nothing behind.
	far := table.NewBuilder("t", []table.Field{{Name: "d", Type: table.Type{Kind: table.Date}}}, 0)
	far.Column(0).Int(1 << 40)
	if err := far.EndRow(); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(dir, "far.parquet")
	if err := ingest.WriteFile(context.Background(), path, far.Table()); err == nil || !strings.Contains(err.Error(), "does not fit the format's 32 bits") {
		t.Errorf("got %v", err)
	}
	left, err := os.ReadDir(dir)
	if err != nil || len(left) != 9 {
		t.Errorf("%d files left, %v", len(left), err)
	}
	bad := &table.Table{Fields: []table.Field{{Name: "l", Unsupported: "a nested type"}}}
	if err := ingest.WriteFile(context.Background(), filepath.Join(dir, "b.csv"), bad); err == nil || !strings.HasSuffix(err.Error(), "column l cannot be written: a nested type") {
		t.Errorf("got %v", err)
	}
}

// Each format stops at a write, and the half-written file goes.
func TestWriteFileStopsWhenItsContextEnds(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	dir := t.TempDir()
	for _, name := range []string{"a.csv", "a.tsv.gz", "a.csv.zst", "a.parquet", "a.arrow"} {
		if err := ingest.WriteFile(ctx, filepath.Join(dir, name), small(t)); !errors.Is(err, context.Canceled) {
			t.Errorf("%s: got %v", name, err)
		}
	}
	if left, err := os.ReadDir(dir); err != nil || len(left) != 0 {
		t.Errorf("%d files left, %v", len(left), err)
	}
}

// What a file is taken for is said where its name does not say it.
func TestNotes(t *testing.T) {
	type notes = []string
	dates := "d,v\n2020-01-01,a\n2020-02-30,2020-01-01\n2020-03-01,b\n"
	for _, c := range []struct {
		name string
		s    ingest.Source
		data []byte
		want notes
	}{
		{"t.dat", ingest.Source{}, parquetBytes(t, small(t)), notes{"t.dat: the extension names no format: read as parquet"}},
		{"t", ingest.Source{}, streamBytes(t, small(t)), notes{"t: the extension names no format: read as arrow"}},
		{"t.dat", ingest.Source{}, gz(t, []byte("a\n1\n")), notes{"t.dat: the extension names no format: read as csv gz"}},
		{"t.txt", ingest.Source{}, []byte("a\n1\n"), notes{"t.txt: the extension names no format: read as csv"}},
		{"t.csv", ingest.Source{}, gz(t, []byte("a\n1\n")), notes{"t.csv: packed as .gz, which its name does not say"}},
		{"t.csv", ingest.Source{}, []byte("PAR1\n1\n"), nil},
		{"t.txt", ingest.Source{Format: ingest.CSV}, []byte("a\n1\n"), nil},
		{"t.csv", ingest.Source{}, []byte(dates), notes{`t.csv: line 3, column 1 (d): "2020-02-30" is no date, so the column is text; ?types=d:date behind the path makes it an error, ?types=d:text ends this note`}},
		{"t.csv", ingest.Source{}, []byte("d\n2020-01-01 00:00\n2020-01-01\ntrue\n"), notes{`t.csv: line 4, column 1 (d): "true" is no timestamp, so the column is text; ?types=d:timestamp behind the path makes it an error, ?types=d:text ends this note`}},
		{"t.csv", ingest.Source{Types: []ingest.ColumnType{{Name: "d", Type: typeOf(t, "text")}}}, []byte(dates), nil},
		{"t.csv", ingest.Source{}, []byte("d\n2020-01-01\n2020-01-02\n"), nil},
		{"t.csv", ingest.Source{}, []byte("d\nx\n2020-01-02\n"), nil},
	} {
		var got notes
		c.s.Path, c.s.Data = c.name, c.data
		if _, err := ingest.Load(context.Background(), "t", c.s, ingest.Options{Note: func(text string) { got = append(got, text) }}); err != nil {
			t.Fatal(err)
		}
		if !slices.Equal(got, c.want) {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
	}
}
