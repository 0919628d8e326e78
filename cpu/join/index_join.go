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

// HasIndex reports an index of a column of a table of one chunk.
func (j *Host) HasIndex(s *ScannedTable, col int) bool {
	return len(s.Chunks) == 1 && len(j.IndexesOn(s.Chunks[0].Segments[col])) > 0
}

// indexOfKey is an index of the column that is a key's build side; nil where there is none, or where not all rows of the
// table, in one chunk, are joined.
func (j *Host) indexOfKey(k *Key, build *Relation) *codeIndex {
	col, ok := k.Build.(*expr.Column)
	if !ok || k.How != ByOrdinal && k.How != ByRank || len(build.Scans) != 1 || build.IDs[0] != nil {
		return nil
	}
	s := j.Scans[build.Scans[0]]
	if !j.HasIndex(s, col.Index-s.First) || s.Chunks[0].Rows != build.Rows {
		return nil
	}
	seg := s.Chunks[0].Segments[col.Index-s.First]
	x := &codeIndex{Index: j.IndexesOn(seg)[0], most: seg.Max}
	if k.How == ByOrdinal {
		x.base = seg.Base
	}
	return x
}

// ByIndex has a step look for the partners of so many rows by an index of its build side, where there is one that pays;
// what its other keys say is looked at pair by pair.
func (j *Host) ByIndex(s *Stage, rows int) bool {
	if s.KeepBuild || j.Way != "index" && (j.Way != "auto" || rows > s.Build.Rows/fewProbes) {
		return false
	}
	for i, k := range s.Keys {
		x := j.indexOfKey(k, s.Build)
		if x == nil {
			continue
		}
		for o, other := range s.Keys {
			if o != i {
				s.Also = append(s.Also, other.e)
			}
		}
		if s.Keys = s.Keys[i : i+1]; k.How == ByRank {
			k.ranked(j.Column(k.Probe.(*expr.Column).Index), j.Column(k.Build.(*expr.Column).Index))
		}
		found := *s.Build
		found.Rows, found.IDs = x.Rows(), [][]uint32{x.Ordered()}
		s.index, s.Build, s.way = x, &found, "index "+expr.Ident(x.Name)
		return true
	}
	return false
}
