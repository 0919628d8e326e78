package predicate

// BooleanTest is one of the six things that can be asked of a condition.
type BooleanTest uint8

const (
	IsTrue BooleanTest = iota
	IsFalse
	IsUnknown
	NotTrue
	NotFalse
	NotUnknown
)

// Not exchanges TRUE and FALSE.
func (f BooleanTest) Not() BooleanTest {
	return [...]BooleanTest{IsFalse, IsTrue, IsUnknown, NotFalse, NotTrue, NotUnknown}[f]
}

// Opposite holds for the records for which f does not.
func (f BooleanTest) Opposite() BooleanTest {
	return [...]BooleanTest{NotTrue, NotFalse, NotUnknown, IsTrue, IsFalse, IsUnknown}[f]
}

// Raises asks for the records for which evaluating is an error.
const Raises = NotUnknown + 1
