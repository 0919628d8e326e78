package join

import (
	"slices"

	"github.com/stencildb/stencildb/cpu/hashtable"
	"github.com/stencildb/stencildb/cpu/index"
	"github.com/stencildb/stencildb/expr"
)

// codeIndex finds rows of a table by the index of a column, in the nested-loop join with index (GDB's INLJ). If
// the index existed before the join, only the rows that are looked up are read.
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

// fewProbes is how many times as large as the probe side a table must be for auto to use its index. At that size a hash
// join, which reads the whole table, takes about as long.
const fewProbes = 512

// HasIndex reports an index of a column of a table of one chunk.
func (j *Host) HasIndex(s *ScannedTable, col int) bool {
	return len(s.Chunks) == 1 && len(j.IndexesOn(s.Chunks[0].Segments[col])) > 0
}

// indexOfKey is an index of the column that is a key's build side. It is nil where there is none, and where the table
// has several chunks or some of its rows are not joined.
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

// ByIndex makes a stage find the partners of so many rows by an index of its build side, if there is one and it pays.
// The other keys are compared pair by pair.
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
