// Command evalcnf draws what the paper's EvalCNF (routine 4.3) does to records. It runs one query over real
// flights on the classic pipeline. It reads the depth and the stencil buffer back after each pass, and draws
// them side by side in one picture.
package main

import (
	"flag"
	"fmt"
	"os"

	"github.com/stencildb/stencildb/demos/draw"
	"github.com/stencildb/stencildb/demos/lesson"
	"github.com/stencildb/stencildb/table"
	"github.com/stencildb/stencildb/textures"
)

// The query: two clauses, each a disjunction of two comparisons.
const (
	clause1 = "delay < 0 OR distance > 2000"
	clause2 = "distance < 250 OR delay >= -10"
	query   = "SELECT COUNT(*) FROM flights WHERE (" + clause1 + ") AND (" + clause2 + ")"
	maxRows = panel * panel // a panel of the picture shows a texel as a pixel or more
)

const help = `Draws what the paper's EvalCNF does to records, pass by pass, into one PNG:
the depth and the stencil buffer as they are read back after each pass of
  ` + query + `
on the embedded table of US flights. The device is that of STENCILDB_DEVICE, or
the first there is; no display is needed.

usage: evalcnf [-o FILE] [-rows N]
`

func main() {
	out := flag.String("o", "evalcnf.png", "write the picture to `FILE`")
	rows := flag.Int("rows", maxRows, fmt.Sprintf("take the first `N` flights, 1 to %d", maxRows))
	flag.Usage = func() {
		fmt.Fprint(flag.CommandLine.Output(), help, "\n")
		flag.PrintDefaults()
	}
	flag.Parse()
	if flag.NArg() > 0 || *rows < 1 || *rows > maxRows {
		fmt.Fprintf(os.Stderr, "error: want no argument, and -rows from 1 to %d: see evalcnf -h\n", maxRows)
		os.Exit(2)
	}
	if err := picture(*out, *rows); err != nil {
		fmt.Fprintln(os.Stderr, "error:", err)
		os.Exit(1)
	}
}

// picture runs the query over the first flights and writes the picture.
func picture(path string, rows int) (err error) {
	t, err := lesson.Flights(rows)
	if err != nil {
		return err
	}
	f, err := evaluate(t)
	if err != nil {
		return err
	}
	img, err := f.sheet().Image()
	if err != nil {
		return err
	}
	return draw.WritePNG(path, img)
}

// evaluate runs the query and returns what to draw.
func evaluate(t *table.Table) (f *figure, err error) {
	f = &figure{shape: textures.ShapeOf(t.Rows())}
	err = lesson.On(t, lesson.Options{}, func(s *lesson.Stage) {
		steps, n := s.Query(query)
		f.steps, f.selected = steps, uint64(n.I)
		for i := range f.attributes {
			f.fields[i], f.attributes[i] = t.Fields[i].Name, s.Texels(textures.Attribute(t.Chunks[0], i))
		}
	})
	if err == nil && len(f.steps) != passes {
		err = fmt.Errorf("of %d flights all or none satisfy some comparison, which then needs no pass: take more", t.Rows())
	}
	return f, err
}
