package trace

import (
	"bytes"
	"compress/flate"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"sync"

	"github.com/stencildb/stencildb/textures"
)

// MaxSide is the largest number of cells on a side of a picture.
const MaxSide = 128

// grid is the picture of a chunk. Cell (x, y) is the block of Step x Step records at (x * Step, y * Step) of
// a rectangle. The rectangle has Width records to a line (see [textures.ViewOf]). Only the last line of cells
// may end early: cells are numbered line by line without gaps.
type grid struct {
	First int `json:"first"` // row of the table that is the chunk's first
	Rows  int `json:"rows"`
	Width int `json:"width"`
	Line  int `json:"line"` // texels of a line of the chunk's textures
	Step  int `json:"step"`
	Cols  int `json:"cols"` // of cells
	Lines int `json:"lines"`

	cells []int // the first record of each cell
}

func newGrid(first, rows int) *grid {
	sh := textures.ViewOf(rows)
	step := (max(sh.Width, sh.Height) + MaxSide - 1) / MaxSide
	g := &grid{First: first, Rows: rows, Width: sh.Width, Line: textures.ShapeOf(rows).Width, Step: step,
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

func (g *grid) cell(row int) int { return row/g.Width/g.Step*g.Cols + row%g.Width/g.Step }

// size is how many records a cell has.
func (g *grid) size(cell int) (n int) {
	first := g.cells[cell]
	wide := min(g.Step, g.Width-first%g.Width)
	for line := range g.Step {
		n += max(0, min(wide, g.Rows-first-line*g.Width))
	}
	return n
}

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

// at returns the numbers of the cells' first records.
func at[T any](g *grid, of []T) []T {
	out := make([]T, len(g.cells))
	for i, row := range g.cells {
		out[i] = of[row]
	}
	return out
}

// firsts is 1 where a cell's first record is in a set, else 0.
func firsts(g *grid, in []bool) []uint32 {
	out := make([]uint32, len(g.cells))
	for i, row := range g.cells {
		if in[row] {
			out[i] = 1
		}
	}
	return out
}

// Image is an array: numbers, of a picture one a cell, or texts. In JSON it is compressed:
// deflate, base64, of numbers little-endian, of texts a JSON array.
type Image struct {
	kind string // u8, u16, u32, f32, f64, text
	of   any
	raw  []byte
}

// MarshalJSON implements json.Marshaler.
func (m *Image) MarshalJSON() ([]byte, error) {
	var packed bytes.Buffer
	text := base64.NewEncoder(base64.StdEncoding, &packed)
	w := compressors.Get().(*flate.Writer)
	defer compressors.Put(w)
	w.Reset(text)
	_, err := w.Write(m.raw)
	if err = errors.Join(err, w.Close(), text.Close()); err != nil {
		return nil, err
	}
	return json.Marshal(struct {
		Type string `json:"type"`
		Data string `json:"data"`
	}{m.kind, packed.String()})
}

// compressors are kept: one takes 1 MiB, and a page has hundreds of images.
var compressors = sync.Pool{New: func() any {
	w, err := flate.NewWriter(nil, flate.BestCompression)
	if err != nil {
		panic(err) // of a level that there is not
	}
	return w
}}

// images keeps each image once, and the first error of keeping them.
type images struct {
	list []*Image
	at   map[[32]byte]int
	err  error
}

// kinds are the types of images.
var kinds = map[string]string{"[]string": "text", "[]uint8": "u8", "[]uint16": "u16", "[]uint32": "u32", "[]float32": "f32", "[]float64": "f64"}

// add keeps numbers or texts, of a type of kinds, and returns their place.
func (m *images) add(of any) int {
	kind := kinds[fmt.Sprintf("%T", of)]
	encode := func() ([]byte, error) { return binary.Append(nil, binary.LittleEndian, of) }
	if kind == "text" {
		encode = func() ([]byte, error) { return json.Marshal(of) }
	}
	raw, err := encode()
	key := sha256.Sum256(slices.Concat(raw, []byte(kind)))
	if i, ok := m.at[key]; ok {
		return i
	}
	m.err = errors.Join(m.err, err)
	m.list = append(m.list, &Image{kind, of, raw})
	m.at[key] = len(m.list) - 1
	return len(m.list) - 1
}

// narrow returns whole numbers in the narrowest type that holds them.
func narrow[T uint32 | uint64](v []T) any {
	switch top := slices.Max(append(v, 0)); {
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
