package storage

import (
	"bytes"
	"encoding/json"
	"fmt"
	"hash/crc32"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/stencildb/stencildb/table"
)

// formatVersion is that of docs/format.md. A folder of an earlier version, which lacks some things, is upgraded when it is
// opened for writing. A folder of a later version is refused.
const formatVersion = 4

// The names of files in a folder.
const (
	manifestName = "manifest"
	manifestNew  = "manifest.new" // until it is renamed
	lockName     = "lock"
	partSuffix   = ".sdb.parquet"
)

func logName(n uint64) string { return fmt.Sprintf("log-%d", n) }

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// manifest says what a folder holds: the tables as a checkpoint wrote them, and the first log of the commits since then.
type manifest struct {
	Format int         `json:"format"`
	Log    uint64      `json:"log"`  // the first; the next ones have the next numbers
	Next   uint64      `json:"next"` // the number of the next file of a table
	Tables []tableJSON `json:"tables"`
	// Before are files and logs of the manifest before this one, which readers may use yet.
	Before []string `json:"before,omitempty"`
}

type tableJSON struct {
	definitionJSON
	Files []part `json:"files,omitempty"`
}

// part is a Parquet file of a table: its rows lie behind those of the parts before it.
type part struct {
	Name  string `json:"name"`
	Rows  int    `json:"rows"`
	Bytes int64  `json:"bytes"`
	Sum   uint32 `json:"crc32c"`
}

type definitionJSON struct {
	Name    string       `json:"name"`
	Columns []columnJSON `json:"columns"`
	Checks  []checkJSON  `json:"checks,omitempty"`
	Keys    []keyJSON    `json:"keys,omitempty"`
	View    string       `json:"view,omitempty"`
	Comment string       `json:"comment,omitempty"`
}

type columnJSON struct {
	Name    string        `json:"name"`
	Type    string        `json:"type"`
	NotNull bool          `json:"not_null,omitempty"`
	Default string        `json:"default,omitempty"`
	Counter *sequenceJSON `json:"counter,omitempty"`
	Length  int           `json:"length,omitempty"`
	Padded  bool          `json:"padded,omitempty"`
	Comment string        `json:"comment,omitempty"`
}

type checkJSON struct {
	Name string `json:"name,omitempty"`
	SQL  string `json:"sql"`
}

type keyJSON struct {
	Name    string `json:"name,omitempty"`
	Columns []int  `json:"columns"`
	Primary bool   `json:"primary,omitempty"`
	Index   bool   `json:"index,omitempty"`
}

func toJSON(d *Definition) (j definitionJSON) {
	j.Name, j.View, j.Comment = d.Name, d.View, d.Comment
	for i, f := range d.Fields {
		c := d.Columns[i]
		j.Columns = append(j.Columns, columnJSON{f.Name, f.Type.String(), c.NotNull, c.Default, c.Sequence.toJSON(), c.Length, c.Padded, c.Comment})
	}
	for _, c := range d.Checks {
		j.Checks = append(j.Checks, checkJSON(c))
	}
	for _, k := range d.Keys {
		j.Keys = append(j.Keys, keyJSON(k))
	}
	return j
}

func (j definitionJSON) definition() (*Definition, error) {
	d := &Definition{Name: j.Name, View: j.View, Comment: j.Comment}
	for _, c := range j.Columns {
		t, err := typeNamed(c.Type)
		if err != nil {
			return nil, err
		}
		d.Fields = append(d.Fields, table.Field{Name: c.Name, Type: t})
		d.Columns = append(d.Columns, Column{c.NotNull, c.Default, c.Counter.sequence(), c.Length, c.Padded, c.Comment})
	}
	for _, c := range j.Checks {
		if !d.length(c) {
			d.Checks = append(d.Checks, Check(c))
		}
	}
	for _, k := range j.Keys {
		d.Keys = append(d.Keys, Key(k))
	}
	return d, d.check()
}

// length takes a check of format 2 that stands for the n of a VARCHAR(n).
func (d *Definition) length(c checkJSON) bool {
	condition, ok := strings.CutPrefix(c.SQL, "length(")
	name, most, is := strings.Cut(condition, ") <= ")
	n, err := strconv.Atoi(most)
	if !ok || !is || err != nil || n < 1 || !strings.HasSuffix(c.Name, "_length") {
		return false
	}
	for i, f := range d.Fields {
		if quoted := `"` + strings.ReplaceAll(f.Name, `"`, `""`) + `"`; f.Type.Kind == table.Varchar && (name == f.Name || name == quoted) {
			d.Columns[i].Length = n
			return true
		}
	}
	return false
}

// typeNamed is the inverse of [table.Type.String].
func typeNamed(name string) (t table.Type, err error) {
	if name == (table.Type{}).String() {
		return t, nil
	}
	if k, ok := table.KindNamed(name); ok {
		t.Kind = k
	} else if _, err := fmt.Sscanf(name, "numeric(%d,%d)", &t.Precision, &t.Scale); err == nil {
		t.Kind = table.Decimal
	}
	if t.Kind == table.Unknown || t.String() != name || t.Kind == table.Decimal && (t.Precision < 1 || t.Precision > 18 || t.Scale < 0 || t.Scale > t.Precision) {
		return t, fmt.Errorf("no column has the type %s", name)
	}
	return t, nil
}

// encode is the text of the manifest: a line of JSON, and one with its checksum.
func (m *manifest) encode() ([]byte, error) {
	text, err := json.Marshal(m)
	if err != nil {
		return nil, err
	}
	text = append(text, '\n')
	return fmt.Appendf(text, "crc32c %08x\n", crc32.Checksum(text, castagnoli)), nil
}

// decodeManifest reads what encode writes. Its errors do not name the file.
func decodeManifest(text []byte) (*manifest, error) {
	end := bytes.IndexByte(text, '\n') + 1
	body, last := text[:end], string(text[end:])
	if want := fmt.Sprintf("crc32c %08x\n", crc32.Checksum(body, castagnoli)); last != want {
		return nil, fmt.Errorf("its checksum is not that of its text: it is damaged")
	}
	var version struct{ Format int }
	if err := json.Unmarshal(body, &version); err != nil {
		return nil, fmt.Errorf("it is not the manifest of a database: %w", err)
	}
	if version.Format < 1 || version.Format > formatVersion {
		return nil, fmt.Errorf("it has format %d, and this program reads formats 1 to %d", version.Format, formatVersion)
	}
	m := &manifest{}
	if err := json.Unmarshal(body, m); err != nil {
		return nil, fmt.Errorf("it is not the manifest of a database: %w", err)
	}
	tables, names := map[string]bool{}, map[string]bool{}
	for _, t := range m.Tables {
		if _, err := t.definition(); err != nil || tables[t.Name] {
			return nil, fmt.Errorf("table %s is not defined well: %v", t.Name, err)
		}
		tables[t.Name] = true
		for _, p := range t.Files {
			if p.Rows <= 0 || p.Bytes <= 0 || p.Name != filepath.Base(p.Name) || !strings.HasSuffix(p.Name, partSuffix) || names[p.Name] {
				return nil, fmt.Errorf("table %s has no file %q of %d rows", t.Name, p.Name, p.Rows)
			}
			names[p.Name] = true
		}
	}
	return m, nil
}
