package source

import (
	"context"
	"fmt"
	"strings"

	"github.com/stencildb/stencildb/table"
)

// Loader is one source under way.
type Loader struct {
	Ctx     context.Context
	Name    string // of the table
	Source  Source
	Input   *Input
	Codec   string // "", "gz" or "zst"
	Options Options

	Optioned bool // the source came with options
}

// Option is how one writes an option of the source, with a value or without.
func (l *Loader) Option(name, value string) string {
	switch {
	case l.Source.Call && value == "":
		return name
	case l.Source.Call:
		return name + " => '" + strings.ReplaceAll(value, "'", "''") + "'"
	case l.Optioned:
		return name + "=" + value
	}
	return "?" + name + "=" + value
}

// OptionsPlace is the place of options.
func (l *Loader) OptionsPlace() string {
	switch {
	case l.Source.Call:
		return "among the arguments"
	case l.Optioned:
		return "among the options behind the path"
	}
	return "behind the path"
}

// TypesOption is how one writes the option types where a column gets a type; others keep the one that they are declared with.
func (l *Loader) TypesOption(column, kind string) string {
	list := ""
	for _, c := range l.Source.Types {
		switch {
		case c.Name == column:
			continue
		case c.Type.Kind == table.Varchar:
			list += escaped(c.Name) + ":text,"
		default:
			list += escaped(c.Name) + ":" + c.Type.String() + ","
		}
	}
	return l.Option("types", list+escaped(column)+":"+kind)
}

// Note tells [Options.Note] something about the file.
func (l *Loader) Note(format string, args ...any) {
	if l.Options.Note != nil {
		l.Options.Note(l.Source.Path + ": " + fmt.Sprintf(format, args...))
	}
}

// Step is called between batches: it looks for cancellation and at the memory
// that the builder takes.
func (l *Loader) Step(b *table.Builder, done, total int64) error {
	if err := l.Ctx.Err(); err != nil {
		return err
	}
	if l.Options.Progress != nil {
		p := Progress{Done: min(done, total), Total: total}
		if b != nil {
			p.Rows = int64(b.Rows())
		}
		l.Options.Progress(p)
	}
	if b != nil && l.Options.MemoryLimit > 0 && int64(b.Bytes()) > l.Options.MemoryLimit {
		return &MemoryError{l.Options.MemoryLimit}
	}
	return nil
}
