package predicate

// FoldBooleans lists what an AND or OR of in has left to decide: nested ones of the same
// kind are flattened, TRUE and FALSE folded. One that decides the whole is all that is
// left, and none is where nothing but the neutral constant was. node tells the
// operation of a T and what it joins.
func FoldBooleans[T any](op Op, in []T, node func(T) (Op, []T)) []T {
	var list []T
	for _, k := range in {
		switch of, kids := node(k); of {
		case op.Neutral():
		case op.Dual().Neutral():
			return []T{k}
		case op:
			list = append(list, kids...)
		default:
			list = append(list, k)
		}
	}
	return list
}

// Dual exchanges And and Or.
func (op Op) Dual() Op { return And + Or - op }

// Neutral is the constant that an AND or OR does without.
func (op Op) Neutral() Op {
	if op == And {
		return True
	}
	return False
}

// FoldPreds is [FoldBooleans] of predicates.
func FoldPreds(op Op, in []*Pred) []*Pred {
	return FoldBooleans(op, in, func(p *Pred) (Op, []*Pred) { return p.Op, p.Kids })
}

// Combine makes an AND or OR of predicates, as [FoldBooleans] does.
func Combine(op Op, kids ...*Pred) *Pred { return NewPred(op, FoldPreds(op, kids)) }

// NewPred makes an AND or OR of kids that are not constant.
func NewPred(op Op, kids []*Pred) *Pred {
	switch len(kids) {
	case 0:
		return &Pred{Op: op.Neutral()}
	case 1:
		return kids[0]
	}
	return &Pred{Op: op, Kids: kids}
}
