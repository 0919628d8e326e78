package trace

import (
	"bytes"
	"compress/flate"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"fmt"

	"github.com/stencildb/stencildb/textures"
)

// MaxSide is the largest number of cells on a side of a picture.
const MaxSide = 128

// grid is the picture of a chunk: cell (x, y) is the block of Step x Step records at
// (x * Step, y * Step) of a rectangle of Width records to a line. Only the last line
// of cells may end early: cells are numbered line by line without gaps.
type grid struct {
	First int `json:"first"` // row of the table that is the chunk's first
	Rows  int `json:"rows"`
	Width int `json:"width"`
	Step  int `json:"step"`
	Cols  int `json:"cols"` // of cells
	Lines int `json:"lines"`

	cells []int // the first record of each cell
}

func newGrid(first, rows int) *grid {
	sh := textures.ShapeOf(rows)
	step := (max(sh.Width, sh.Height) + MaxSide - 1) / MaxSide
	g := &grid{First: first, Rows: rows, Width: sh.Width, Step: step,
		Cols: (sh.Width + step - 1) / step, Lines: (sh.Height + step - 1) / step}
	for y := range g.Lines {
		for x := range g.Cols {
			if row := y*step*sh.Width + x*step; row < rows {
				g.cells = append(g.cells, row)
			}
		}
	}
	return g
}

// cell returns the cell of a record.
func (g *grid) cell(row int) int { return row/g.Width/g.Step*g.Cols + row%g.Width/g.Step }

// count returns how many records of each cell's block are in a set, and in all.
func (g *grid) count(in func(row int) bool) (each []uint32, total int) {
	each = make([]uint32, len(g.cells))
	for row := range g.Rows {
		if in(row) {
			each[g.cell(row)]++
			total++
		}
	}
	return each, total
}

// Image is an array, compressed: deflate, base64. A picture has a number a cell,
// little-endian; texts are a JSON array.
type Image struct {
	Type string `json:"type"` // u8, u16, u32, f32, f64, text
	Data string `json:"data"`
}

// images keeps each image once.
type images struct {
	list []*Image
	at   map[[32]byte]int
}

// add keeps numbers of the types above or texts, and returns their place.
func (m *images) add(of any) (int, error) {
	kind, ok := "", true
	var raw, packed bytes.Buffer
	switch v := of.(type) {
	case []string:
		kind = "text"
		if err := json.NewEncoder(&raw).Encode(v); err != nil {
			return 0, err
		}
	case []uint8:
		kind = "u8"
	case []uint16:
		kind = "u16"
	case []uint32:
		kind = "u32"
	case []float32:
		kind = "f32"
	case []float64:
		kind = "f64"
	default:
		ok = false
	}
	if !ok {
		return 0, fmt.Errorf("trace: no image of %T", of)
	}
	if kind != "text" {
		if err := binary.Write(&raw, binary.LittleEndian, of); err != nil {
			return 0, err
		}
	}
	key := sha256.Sum256(append(raw.Bytes(), kind...))
	if i, ok := m.at[key]; ok {
		return i, nil
	}
	w, err := flate.NewWriter(&packed, flate.BestCompression)
	if err != nil {
		return 0, err
	}
	if _, err := w.Write(raw.Bytes()); err != nil {
		return 0, err
	}
	if err := w.Close(); err != nil {
		return 0, err
	}
	m.list = append(m.list, &Image{kind, base64.StdEncoding.EncodeToString(packed.Bytes())})
	m.at[key] = len(m.list) - 1
	return len(m.list) - 1, nil
}

// narrow returns whole numbers in the narrowest type that holds them.
func narrow[T uint32 | uint64](v []T) any {
	top := T(0)
	for _, x := range v {
		top = max(top, x)
	}
	switch {
	case top < 1<<8:
		return convert[uint8](v)
	case top < 1<<16:
		return convert[uint16](v)
	case uint64(top) < 1<<32:
		return convert[uint32](v)
	}
	return convert[float64](v)
}

func convert[To uint8 | uint16 | uint32 | float64, T uint32 | uint64](v []T) []To {
	out := make([]To, len(v))
	for i, x := range v {
		out[i] = To(x)
	}
	return out
}
