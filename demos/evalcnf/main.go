// Command evalcnf draws what the paper's EvalCNF (routine 4.3) does to records: it
// runs one query over real flights on the classic pipeline, reads the depth and the
// stencil buffer back after each pass, and draws them side by side in one picture.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"image/png"
	"os"
	"slices"

	"github.com/stencildb/stencildb/aggregates"
	"github.com/stencildb/stencildb/glctx"
	"github.com/stencildb/stencildb/ingest"
	"github.com/stencildb/stencildb/pass"
	"github.com/stencildb/stencildb/plan"
	"github.com/stencildb/stencildb/predicates"
	"github.com/stencildb/stencildb/sql"
	"github.com/stencildb/stencildb/table"
	"github.com/stencildb/stencildb/testdata"
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
	if err := draw(*out, *rows); err != nil {
		fmt.Fprintln(os.Stderr, "error:", err)
		os.Exit(1)
	}
}

// draw runs the query over the first flights and writes the picture.
func draw(path string, rows int) (err error) {
	t, err := flights(rows)
	if err != nil {
		return err
	}
	f, err := evaluate(t)
	if err != nil {
		return err
	}
	img, err := f.draw()
	if err != nil {
		return err
	}
	w, err := os.Create(path)
	if err != nil {
		return err
	}
	return errors.Join((&png.Encoder{CompressionLevel: png.BestCompression}).Encode(w, img), w.Close())
}

// flights returns the first rows of the embedded flights in an order that makes
// regions visible: sorted by delay and cut into lines of the texture, each line
// sorted by distance. So delay grows downwards, distance to the right.
func flights(rows int) (*table.Table, error) {
	all, err := ingest.LoadBytes(context.Background(), ingest.Source{Name: "flights", Path: "flights.parquet"}, testdata.Flights200k, ingest.Options{})
	if err != nil {
		return nil, err
	}
	type flight struct{ delay, distance int64 }
	list := make([]flight, min(rows, all.Chunks[0].Rows))
	for i := range list {
		s := all.Chunks[0].Segments
		list[i] = flight{s[0].Value(i).I, s[1].Value(i).I}
	}
	slices.SortFunc(list, func(a, b flight) int { return int(a.delay - b.delay) })
	for line := range slices.Chunk(list, textures.ShapeOf(len(list)).Width) {
		slices.SortFunc(line, func(a, b flight) int { return int(a.distance - b.distance) })
	}
	b := table.NewBuilder(all.Name, all.Fields[:2], 0)
	for _, f := range list {
		b.Column(0).Int(f.delay)
		b.Column(1).Int(f.distance)
		if err := b.EndRow(); err != nil {
			return nil, err
		}
	}
	return b.Table(), nil
}

// step is a pass, and what it left behind.
type step struct {
	pass    *pass.Pass
	depth   []float32
	stencil []uint8 // nil before the first pass that clears it
	count   uint64  // when the pass counts
}

// recorder is a runner that lets another run each pass and keeps what it did.
type recorder struct {
	*pass.GL
	steps []step
}

// Run implements pass.Runner.
func (r *recorder) Run(p *pass.Pass) (pass.Count, error) {
	c, err := r.GL.Run(p)
	if err != nil {
		return nil, err
	}
	target, err := r.Store().Target(p.Target)
	if err != nil {
		return nil, err
	}
	s := step{pass: p, depth: target.Depth()}
	if p.Clear != nil || len(r.steps) > 0 && r.steps[len(r.steps)-1].stencil != nil {
		s.stencil = target.Stencil()
	}
	if c != nil {
		if s.count, err = c.Wait(); err != nil {
			return nil, err
		}
	}
	r.steps = append(r.steps, s)
	return c, nil
}

// evaluate runs the query on a context of its own and returns what to draw.
func evaluate(t *table.Table) (f *figure, err error) {
	q, err := bind(t)
	if err != nil {
		return nil, err
	}
	ctx, err := glctx.Open(glctx.Options{})
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, ctx.Close()) }()
	f = &figure{shape: textures.ShapeOf(t.Rows())}
	return f, ctx.Do(func() error {
		store := textures.NewStore(ctx, 0)
		defer store.Close()
		run := &recorder{GL: pass.NewGL(ctx, store)}
		defer run.Close()
		device := predicates.DeviceOf(ctx.Caps())
		values, err := aggregates.Run(run, device, q)
		if err != nil {
			return err
		}
		if len(run.steps) != places-1 {
			return fmt.Errorf("of %d flights all or none satisfy some comparison, which then needs no pass: take more", t.Rows())
		}
		f.steps, f.selected = run.steps, uint64(values[0].I)
		for i := range f.attributes {
			f.fields[i] = t.Fields[i].Name
			if f.attributes[i], err = store.Read(textures.Attribute(t.Chunks[0], i)); err != nil {
				return err
			}
		}
		return ctx.Check("evalcnf: read back")
	})
}

// catalog is the one table there is.
type catalog struct{ t *table.Table }

func (c catalog) Table(string) (*table.Table, bool) { return c.t, true }
func (c catalog) Names() []string                   { return []string{c.t.Name} }

// bind turns the query into predicates over the table's codes.
func bind(t *table.Table) (*plan.Query, error) {
	statements, err := sql.Parse(query)
	if err != nil {
		return nil, err
	}
	bound, err := statements[0].Bind(catalog{t})
	if err != nil {
		return nil, err
	}
	return plan.NewQuery(t, bound)
}
