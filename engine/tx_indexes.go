package engine

import (
	"slices"

	"github.com/stencildb/stencildb/engine/catalog"
	"github.com/stencildb/stencildb/storage"
)

// dropped reports that the transaction has dropped an index that was there before it.
func (tx *Tx) dropped(name string) bool {
	if tx == nil {
		return false
	}
	tx.mu.Lock()
	defer tx.mu.Unlock()
	return slices.Contains(tx.without, name)
}

// dropIndexes drops indexes in the transaction.
func (tx *Tx) dropIndexes(which func(*catalog.Index) bool) {
	tx.made.Drop(which)
	var gone []string
	for _, i := range tx.of.indexes.All() {
		if which(i) {
			gone = append(gone, i.Name)
		}
	}
	tx.mu.Lock()
	defer tx.mu.Unlock()
	tx.without = append(tx.without, gone...)
}

// followIndexes has the transaction's indexes follow what a statement changes of tables, which are there as they were before.
func (tx *Tx) followIndexes(changes []storage.Change, tables *catalog.Catalog) {
	tx.made.Follow(changes, tables)
	before := tx.of.indexes.All()
	left := tx.of.indexes.Copy()
	left.Follow(changes, tables)
	var gone []string
	for _, i := range before {
		if left.Position(i.Name) < 0 {
			gone = append(gone, i.Name)
		}
	}
	tx.mu.Lock()
	tx.without = append(tx.without, gone...)
	tx.mu.Unlock()
	for _, c := range changes {
		if c.Drop && !slices.ContainsFunc(changes, func(o storage.Change) bool { return o.Define != nil && o.Define.Name == c.Table }) { // TRUNCATE defines it again
			tx.dropIndexes(func(i *catalog.Index) bool { return i.Table == c.Table })
		}
	}
}

// indexesOf are the indexes that the transaction has made; an [ErrConflict] where another one has made one of such a name.
func (tx *Tx) indexesOf() ([]*catalog.Index, error) {
	made := tx.made.All()
	for _, i := range made {
		if tx.of.indexes.Position(i.Name) >= 0 && !tx.dropped(i.Name) {
			return nil, conflict("another transaction has created index %q", i.Name)
		}
	}
	return made, nil
}

// commitIndexes makes the indexes those that others see.
func (tx *Tx) commitIndexes(made []*catalog.Index) {
	x := &tx.of.indexes
	x.Drop(func(i *catalog.Index) bool { return slices.Contains(tx.without, i.Name) })
	x.Add(slices.DeleteFunc(made, func(i *catalog.Index) bool { return tx.of.entry(i.Table) == nil })...)
	tx.of.indexesChanged()
}
