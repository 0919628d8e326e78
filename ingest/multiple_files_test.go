package ingest_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/stencildb/stencildb/generate"
	"github.com/stencildb/stencildb/ingest"
	"github.com/stencildb/stencildb/ingest/source"
)

// Several files are one table of their rows, whatever their format and compression, as one
// file of all rows is.
func TestSeveralFilesAreOneTable(t *testing.T) {
	dir := t.TempDir()
	rapid.Check(t, func(t *rapid.T) {
		dir, err := os.MkdirTemp(dir, "")
		if err != nil {
			t.Fatal(err)
		}
		cell := rapid.SampledFrom([]string{"", "1", "-7", "300", `"a,""b"`, "2.5", "x", "NA"})
		line := rapid.SliceOfN(cell, 2, 2)
		header, all := "k,v\n", "k,v\n"
		format := rapid.SampledFrom([]string{"csv", "parquet", "arrow"}).Draw(t, "format")
		types := []ingest.ColumnType(nil)
		if format != "csv" { // whose files agree about the types
			typ, _ := source.ParseType("text")
			types = []ingest.ColumnType{{Name: "k", Type: typ}, {Name: "v", Type: typ}}
		}
		for i, rows := range rapid.SliceOfN(rapid.SliceOfN(line, 1, 12), 1, 4).Draw(t, "files") {
			text := ""
			for _, row := range rows {
				text += fmt.Sprintf("%s,%s\n", row[0], row[1])
			}
			all += text
			path := filepath.Join(dir, fmt.Sprintf("part-%d.%s", i, format))
			if format == "csv" {
				err = os.WriteFile(path, []byte(header+text), 0o600)
			} else {
				err = ingest.WriteFile(context.Background(), path, mustLoad(t, header+text, ingest.Source{Types: types, Header: ingest.HeaderThere}))
			}
			if err != nil {
				t.Fatal(err)
			}
		}
		s, o := ingest.Source{Header: ingest.HeaderThere, Types: types}, ingest.Options{ChunkRows: 7}
		want, wanted := loadText(all, s, o)
		if s.Path = filepath.Join(dir, "part-*."+format); format != "csv" {
			s = ingest.Source{Path: s.Path}
		}
		got, err := ingest.Load(context.Background(), "t", s, o)
		if (err == nil) != (wanted == nil) {
			t.Fatalf("%v, want %v", err, wanted)
		}
		if err == nil {
			check(t, got)
			equal(t, got, want)
		}
	})
}

func TestSeveralFilesThatDoNotFit(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string) {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	parquet := func(name, text string) {
		if err := ingest.WriteFile(context.Background(), filepath.Join(dir, name), mustLoad(t, text, ingest.Source{})); err != nil {
			t.Fatal(err)
		}
	}
	write("a1.csv", "k,v\n1,2\n")
	write("a2.csv", "k,w\n1,2\n")
	write("b1.csv", "k,v\n1,2\n")
	write("b2.csv", "k,v\n1,2\nx,3\n")
	write("c1.csv", "k,v\n1,2\n")
	write("c2.csv", "k,v\n1\n")
	write("d1.csv", "1,2\n3,4\n")
	write("d2.csv", "5,6\n")
	write("e1.csv", "k,v\n1,2\n")
	parquet("e2.parquet", "k,v\n1,2\n")
	parquet("f1.parquet", "k,v\n1,2\n")
	parquet("f2.parquet", "k,w\n1,2\n")
	parquet("g1.parquet", "k,v\n1,2\n")
	parquet("g2.parquet", "k,v\n1,a\n")
	parquet("h1.parquet", "k\n1\n")
	parquet("h2.parquet", "v,k\n7,1\n")
	parquet("i1.parquet", "v,k\n7,1\n")
	parquet("i2.parquet", "k,v\n1,8\n")
	for pattern, want := range map[string]string{
		"a*":       "a*: DIR/a2.csv: line 1, column 2: the header is another one than that of DIR/a1.csv; load it under a name of its own",
		"b[12].*":  `b[12].*: DIR/b2.csv: line 3, column 1 (k): "x" is not a number, but line 2 of DIR/b1.csv has "1"; write ?types=k:text behind the path`,
		"c*":       "c*: DIR/c2.csv: line 2: 1 field where line 1 has 2; complete the line, or take it out; or, if \",\" is not what parts the fields, write ?delim=C behind the path",
		"d*":       "3 rows",
		"e*":       "e*: some of the files are text and some are not",
		"f*":       "f2.parquet has no column v, which DIR/f1.parquet has",
		"g*":       "column v is character varying in DIR/g2.parquet and bigint in DIR/g1.parquet: name the files one by one",
		"h*":       "h1.parquet has no column v, which DIR/h2.parquet has",
		"i*":       "2 rows",
		"none-*":   "none-*: no such file",
		"[x":       "[x: not a pattern for files: a [ has no ]",
		"a1.csv/*": "a1.csv/*: not a directory",
	} {
		got, source := "", ingest.Source{Path: filepath.Join(dir, pattern)}
		tab, err := ingest.Load(context.Background(), "t", source, ingest.Options{Strict: true})
		if err != nil {
			got = err.Error()
		} else {
			got = fmt.Sprintf("%d rows", tab.Rows())
		}
		if got = strings.TrimPrefix(got, dir+"/"); strings.ReplaceAll(got, dir, "DIR") != want {
			t.Errorf("%s: %s, want %s", pattern, strings.ReplaceAll(got, dir, "DIR"), want)
		}
	}
	// The header is looked at where no column is asked for, too.
	if _, err := ingest.Open(context.Background(), "t", ingest.Source{Path: filepath.Join(dir, "a*")}, ingest.Options{}); err == nil || !strings.Contains(err.Error(), "the header is another one") {
		t.Errorf("opened: %v", err)
	}
	if list, err := ingest.Files(filepath.Join(dir, "i*")); err != nil || !slices.IsSorted(list) || len(list) != 2 {
		t.Errorf("the files are %v: %v", list, err)
	}
}

