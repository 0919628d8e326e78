package compute

import (
	"strings"

	lru "github.com/hashicorp/golang-lru/v2"

	"github.com/stencildb/stencildb/plan/physical"
	"github.com/stencildb/stencildb/shaders"
)

// cache keeps the passes of the queries that ran last. It also keeps the texts of programs by their shapes,
// which other queries and other snapshots share. Writing these takes longer than a small query.
type cache struct {
	queries *lru.Cache[*physical.Query, *compiled]
	texts   *lru.Cache[string, shaders.Source]
}

func newCache() *cache {
	c := &cache{}                                           // only a size below 1 is an error
	c.queries, _ = lru.New[*physical.Query, *compiled](128) // as many as a DB keeps statements
	c.texts, _ = lru.New[string, shaders.Source](1024)      // of some 10 KB
	return c
}

// compile returns the passes of a query.
func (d Profile) compile(q *physical.Query) (*compiled, error) {
	if d.cache == nil {
		d.cache = newCache()
	}
	if c, ok := d.cache.queries.Get(q); ok {
		return c, nil
	}
	c, err := compile(d, q)
	if err == nil {
		d.cache.queries.Add(q, c)
	}
	return c, err
}

// compileGroups is compile of a query for groups; one with builds, which are of one run, is not kept.
func (d Profile) compileGroups(q *physical.Query) (*compiled, error) {
	for _, l := range q.Star {
		if l.Built != nil {
			return compile(d, q)
		}
	}
	return d.compile(q)
}

// program puts the text of code together. slots declares its blocks, functions is c.text or c.each.
func (d Profile) program(c *Code, slots, functions string) shaders.Source {
	shape := strings.Join(append([]string{c.Name, slots, functions}, c.Defines...), "\n")
	s, ok := d.cache.texts.Get(shape)
	if !ok {
		s = shaders.ComposeCompute(c.Name, c.Files, c.Defines, slots+functions, c.after...)
		d.cache.texts.Add(shape, s)
	}
	return s
}
