package peer

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/stencildb/stencildb/bench/answer"
	"github.com/stencildb/stencildb/bench/meter"
	"github.com/stencildb/stencildb/bench/workload"
	"github.com/stencildb/stencildb/table"
)

// Peer is another database.
type Peer struct {
	// Open opens it with tables loaded.
	Open func(context.Context, []*table.Table) (meter.System, error)
	// script, where not nil, runs statements and gives the answer of the last, for a
	// process of its own: it reads files.
	Script func(context.Context, []string) (answer.Answer, error)
	// read, where not nil, makes tables of files.
	Read func(*workload.FileLoad) (meter.Contender, error)
	// MaxRows is the number of rows up to which it runs where nobody names it; 0: any.
	MaxRows int
}

// Registry are those that are built in, by name. Each file with a build tag adds its
// own.
var Registry = map[string]Peer{}

// Known lists the other databases that can be built in, each with the build
// tag of its own name.
func Known() []string { return []string{"duckdb", "sqlite"} }

// BuiltIn lists those that are.
func BuiltIn() []string { return slices.Sorted(maps.Keys(Registry)) }

// Run runs statements on a peer and returns the first row of the last one's answer.
func Run(ctx context.Context, name string, statements []string) ([]string, error) {
	if err := Check(name); err != nil {
		return nil, err
	}
	if Registry[name].Script == nil {
		return nil, fmt.Errorf("%s reads no files", name)
	}
	a, err := Registry[name].Script(ctx, statements)
	return a.FirstRow(), err
}

// Check is an error, with what to do about it, where there is no such peer.
func Check(name string) error {
	if _, ok := Registry[name]; ok {
		return nil
	}
	if !slices.Contains(Known(), name) {
		return fmt.Errorf("no peer %q: there are %s", name, strings.Join(Known(), ", "))
	}
	return fmt.Errorf("peer %s is not built in: build with go build -tags egl,%s", name, name)
}