// Several files that are read as a whole, as compressed Arrow is, have the rows of all.
func TestSeveralCompressedArrowFiles(t *testing.T) {
	g, err := generate.Find("uniform")
	if err != nil {
		t.Fatal(err)
	}
	one, err := g.Generate(context.Background(), 1000, 7, 300, "n")
	if err != nil {
		t.Fatal(err)
	}
	for _, packed := range []int{1, 2} { // of two files
		folder := t.TempDir()
		for i := range 2 {
			data, name := arrowBytes(t, one), fmt.Sprintf("day-%d.arrow", i)
			if i < packed {
				data, name = gz(t, data), name+".gz"
			}
			if err := os.WriteFile(filepath.Join(folder, name), data, 0o600); err != nil {
				t.Fatal(err)
			}
		}
		whole := 0
		o := ingest.Options{ChunkRows: 700, Whole: func() { whole++ }}
		told := announced(t, &o)
		got, err := ingest.Load(context.Background(), "t", ingest.Source{Path: filepath.Join(folder, "day-*")}, o)
		if err != nil {
			t.Fatal(err)
		}
		check(t, got)
		told(got, true)
		if got.Rows() != 2*one.Rows() {
			t.Errorf("%d of two files are compressed: %d rows, want %d", packed, got.Rows(), 2*one.Rows())
		}
		if whole != packed {
			t.Errorf("%d of two files are compressed: it is told of %d that they are read as a whole", packed, whole)
		}
	}
}

// What can be read once only is let go of once all of its columns have been read; until then they can be.
func TestWhatIsReadOnceIsLetGo(t *testing.T) {
	ctx := context.Background()
	for _, s := range []ingest.Source{{Path: "t.csv", Data: []byte("a,b\n1,x\n2,y\n")}, {Path: "t.csv.gz", Data: gz(t, []byte("a,b\n1,x\n2,y\n"))}} {
		f, err := ingest.Open(ctx, "t", s, ingest.Options{})
		if err != nil {
			t.Fatal(err)
		}
		for _, columns := range [][]int{nil, {1}, {0}} {
			tab, err := f.Read(ctx, columns, ingest.Options{})
			if err != nil {
				t.Fatal(err)
			}
			if all := tab.Has([]int{0, 1}); all != (columns != nil) {
				t.Errorf("%s: after reading columns %v all are there: %v", s.Path, columns, all)
			}
		}
		if n := ingest.Held(f); n != 0 {
			t.Errorf("%s: %d bytes of the source are kept", s.Path, n)
		}
	}
}
