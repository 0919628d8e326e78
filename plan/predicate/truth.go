package predicate

// BooleanTest is one of the six things that can be asked of a condition.
type BooleanTest uint8

// The six, as SQL has them: x IS TRUE, IS FALSE, IS UNKNOWN, IS NOT TRUE, IS NOT FALSE, IS NOT UNKNOWN.
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

// Raises, of a [Scalar], asks for the records for which evaluating is an error.
const Raises = NotUnknown + 1
