package devicepool

import (
	"slices"

	"github.com/stencildb/stencildb/cost"
	"github.com/stencildb/stencildb/table"
	"github.com/stencildb/stencildb/textures"
)

// Content is what is resident on a device at one moment, in bytes; it does not change.
type Content struct {
	Usage   textures.Usage
	Columns map[ResidentColumn]int64 // bytes
}

// ResidentColumn is a column of a chunk in one form.
type ResidentColumn struct {
	Segment *table.Segment
	Kind    textures.Kind
}

// Empty is the content of a device before its first query.
var Empty = &Content{}

// NewContent is the content that a store tells.
func NewContent(list []textures.Residency, usage textures.Usage) *Content {
	c := &Content{Usage: usage, Columns: make(map[ResidentColumn]int64, len(list))}
	for _, r := range list {
		c.Columns[ResidentColumn{r.Segment, r.Kind}] += r.Bytes
	}
	return c
}

// Contents are those of several devices.
type Contents []*Content

// forms are the kinds in which a backend reads columns: those that are only compared, and those whose values
// are needed. Any of the kinds will do.
var forms = map[string]struct{ compared, values []textures.Kind }{
	"classic": {[]textures.Kind{textures.FloatTexture}, []textures.Kind{textures.FloatTexture}},
	"fused": {[]textures.Kind{textures.DepthTexture, textures.FloatTexture, textures.IntegerTexture},
		[]textures.Kind{textures.FloatTexture, textures.IntegerTexture, textures.DepthTexture}},
	"compute": {[]textures.Kind{textures.BitPlanes}, []textures.Kind{textures.CodeBlock}},
}

// Has reports whether a column is there in a form that a backend reads.
func (l Contents) Has(backend string, col cost.Column) bool {
	kinds := forms[backend].compared
	if col.Values {
		kinds = forms[backend].values
	}
	segment := col.Chunk.Segments[col.Col]
	if col.Texts {
		made := segment.TextSegments()
		if backend != "compute" {
			return true
		} else if len(made) == 0 {
			return false
		}
		segment = made[0]
	}
	return slices.ContainsFunc(l, func(c *Content) bool {
		return slices.ContainsFunc(kinds, func(k textures.Kind) bool { _, ok := c.Columns[ResidentColumn{segment, k}]; return ok })
	})
}
