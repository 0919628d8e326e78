package engine

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

// A list of the catalog's tables stays as it was while the catalog changes, and a name is found without a copy of the list.
func TestCatalogLists(t *testing.T) {
	c := newCatalog()
	list := func(c *catalog) string {
		entries, names, _ := c.spelled()
		for i, e := range entries {
			if e.name != names[i] || c.entry(e.name) != e {
				t.Errorf("the entry %s has the name %s", e.name, names[i])
			}
		}
		return strings.Join(names, " ")
	}
	for i := range 4 {
		if err := c.add(newEntry(fmt.Sprint("t", i), nil)); err != nil {
			t.Fatal(err)
		}
	}
	held, _ := c.known()
	old, before, v := slices.Clone(held), newEntry("t1", nil), c.view()
	c.put("t1", before)
	c.put("t0", nil)
	c.put("t4", newEntry("t4", nil))
	v.put("u", newEntry("u", nil))
	v.put("t2", nil)
	c.put("information_schema.tables", newEntry("information_schema.tables", nil))
	if got := list(c); got != "t1 t2 t3 t4 information_schema.tables" || c.entry("t1") != before || c.entry("t0") != nil {
		t.Errorf("the catalog has %s", got)
	}
	if c.put("information_schema.tables", nil); c.entry("information_schema.tables") != c.schema[slices.Index(c.schema, c.entry("information_schema.tables"))] {
		t.Error("the table of information_schema is another one")
	}
	if got := list(v); got != "t0 t1 t3 u" {
		t.Errorf("the view has %s", got)
	}
	if !slices.Equal(held, old) {
		t.Error("the list has changed")
	}
	if c.restore(held); list(c) != "t0 t1 t2 t3" || c.entry("t4") != nil {
		t.Errorf("the catalog has %s again", list(c))
	}
	if c.add(newEntry("t3", nil)) == nil || c.add(newEntry("information_schema.tables", nil)) == nil {
		t.Error("two tables have one name")
	}
	if n := testing.AllocsPerRun(10, func() { c.entry("t3"); c.known() }); n > 0 {
		t.Errorf("%v allocations", n)
	}
}
