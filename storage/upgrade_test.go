package storage

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/stencildb/stencildb/table"
)

// inFormat makes a folder one of an earlier format. The manifest and the header of the log say so, and the folder has neither
// views nor counters.
func inFormat(t *testing.T, dir string, format int) {
	t.Helper()
	rewrite := func(name string, change func([]byte) []byte) {
		t.Helper()
		path := filepath.Join(dir, name)
		data, err := os.ReadFile(path)
		if err == nil {
			err = os.WriteFile(path, change(data), 0o666)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	var number uint64
	rewrite(manifestName, func(text []byte) []byte {
		m, err := decodeManifest(text)
		if err != nil {
			t.Fatal(err)
		}
		number = m.Log
		body := text[:bytes.IndexByte(text, '\n')+1]
		body = bytes.Replace(body, fmt.Appendf(nil, `"format":%d,`, formatVersion), fmt.Appendf(nil, `"format":%d,`, format), 1)
		return fmt.Appendf(slices.Clone(body), "crc32c %08x\n", crc32.Checksum(body, castagnoli))
	})
	rewrite(logName(number), func(data []byte) []byte {
		binary.LittleEndian.PutUint32(data[8:], uint32(format))
		binary.LittleEndian.PutUint32(data[20:], crc32.Checksum(data[:20], castagnoli))
		return data
	})
}

// formatOf is the format that a folder's manifest has.
func formatOf(t *testing.T, dir string) int {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(dir, manifestName))
	if err != nil {
		t.Fatal(err)
	}
	m, err := decodeManifest(text)
	if err != nil {
		t.Fatal(err)
	}
	return m.Format
}

// A folder of an earlier format has what it had, for who reads it as it is and for who makes it one of today's.
func TestFolderOfEarlierFormat(t *testing.T) {
	for format := 1; format < formatVersion; format++ {
		t.Run(fmt.Sprint(format), func(t *testing.T) { testEarlierFormat(t, format) })
	}
}

func testEarlierFormat(t *testing.T, format int) {
	dir := t.TempDir()
	db, err := openIn(dir)
	r := rand.New(rand.NewPCG(3, 1))
	if err == nil {
		err = db.commit(Change{Table: "t", Define: every("t")}, Change{Table: "empty", Define: every("empty")})
	}
	if err == nil {
		err = db.commit(Change{Table: "t", Append: []*table.Chunk{db.rows(r, db.tables["t"], 50)}})
	}
	if err == nil {
		err = db.checkpoint() // some rows are in a file, and
	}
	for _, c := range []func() Change{ // others in the log
		func() Change {
			return Change{Table: "t", Append: []*table.Chunk{db.rows(r, db.tables["t"], 7)}}
		},
		func() Change { return Change{Table: "t", Delete: []int{3, 52}} },
		func() Change { return Change{Table: "late", Define: numbers("late")} },
	} {
		if err == nil {
			err = db.commit(c())
		}
	}
	if err != nil {
		t.Fatal(err)
	}
	want := db.state()
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	inFormat(t, dir, format)

	if found, err := Verify(ctx, dir); err != nil || len(found.Problems) > 0 || found.Rows != 55 || found.Tables != 3 || found.Files != 1 || found.Records != 3 {
		t.Fatalf("%+v, %v", found, err)
	}
	_, held, err := folder(dir).lock() // so that who opens it only reads
	if err != nil {
		t.Fatal(err)
	}
	reader, err := openIn(dir)
	if err != nil || reader.ReadOnly() == "" || reader.state() != want {
		t.Fatalf("read as it is: %v\n%s\nwant\n%s", err, reader.state(), want)
	}
	if err := reader.Close(); err != nil || formatOf(t, dir) != format {
		t.Fatalf("%v; who reads a folder leaves it in format %d, and it has %d", err, format, formatOf(t, dir))
	}
	held.unlock()

	for _, which := range []string{"made one of today's", "opened again"} {
		db, err := openIn(dir)
		if err != nil || db.state() != want || formatOf(t, dir) != formatVersion {
			t.Fatalf("%s: %v, format %d\n%s\nwant\n%s", which, err, formatOf(t, dir), db.state(), want)
		}
		err = db.commit(Change{Table: "v", Define: &Definition{Name: "v", View: "SELECT 1 AS a", Fields: []table.Field{{Name: "a"}}, Columns: make([]Column, 1)}}, Change{Table: "v", Drop: true})
		if err == nil {
			err = db.Close()
		}
		if err != nil {
			t.Fatal(err)
		}
		if found, err := Verify(ctx, dir); err != nil || len(found.Problems) > 0 || found.Rows != 55 {
			t.Fatalf("%s: %+v, %v", which, found, err)
		}
	}
}

// What format 2 had as a check is the length of a VARCHAR(n).
func TestLengthOfFormat2(t *testing.T) {
	j := definitionJSON{Name: "t", Columns: []columnJSON{{Name: "a", Type: "character varying"}, {Name: `B "`, Type: "character varying"}, {Name: "c", Type: "character varying", Length: 4}}, Checks: []checkJSON{
		{"t_a_length", "length(a) <= 3"}, {"old_length", `length("B """) <= 12`}, {"t_c_check", "length(c) <= 2"}, {"n_length", "length(none) <= 3"}}}
	d, err := j.definition()
	if err != nil || d.Columns[0].Length != 3 || d.Columns[1].Length != 12 || d.Columns[2].Length != 4 || len(d.Checks) != 2 {
		t.Fatalf("%+v, %v", d, err)
	}
	if again, err := toJSON(d).definition(); err != nil || again.Columns[1] != d.Columns[1] || len(again.Checks) != 2 {
		t.Fatalf("%+v, %v", again, err)
	}
}
