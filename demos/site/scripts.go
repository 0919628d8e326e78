package main

import (
	_ "embed"
	"encoding/base64"
	"encoding/binary"
	"encoding/json"

	"github.com/stencildb/stencildb/demos"
	"github.com/stencildb/stencildb/demos/draw"
	"github.com/stencildb/stencildb/demos/lesson"
	"github.com/stencildb/stencildb/demos/lessons"
	"github.com/stencildb/stencildb/table"
	"github.com/stencildb/stencildb/textures"
)

//go:embed figures.js
var figures string

//go:embed exercises.js
var judging string

// sampled is how many flights the live figures have.
const sampled = 16384

// scripts returns the scripts of the pages: the flights, what figures share, each
// lesson's figure, and the exercises.
func scripts() (map[string]string, error) {
	t, err := lesson.Sample(sampled)
	if err != nil {
		return nil, err
	}
	data, err := flightsData(t)
	if err != nil {
		return nil, err
	}
	site := map[string]string{folder + "flights.js": data, folder + "colours.js": draw.JS, folder + "figures.js": figures, folder + "exercises.js": judging}
	for _, l := range lessons.All() {
		script, err := demos.Files.ReadFile(l.Name + "/figure.js")
		if err != nil {
			return nil, err
		}
		site[folder+l.Name+".js"] = string(script)
	}
	return site, nil
}

// flightsData writes a table of some flights as a script. It has the codes of a column in base64, as integers
// of 2 bytes or, beyond 16 bits, of 4, the lowest byte first.
func flightsData(t *table.Table) (string, error) {
	type column struct {
		Name  string `json:"name"`
		Min   int64  `json:"min"` // of an integer column
		Bits  int    `json:"bits"`
		Codes string `json:"codes"`
	}
	var columns []column
	for i, f := range t.Fields {
		s := t.Chunks[0].Segments[i]
		c := column{Name: f.Name, Bits: s.Bits}
		if f.Type.IsExact() {
			c.Min = table.IntFromOrdinal(s.Base)
		}
		var b []byte
		for r := range t.Rows() {
			if s.Bits > 16 {
				b = binary.LittleEndian.AppendUint32(b, uint32(s.Codes.At(r)))
			} else {
				b = binary.LittleEndian.AppendUint16(b, uint16(s.Codes.At(r)))
			}
		}
		c.Codes = base64.StdEncoding.EncodeToString(b)
		columns = append(columns, c)
	}
	all, err := lesson.Load()
	if err != nil {
		return "", err
	}
	text, err := json.Marshal(map[string]any{"rows": t.Rows(), "of": all.Rows(), "width": textures.ShapeOf(t.Rows()).Width, "columns": columns})
	return "'use strict';\n// Flights of testdata, for the live figures: the codes of each column.\nconst flightsData = " + string(text) + ";\n", err
}
