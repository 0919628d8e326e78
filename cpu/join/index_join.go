package join

import (
	"slices"

	"github.com/stencildb/stencildb/cpu/hashtable"
	"github.com/stencildb/stencildb/cpu/index"
	"github.com/stencildb/stencildb/expr"
)

// codeIndex finds rows of a table by the index of a column, in the nested-loop join with index (GDB's INLJ): of a
// table that has the index before the join begins nothing is read but what is looked up.
type codeIndex struct {
	*index.Index
	base uint64 // the number of code 0
	most uint64 // the largest code
}

func (x codeIndex) Find(of hashtable.Keys, from, to []uint32) {
	codes := hashtable.Keys{Numbers: make([]uint64, len(of.Numbers)), Null: slices.Clone(of.Null)}
	for i, n := range of.Numbers {
		if codes.Numbers[i] = n - x.base; codes.Numbers[i] > x.most {
			codes.Numbers[i] = 0
			codes.SetNull(i)
		}
	}
	x.Ranges(codes.Numbers, from, to)
	codes.ClearNulls(from, to)
}

// fewProbes is how many times as many rows as look for partners a table has at least whose index auto uses: to read all of
// them and look them up in a hash table of the others takes about as long.
const fewProbes = 512

// hasIndex reports an index of a column of a table of one chunk.
func (j *joiner) hasIndex(s *scanned, col int) bool {
	return len(s.Chunks) == 1 && len(j.IndexesOn(s.Chunks[0].Segments[col])) > 0
}

// indexOfKey is an index of the column that is a key's build side; nil where there is none, or where not all rows of the
// table, in one chunk, are joined.
func (j *joiner) indexOfKey(k *joinKey, build *relation) *codeIndex {
	col, ok := k.build.(*expr.Column)
	if !ok || k.how != byOrdinal && k.how != byRank || len(build.scans) != 1 || build.ids[0] != nil {
		return nil
	}
	s := j.scans[build.scans[0]]
	if !j.hasIndex(s, col.Index-s.first) || s.Chunks[0].Rows != build.rows {
		return nil
	}
	seg := s.Chunks[0].Segments[col.Index-s.first]
	x := &codeIndex{Index: j.IndexesOn(seg)[0], most: seg.Max}
	if k.how == byOrdinal {
		x.base = seg.Base
	}
	return x
}

// byIndex has a step look for the partners of so many rows by an index of its build side, where there is one that pays;
// what its other keys say is looked at pair by pair.
func (j *joiner) byIndex(s *joinStep, rows int) bool {
	if s.keepBuild || j.Way != "index" && (j.Way != "auto" || rows > s.build.rows/fewProbes) {
		return false
	}
	for i, k := range s.keys {
		x := j.indexOfKey(k, s.build)
		if x == nil {
			continue
		}
		for o, other := range s.keys {
			if o != i {
				s.also = append(s.also, other.e)
			}
		}
		if s.keys = s.keys[i : i+1]; k.how == byRank {
			k.ranked(j.column(k.probe.(*expr.Column).Index), j.column(k.build.(*expr.Column).Index))
		}
		found := *s.build
		found.rows, found.ids = x.Rows(), [][]uint32{x.Ordered()}
		s.index, s.build, s.way = x, &found, "index "+expr.Ident(x.Name)
		return true
	}
	return false
}

// leads is the place of the largest of the inputs but the one at a place, where that one has an index by which
// partners in it are found, and this pays; else it is the place itself.
func (j *joiner) leads(inputs []*relation, at int, conditions []expr.Expr) int {
	other := -1
	for i, r := range inputs {
		if i != at && (other < 0 || r.rows > inputs[other].rows) {
			other = i
		}
	}
	if other < 0 {
		return at
	}
	var have []int
	for i, r := range inputs {
		if i != at {
			have = append(have, r.scans...)
		}
	}
	s, _ := j.step(have, inputs[at], conditions)
	if j.byIndex(s, inputs[other].rows) {
		return other
	}
	return at
}
