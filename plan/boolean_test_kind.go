package plan

// form is one of the six things that can be asked of a condition.
type form uint8

const (
	isTrue form = iota
	isFalse
	isUnknown
	notTrue
	notFalse
	notUnknown
)

// not exchanges TRUE and FALSE.
func (f form) not() form {
	return [...]form{isFalse, isTrue, isUnknown, notFalse, notTrue, notUnknown}[f]
}

// opposite holds for the records for which f does not.
func (f form) opposite() form {
	return [...]form{notTrue, notFalse, notUnknown, isTrue, isFalse, isUnknown}[f]
}

// raises asks for the records for which evaluating is an error.
const raises = notUnknown + 1
