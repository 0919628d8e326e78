package bench

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/stencildb/stencildb/table"
)

// peer is another database.
type peer struct {
	// open opens it with tables loaded.
	open func(context.Context, []*table.Table) (System, error)
	// script, where not nil, runs statements and gives the answer of the last, for a
	// process of its own: it reads files.
	script func(context.Context, []string) (Answer, error)
	// read, where not nil, makes tables of files.
	read func(*intake) (Contender, error)
	// most is the number of rows up to which it runs where nobody names it; 0: any.
	most int
}

// peers are those that are built in, by name. Each file with a build tag adds its
// own.
var peers = map[string]peer{}

// KnownPeers lists the other databases that can be built in, each with the build
// tag of its own name.
func KnownPeers() []string { return []string{"duckdb", "sqlite"} }

// Peers lists those that are.
func Peers() []string { return slices.Sorted(maps.Keys(peers)) }

// RunPeer runs statements on a peer and returns the first row of the last one's answer.
func RunPeer(ctx context.Context, name string, statements []string) ([]string, error) {
	if err := CheckPeer(name); err != nil {
		return nil, err
	}
	if peers[name].script == nil {
		return nil, fmt.Errorf("%s reads no files", name)
	}
	a, err := peers[name].script(ctx, statements)
	return a.first(), err
}

// CheckPeer is an error, with what to do about it, where there is no such peer.
func CheckPeer(name string) error {
	if _, ok := peers[name]; ok {
		return nil
	}
	if !slices.Contains(KnownPeers(), name) {
		return fmt.Errorf("no peer %q: there are %s", name, strings.Join(KnownPeers(), ", "))
	}
	return fmt.Errorf("peer %s is not built in: build with go build -tags egl,%s", name, name)
}
