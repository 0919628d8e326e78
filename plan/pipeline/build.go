package pipeline

import (
	"fmt"
	"math"
	"slices"

	"github.com/stencildb/stencildb/expr"
	"github.com/stencildb/stencildb/internal/numbers"
	"github.com/stencildb/stencildb/table"
)

// BuildKind is the data structure of a [Build].
type BuildKind uint8

// The kinds. A bitmap has a bit a key of a range, and tells membership alone. A dense array has a slot a key of a range: a perfect hash.
// A hash table takes any keys. Partitioned is a hash table for each part of both sides, dealt by radix. A list has no keys.
const (
	Bitmap BuildKind = iota
	DenseArray
	HashTable
	Partitioned
	List
)

func (k BuildKind) String() string {
	return [...]string{"bitmap", "dense array", "hash table", "partitioned hash tables", "list"}[k]
}

// The bounds by which a kind is chosen.
const (
	// MaxSlots is how many keys the range of a bitmap or a dense array may have at most: bits of 128 MiB.
	MaxSlots = 1 << 30
	// SlotsPerRow is how many slots of a dense array there may be for a row of the build.
	SlotsPerRow = 16
	// CachedSlots is up to how many slots of 4 bytes a dense array lies in the cache of a device, with however few rows.
	CachedSlots = 1 << 22
	// PartitionBytes is from which size on a hash table is partitioned: it lies in no cache.
	PartitionBytes = 64 << 20
)

// Build leaves what later pipelines probe.
type Build struct {
	Kind    BuildKind
	Keys    []expr.Expr
	Columns []int // of the layout, which a probe adds or its residual reads
	// Span is how many values the range of the key has, by the statistics of its table; 0 where it is not known.
	Span float64
	// Unique says that no two rows are expected to have the same keys. A build that meets a key twice changes its mode.
	Unique bool
}

// KindOf chooses the data structure of a build of so many rows, of bytes each, with what is known of its keys. member says that
// membership is all that is asked of it, exact that the key is one value whose codes are dense.
func KindOf(rows, bytes float64, keys int, span float64, exact, unique, member bool) BuildKind {
	switch ranged := exact && keys == 1 && span > 0 && span <= MaxSlots; {
	case keys == 0:
		return List
	case ranged && member:
		return Bitmap
	case ranged && unique && span <= max(CachedSlots, SlotsPerRow*rows):
		return DenseArray
	case rows*bytes > PartitionBytes:
		return Partitioned
	}
	return HashTable
}

// Fields, Exprs and String implement [Sink].
func (b *Build) Fields(in []table.Field) []table.Field { return at(in, b.Columns) }
func (b *Build) Exprs() []expr.Expr                    { return slices.Clone(b.Keys) }

func (b *Build) String() string {
	text := "Build(" + b.Kind.String()
	if len(b.Keys) > 0 {
		text += " by " + texts(b.Keys, expr.Expr.String)
	}
	if b.Kind == Bitmap || b.Kind == DenseArray {
		text += fmt.Sprintf(", range of %s", grouped(b.Span))
	}
	if !b.Unique && len(b.Keys) > 0 && b.Kind != Bitmap {
		text += ", keys repeat"
	}
	return text + ")"
}

// grouped is an estimate as an integer.
func grouped(rows float64) string {
	if rows >= math.MaxInt64 {
		return fmt.Sprintf("%.3g", rows)
	}
	return numbers.Grouped(int(math.Round(rows)))
}
