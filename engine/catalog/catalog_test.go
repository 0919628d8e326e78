package catalog

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/stencildb/stencildb/sql"
)

// A list of the catalog's tables stays as it was while the catalog changes, and a name is found without a copy of the list.
func TestCatalogLists(t *testing.T) {
	c := New(sql.InformationNames())
	list := func(c *Catalog) string {
		entries, names, _ := c.EntriesAndNames()
		for i, e := range entries {
			if e.Name != names[i] || c.Entry(e.Name) != e {
				t.Errorf("the entry %s has the name %s", e.Name, names[i])
			}
		}
		return strings.Join(names, " ")
	}
	for i := range 4 {
		if err := c.Add(NewEntry(fmt.Sprint("t", i), nil)); err != nil {
			t.Fatal(err)
		}
	}
	held, _ := c.Entries()
	old, before, v := slices.Clone(held), NewEntry("t1", nil), c.View()
	c.Put("t1", before)
	c.Put("t0", nil)
	c.Put("t4", NewEntry("t4", nil))
	v.Put("u", NewEntry("u", nil))
	v.Put("t2", nil)
	c.Put("information_schema.tables", NewEntry("information_schema.tables", nil))
	if got := list(c); got != "t1 t2 t3 t4 information_schema.tables" || c.Entry("t1") != before || c.Entry("t0") != nil {
		t.Errorf("the catalog has %s", got)
	}
	if c.Put("information_schema.tables", nil); c.Entry("information_schema.tables") != c.Information[slices.Index(c.Information, c.Entry("information_schema.tables"))] {
		t.Error("the table of information_schema is another one")
	}
	if got := list(v); got != "t0 t1 t3 u" {
		t.Errorf("the view has %s", got)
	}
	if !slices.Equal(held, old) {
		t.Error("the list has changed")
	}
	if c.Restore(held); list(c) != "t0 t1 t2 t3" || c.Entry("t4") != nil {
		t.Errorf("the catalog has %s again", list(c))
	}
	if c.Add(NewEntry("t3", nil)) == nil || c.Add(NewEntry("information_schema.tables", nil)) == nil {
		t.Error("two tables have one name")
	}
	if n := testing.AllocsPerRun(10, func() { c.Entry("t3"); c.Entries() }); n > 0 {
		t.Errorf("%v allocations", n)
	}
}
