package predicate

import (
	"fmt"
	"strings"
)

// leafKey identifies what a leaf tests, without its text.
func leafKey(l Leaf) string {
	switch x := l.(type) {
	case *Compare:
		return fmt.Sprintf("c%d %d %d", x.Col, x.Op, x.Code)
	case *Range:
		return fmt.Sprintf("r%d %d %d", x.Col, x.Lo, x.Hi)
	case *NullTest:
		return fmt.Sprintf("n%d %t", x.Col, x.Not)
	case *Members:
		return fmt.Sprintf("m%d %v", x.Col, x.Spans)
	case *Match:
		return fmt.Sprintf("l%d %s", x.Col, x.Text)
	case *Computed:
		return fmt.Sprintf("p%d %s|%s|%s", x.Op, x.L.key(), x.R.key(), x.Fails.key())
	}
	if x, ok := l.(keyed); ok {
		return x.Key()
	}
	return fmt.Sprintf("%p", l)
}

// Key identifies what a simple predicate tests, without its text.
func (p *Pred) Key() string {
	if p.key == "" {
		p.key = leafKey(p.Leaf)
	}
	return p.key
}

// keyed is a leaf of another package, for the normal forms: leaves with equal keys
// are the same. A leaf that is not keyed is only the same as itself.
type keyed interface{ Key() string }

// key identifies a value.
func (v *Val) key() string {
	if v == nil {
		return "-"
	}
	var b strings.Builder
	fmt.Fprintf(&b, "%d,%d,%d,%d,%d,%v", v.Op, v.Column, v.Offset, v.Base, v.I, v.F)
	if v.Op == Lookup {
		fmt.Fprintf(&b, ",%p", v.Table)
	}
	if len(v.Kids) > 0 && !v.Float { // what is computed narrowly is another value than what is not
		fmt.Fprintf(&b, ",%v,%v", v.Lo, v.Hi)
	}
	for _, k := range v.Kids {
		b.WriteString("(" + k.key() + ")")
	}
	return b.String()
}
