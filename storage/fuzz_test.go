package storage

import (
	"bytes"
	"fmt"
	"hash/crc32"
	"math/rand/v2"
	"testing"

	"github.com/stencildb/stencildb/table"
)

// commits are encoded, for fuzzers to begin with.
func commits() (list [][]byte) {
	r := rand.New(rand.NewPCG(3, 3))
	db := &database{tables: map[string]*table.Table{}}
	for range 40 {
		commit := db.random(r)
		text, err := encode(nil, nil, commit)
		if err != nil {
			panic(err)
		}
		if db.tables, err = apply(db.tables, commit); err != nil {
			panic(err)
		}
		list = append(list, text)
	}
	return list
}

// A record in parts, of which many are the codes of its segments, has the bytes of one whose codes are copied.
func TestRecordsInParts(t *testing.T) {
	defer func(n int) { farBytes = n }(farBytes)
	r, apart := rand.New(rand.NewPCG(5, 3)), 0
	db := &database{tables: map[string]*table.Table{}}
	for range 60 {
		commit := db.random(r)
		farBytes = 1 << r.IntN(8)
		parts, err := record(commit)
		if err != nil {
			t.Fatal(err)
		}
		whole, err := encode(nil, make([]byte, recordHead), commit)
		if err != nil || !bytes.Equal(bytes.Join(parts, nil), whole) {
			t.Fatalf("%d parts have other bytes: %v", len(parts), err)
		}
		apart += len(parts) - 1
		if db.tables, err = apply(db.tables, commit); err != nil {
			t.Fatal(err)
		}
	}
	if apart < 60 {
		t.Errorf("%d parts were apart", apart)
	}
}

// FuzzDecode sees that no bytes make the decoder of commits panic, and that what it takes it writes as the same.
func FuzzDecode(f *testing.F) {
	for _, text := range commits() {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		commit, err := decode(data, 1<<16)
		if err != nil {
			return
		}
		text, err := encode(nil, nil, commit)
		if err != nil {
			t.Fatal(err)
		}
		again, err := decode(text, 1<<16+len(data))
		if err != nil || len(again) != len(commit) {
			t.Fatal(err)
		}
	})
}

// FuzzManifest sees that no text makes the decoder of manifests panic.
func FuzzManifest(f *testing.F) {
	m := &manifest{Format: formatVersion, Log: 3, Next: 9, Before: []string{"log-2"}, Tables: []tableJSON{{toJSON(every("t")), []part{{"t-1" + partSuffix, 5, 100, 7}}}}}
	text, err := m.encode()
	if err != nil {
		f.Fatal(err)
	}
	f.Add(text[:bytes.IndexByte(text, '\n')])
	f.Fuzz(func(t *testing.T, line []byte) {
		body := append(bytes.Clone(line), '\n')
		m, err := decodeManifest(fmt.Appendf(body, "crc32c %08x\n", crc32.Checksum(body, castagnoli)))
		if err != nil {
			return
		}
		text, err := m.encode()
		if err != nil {
			t.Fatal(err)
		}
		again, err := decodeManifest(text)
		if err != nil || len(again.Tables) != len(m.Tables) {
			t.Fatalf("%v: %v, not %v", err, again, m)
		}
	})
}
