package plan

// Junction lists what an AND or OR of in has left to decide: nested ones of the same
// kind are flattened, TRUE and FALSE folded. One that decides the whole is all that is
// left, and none is where nothing but the neutral constant was. node tells the
// operation of a T and what it joins.
func Junction[T any](op Op, in []T, node func(T) (Op, []T)) []T {
	var list []T
	for _, k := range in {
		switch of, kids := node(k); of {
		case op.neutral():
		case op.dual().neutral():
			return []T{k}
		case op:
			list = append(list, kids...)
		default:
			list = append(list, k)
		}
	}
	return list
}

// dual exchanges And and Or.
func (op Op) dual() Op { return And + Or - op }

// neutral is the constant that an AND or OR does without.
func (op Op) neutral() Op {
	if op == And {
		return True
	}
	return False
}

func (p *Pred) node() (Op, []*Pred) { return p.Op, p.Kids }

// Combine makes an AND or OR of predicates, as [Junction] does.
func Combine(op Op, kids ...*Pred) *Pred { return join(op, Junction(op, kids, (*Pred).node)) }

// join makes an AND or OR of kids that are not constant.
func join(op Op, kids []*Pred) *Pred {
	switch len(kids) {
	case 0:
		return &Pred{Op: op.neutral()}
	case 1:
		return kids[0]
	}
	return &Pred{Op: op, Kids: kids}
}
