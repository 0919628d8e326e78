package storage

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stencildb/stencildb/ingest"
	"github.com/stencildb/stencildb/table"
)

// rowsOf are values of some columns of the rows that are there, in words.
func rowsOf(t *table.Table, columns []int) (list []string) {
	for _, c := range t.Chunks {
		for i := range c.Rows {
			row := ""
			for _, col := range columns {
				row += "|" + c.Segments[col].Value(i).String()
			}
			if c.IsLive(i) {
				list = append(list, row)
			}
		}
	}
	return list
}

// Rows of the same files are made while the files are read: the race detector tells.
func TestRowsOfTheSameFilesWhileTheseAreRead(t *testing.T) {
	r, d := rand.New(rand.NewPCG(1, 1)), newModelled()
	db, err := openOn(d)
	if err == nil {
		err = db.commit(Change{Table: "n", Define: numbers("n")})
	}
	if err == nil {
		err = db.commit(Change{Table: "n", Append: []*table.Chunk{db.rows(r, db.tables["n"], 100)}})
	}
	if err == nil {
		err = db.checkpoint()
	}
	if err != nil {
		t.Fatal(err)
	}
	s, err := open(ctx, d.after(r), "db", ingest.Options{})
	if err != nil {
		t.Fatal(err)
	}
	rows, err := s.Saved("n").Open(ctx, ingest.Options{})
	if err != nil {
		t.Fatal(err)
	}
	read := make(chan error, 1)
	go func() {
		_, err := rows.Read(ctx, []int{0}, ingest.Options{})
		read <- err
	}()
	if n := rows.Unread().Total(); n != 100 {
		t.Errorf("%d rows", n)
	}
	if err := <-read; err != nil {
		t.Error(err)
	}
}

