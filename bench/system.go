package bench

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/stencildb/stencildb/bench/answer"
	"github.com/stencildb/stencildb/bench/meter"
	"github.com/stencildb/stencildb/cost"
	"github.com/stencildb/stencildb/cpu"
	"github.com/stencildb/stencildb/engine"
	"github.com/stencildb/stencildb/plan/physical"
	"github.com/stencildb/stencildb/sql"
	"github.com/stencildb/stencildb/table"
)

// settleTime is how long a statement runs on auto, three times at least, before it is timed.
const settleTime = 2 * time.Second

// openBackend returns a backend of package engine as a system. Columns become resident at
// the first statement that uses them.
func openBackend(name string, o engine.Options, tables []*table.Table) (meter.System, error) {
	o.Backend = name
	db, err := engine.Open(o)
	if err != nil {
		return meter.System{}, err
	}
	// auto would weigh the opening of the device.
	err = engine.Inspect(db).Ready()
	for _, t := range tables {
		err = errors.Join(err, db.Add(t))
	}
	if err != nil {
		return meter.System{}, errors.Join(err, db.Close())
	}
	return meter.System{Close: db.Close, Prepare: func(ctx context.Context, q meter.Query) (meter.Contender, error) {
		st, err := db.Prepare(ctx, q.SQL)
		if err != nil {
			return meter.Contender{}, backendError(err)
		}
		run := func(ctx context.Context) (meter.Outcome, error) {
			r, err := engine.Collect(st.Query(ctx))
			if err != nil {
				return meter.Outcome{}, backendError(err)
			}
			return meter.Outcome{Answer: r.Rows}, nil
		}
		if name == "auto" {
			// It moves columns to the device, where they are worth it.
			for n, start := 0, time.Now(); n < 40 && (n < 3 || time.Since(start) < settleTime); n++ {
				if _, err := run(ctx); err != nil {
					return meter.Contender{}, err
				}
			}
		}
		c := meter.Contender{Run: run, Device: name != "cpu", Programs: engine.Inspect(db).Programs}
		c.Fresh = func(ctx context.Context, text string) (meter.Outcome, error) { return executeText(ctx, db, text) }
		c.First = func(ctx context.Context, text string) (meter.Outcome, error) {
			return firstExecution(ctx, name, o, tables, text)
		}
		if name != "cpu" && name != "auto" {
			c.Operators = func(ctx context.Context) ([]string, error) { return cpuOperators(ctx, db, q.SQL) }
		}
		if name != "cpu" { // auto chooses as over a table that is new
			c.Cold = func(ctx context.Context) (meter.Outcome, error) {
				for _, t := range tables {
					if err := engine.Inspect(db).Renew(t.Name); err != nil {
						return meter.Outcome{}, err
					}
				}
				start := time.Now()
				out, err := run(ctx)
				out.Wall = time.Since(start)
				return out, err
			}
		}
		return c, nil
	}}, nil
}

// executeText executes a text, to its last row.
func executeText(ctx context.Context, db *engine.DB, text string) (meter.Outcome, error) {
	r, err := engine.Collect(db.Query(ctx, text))
	if err != nil {
		return meter.Outcome{}, backendError(err)
	}
	return meter.Outcome{Answer: r.Rows}, nil
}

// firstExecution asks a database that is newly opened, on copies of the tables of which nothing is known or on the device yet. It
// has the costs of o, and no GL programs that are kept. The opening is not counted.
func firstExecution(ctx context.Context, name string, o engine.Options, tables []*table.Table, text string) (out meter.Outcome, err error) {
	folder, err := os.MkdirTemp("", "stencildb-first-")
	if err != nil {
		return out, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(folder)) }()
	if o.Calibrations == "" {
		o.Calibrations, _ = cost.Folder()
	}
	if err := copyFiles(folder, o.Calibrations); err != nil {
		return out, err
	}
	o.Backend, o.Calibrations = name, folder
	db, err := engine.Open(o)
	if err != nil {
		return out, err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	err = engine.Inspect(db).Ready()
	for _, t := range tables {
		err = errors.Join(err, db.Add(t.Renewed()))
	}
	if err != nil {
		return out, err
	}
	start := time.Now()
	out, err = executeText(ctx, db, text)
	out.Wall = max(1, time.Since(start))
	return out, err
}

// copyFiles copies the files of a folder that are in no folder below it; of a folder that is not there none.
func copyFiles(to, from string) error {
	list, err := os.ReadDir(from)
	if errors.Is(err, fs.ErrNotExist) || from == "" {
		return nil
	}
	for _, f := range list {
		if !f.Type().IsRegular() {
			continue
		}
		var data []byte
		if data, err = os.ReadFile(filepath.Join(from, f.Name())); err == nil {
			err = os.WriteFile(filepath.Join(to, f.Name()), data, 0o600)
		}
		if err != nil {
			return err
		}
	}
	return err
}

// backendError marks what only another backend can do.
func backendError(err error) error {
	if errors.Is(err, engine.ErrUnsupported) || errors.Is(err, engine.ErrDeviceMemory) {
		return fmt.Errorf("%w: %w", meter.ErrCannot, err)
	}
	return err
}

// overPlans is a system of the figures, which runs plans over the table.
func overPlans(t *table.Table, prepare func(meter.Query, *physical.Query) (meter.Contender, error)) meter.System {
	return meter.System{Prepare: func(_ context.Context, q meter.Query) (meter.Contender, error) {
		p, err := sql.Plan(t, q.SQL)
		if err != nil {
			return meter.Contender{}, fmt.Errorf("%s: %w", q.SQL, err)
		}
		return prepare(q, p)
	}}
}

// onCPU runs plans by package cpu on all cores.
func onCPU(options ...cpu.Option) func(meter.Query, *physical.Query) (meter.Contender, error) {
	backend := cpu.New(0, options...)
	return func(_ meter.Query, p *physical.Query) (meter.Contender, error) {
		return meter.Contender{Run: func(ctx context.Context) (meter.Outcome, error) {
			values, err := backend.Execute(ctx, p)
			if err != nil {
				return meter.Outcome{}, err
			}
			return meter.Outcome{Answer: answer.Answer{values}}, nil
		}}, nil
	}
}
