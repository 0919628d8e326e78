package primitives

import "github.com/stencildb/stencildb/pass"

// Memory is working memory that calls take and give back: passes run in order, so
// that the next call may write to it at once. The zero Memory is empty, and a nil one
// keeps nothing: every call has fresh scratch memory.
type Memory struct {
	free map[int][]Vector // by words
}

// take returns n words, undefined at first.
func (m *Memory) take(n int) Vector {
	v, _ := m.reuse(n)
	return v
}

// reuse also reports whether the words have been used before.
func (m *Memory) reuse(n int) (Vector, bool) {
	if m != nil {
		if list := m.free[n]; len(list) > 0 {
			m.free[n] = list[:len(list)-1]
			return list[len(list)-1], true
		}
	}
	return New(n), false
}

// zeros returns n words that are 0: a pass clears those that have been used before.
func (m *Memory) zeros(r pass.Runner, d Device, n int) (Vector, error) {
	v, used := m.reuse(n)
	if !used {
		return Zeros(n), nil
	}
	return v, Map(r, d, Expr("0u"), v)
}

// give takes vectors back; those that are none are ignored.
func (m *Memory) give(vectors ...Vector) {
	if m == nil {
		return
	}
	if m.free == nil {
		m.free = map[int][]Vector{}
	}
	for _, v := range vectors {
		if !v.None() {
			m.free[v.N] = append(m.free[v.N], v)
		}
	}
}