// Files that the log changes give the rows of the whole table, read by columns or by groups. A checkpoint that leaves them out leaves
// the changes in the log.
func TestFilesWithChangesOfTheLog(t *testing.T) {
	defer func(n int) { foldedRows = n }(foldedRows)
	groups, changed := 0, 0
	for seed := range uint64(20) {
		r := rand.New(rand.NewPCG(seed, 9))
		d := newModelled()
		db, err := openOn(d)
		for n := 20; n > 0; n-- {
			if err == nil {
				err = db.commit(db.random(r)...)
			}
			for name, t := range db.tables { // rows that stay in a file of their own, for fewer come behind them
				if err == nil && n > 8 && n%4 == 0 {
					err = db.commit(Change{Table: name, Append: []*table.Chunk{db.rows(r, t, 4*n)}})
				}
			}
			if err == nil && n > 6 && n%4 == 0 {
				err = db.checkpoint()
			}
		}
		if err != nil {
			t.Fatal(err)
		}
		again := d.after(r)
		s, err := open(ctx, again, "db", ingest.Options{})
		if err != nil {
			t.Fatal(err)
		}
		var tables []*table.Table
		var list []*Saved // that are in files
		for _, saved := range s.Tables() {
			if saved.Table == nil && !saved.Empty() {
				list = append(list, saved)
			}
			if saved.Table != nil {
				tables = append(tables, saved.Table)
				continue
			}
			if saved.amended == nil || saved.Empty() {
				continue
			}
			changed++
			whole := db.tables[saved.Definition.Name]
			rows, err := saved.Open(ctx, ingest.Options{ChunkRows: 1 + r.IntN(50)})
			if err != nil {
				t.Fatal(err)
			}
			for range 3 { // columns come one after the other
				columns := r.Perm(len(whole.Fields))[:r.IntN(len(whole.Fields))]
				got, err := rows.Read(ctx, columns, ingest.Options{})
				if err == nil {
					err = got.Check()
				}
				if err != nil || !slices.Equal(rowsOf(got, columns), rowsOf(whole, columns)) {
					t.Fatalf("seed %d, columns %v of %s: %v\n%v\nwant\n%v", seed, columns, whole.Name, err, rowsOf(got, columns), rowsOf(whole, columns))
				}
			}
			shape := rows.Shape(whole.All())
			if len(shape.Chunks) != rows.Groups() {
				t.Fatalf("%d groups, %d chunks", rows.Groups(), len(shape.Chunks))
			}
			all := rowsOf(whole, whole.All())
			at := 0
			var want []string
			var some []int
			for g, c := range shape.Chunks {
				groups++
				of := all[at:][:c.Live()]
				got, err := rows.ReadGroups(ctx, []int{g}, whole.All(), ingest.Options{})
				if err != nil || !slices.Equal(rowsOf(got, whole.All()), of) {
					t.Fatalf("seed %d, group %d of %s: %v\n%v\nwant\n%v", seed, g, whole.Name, err, rowsOf(got, whole.All()), of)
				}
				for i, one := range c.Segments[:len(whole.Fields)] {
					for _, has := range got.Chunks {
						if s := has.Segments[i]; s.Type.Kind != table.Varchar && s.NonNull() > 0 && (s.Base < one.Base || s.Base+s.Max > one.Base+one.Max) {
							t.Fatalf("seed %d: column %d of group %d has values from %d to %d, and its shape from %d to %d", seed, i, g, s.Base, s.Base+s.Max, one.Base, one.Base+one.Max)
						}
					}
				}
				if at += c.Live(); r.IntN(3) > 0 {
					some, want = append(some, g), append(want, of...)
				}
			}
			if len(some) > 0 {
				got, err := rows.ReadGroups(ctx, some, whole.All(), ingest.Options{})
				if err != nil || !slices.Equal(rowsOf(got, whole.All()), want) {
					t.Fatalf("seed %d, groups %v of %s: %v, %d rows, want %d", seed, some, whole.Name, err, got.Rows(), len(want))
				}
			}
		}
		foldedRows = r.IntN(40)
		for _, saved := range list {
			name := saved.Definition.Name
			before, err := s.Saved(name).Open(ctx, ingest.Options{}) // the checkpoint of another one may have written it
			if err != nil {
				t.Fatal(err)
			}
			was := rowsOf(db.tables[name], nil)
			for range 1 + r.IntN(3) {
				more := Change{Table: name}
				var some []int
				for row := range rowsIn(db.tables[name].Chunks) {
					if r.IntN(4) == 0 {
						some = append(some, row)
					}
				}
				switch r.IntN(5) {
				case 0:
					more.Delete = some
				case 2: // a new column, the last two the other way round, or without one of them
					old := db.tables[name].Fields
					d := *find(s.tables, name).def
					d.Fields = append(slices.Clone(old[:2]), table.Field{Name: fmt.Sprintf("new %d", r.IntN(1000)), Type: table.Type{Kind: table.Integer}})
					more.From, more.Fill = []int{0, 1, -1}, []table.Value{{}, {}, table.Int(7)}
					for i := len(old) - 1; i >= 2+r.IntN(2); i-- {
						d.Fields, more.From, more.Fill = append(d.Fields, old[i]), append(more.From, i), append(more.Fill, table.Value{})
					}
					more.Fill[2].Type = d.Fields[2].Type
					d.Columns, more.Define = make([]Column, len(d.Fields)), &d
				case 1:
					var values []table.Value
					for range some {
						values = append(values, draw(r, table.Type{Kind: table.Varchar}))
					}
					more.Update = []Update{{1, some, table.SegmentOf(table.Type{Kind: table.Varchar}, values...)}}
				default:
					more.Append = []*table.Chunk{db.rows(r, db.tables[name], 1+r.IntN(20))}
				}
				if err = db.commit(more); err == nil {
					_, err = s.Append([]Change{more}, name)
				}
				if err != nil {
					t.Fatal(err)
				}
			}
			check := func(what string, of *Rows, want []string, columns []int) {
				got, err := of.Read(ctx, columns, ingest.Options{})
				if err != nil || !slices.Equal(rowsOf(got, columns), want) {
					t.Fatalf("seed %d, %s of %s: %v, %d rows, want %d", seed, what, name, err, got.Rows(), len(want))
				}
			}
			all := db.tables[name].All()
			want := rowsOf(db.tables[name], all)
			check("with more changes", before.With(s.Saved(name)), want, all)
			check("before", before, was, nil)
			if _, err := s.Checkpoint(ctx, tables); err != nil {
				t.Fatal(err)
			}
			folded, err := s.Saved(name).Open(ctx, ingest.Options{})
			if err != nil {
				t.Fatal(err)
			}
			check("after a checkpoint", folded, want, all)
		}
		if _, err := s.Checkpoint(ctx, tables); err != nil {
			t.Fatal(err)
		}
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
		after, err := openOn(again.after(r))
		if err != nil || after.state() != db.state() {
			t.Fatalf("seed %d: after a checkpoint: %v\n%v\nwant\n%v", seed, err, after.state(), db.state())
		}
	}
	if changed < 8 || groups < changed+changed/2 {
		t.Errorf("%d tables with changes, %d groups", changed, groups)
	}
}
