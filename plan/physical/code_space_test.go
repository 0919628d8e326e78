package physical_test

import (
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/stencildb/stencildb/internal/plantest"
	"github.com/stencildb/stencildb/plan/physical"
	"github.com/stencildb/stencildb/table"
)

// The common code space orders as the values do, and Local finds in each chunk the
// least value that is not below.
func TestCodeSpaceOrdersAllChunks(t *testing.T) {
	k := plantest.Default()
	rapid.Check(t, func(t *rapid.T) {
		tab := plantest.Table(t, k)
		for col := range tab.Fields {
			s := physical.NewCodeSpace(tab, col)
			var all []table.Value
			for _, c := range tab.Chunks {
				for row := range c.Rows {
					if v := c.Segments[col].Value(row); !v.Null {
						all = append(all, v)
					}
				}
			}
			if len(all) == 0 {
				if s.Max() != 0 || s.Bits() != 0 {
					t.Fatalf("a space of %d bits for no values", s.Bits())
				}
				continue
			}
			slices.SortFunc(all, table.Compare)
			low, high := table.Compare(s.Value(0), all[0]), table.Compare(s.Value(s.Max()), all[len(all)-1])
			if low > 0 || high < 0 || tab.Version == 0 && low|high != 0 { // a patched segment keeps its ends
				t.Fatalf("space from %s to %s, values from %s to %s", s.Value(0), s.Value(s.Max()), all[0], all[len(all)-1])
			}
			code := rapid.Uint64Range(0, s.Max()).Draw(t, "code")
			want := s.Value(code)
			for ci, c := range tab.Chunks {
				seg := c.Segments[col]
				local, ok := s.Local(seg, code)
				for row := range c.Rows {
					v := seg.Value(row)
					if v.Null {
						continue
					}
					if above := ok && seg.Codes.At(row) >= local; above != (table.Compare(v, want) >= 0) {
						t.Fatalf("chunk %d: %s against %s (code %d): local code %d, %v", ci, v, want, code, local, ok)
					}
				}
				if ok && local > seg.Max {
					t.Fatalf("local code %d of a chunk up to %d", local, seg.Max)
				}
			}
		}
	})
}
