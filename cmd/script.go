package cmd

import (
	"cmp"
	"context"
	"errors"
	"io"

	"github.com/stencildb/stencildb/cmd/terminal"
	"github.com/stencildb/stencildb/engine"
)

// runScript answers the statements of a script that comes from source. Errors of
// statements go to stderr, one line each.
func runScript(ctx context.Context, session *engine.Session, text string, f format, keepGoing bool, source string, stderr io.Writer) error {
	failed, none := false, true
	running := terminal.ClockOn(stderr)
	defer running.Stop()
	for rows, err := range session.Each(ctx, text) {
		none = false
		early := err != nil
		if !early {
			write := f.rows
			if rows.Copied() {
				write = func(r *engine.Rows) error { return errors.Join(r.WriteCopy(f.out), f.out.Flush()) }
			}
			if err := write(rows); err != nil {
				return cmp.Or(err, f.close()) // what was written before stays
			}
			err = rows.Err()
		}
		running.Again()
		if err == nil {
			continue
		}
		if ctx.Err() != nil || !keepGoing || isWrongDevice(err) {
			return errors.Join(err, f.close())
		}
		failed = true
		reportError(stderr, err)
		if early && f.failed != nil {
			sql := text
			if e := (*engine.StatementError)(nil); errors.As(err, &e) {
				sql = e.SQL
			}
			if err := f.failed(sql, err); err != nil {
				return err
			}
		}
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	if none {
		note(stderr, "no statement in "+source)
	}
	err := f.close()
	if failed && err == nil {
		err = errReported
	}
	return err
}
