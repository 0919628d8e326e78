package lab

// Places of the table of a [Term], beside the number of its rows.
const (
	Judged   = 0  // the table over which a claim is judged
	Smallest = -1 // the smallest of several tables that have the case
	Largest  = -2
)

// Term is a value that was measured: the median time of a system in a case, in ms, or one of its counters.
type Term struct {
	Operation, System string
	Counter           string // ""; else the value is this counter
	Section           string // ""; else it is the time of this section
	PerWork           bool   // the value is divided by the case's work
	Rows              int    // of the table, or one of the places above
}

// Value is a number that follows from terms.
type Value struct {
	Terms []Term
	Of    func(v []float64) float64 // of their values, NaN where these do not suffice; nil: the first
	Some  bool                      // terms that were not measured are NaN; at least one of the first one's system was
}

// Median is the median time of a system in a case, in ms.
func Median(operation, system string) Value {
	return Value{Terms: []Term{{Operation: operation, System: system}}}
}

// Counted is a counter of a system in a case.
func Counted(operation, system, counter string) Value {
	return Value{Terms: []Term{{Operation: operation, System: system, Counter: counter}}}
}

// Ratio is a over b.
func Ratio(a, b Term) Value {
	return Value{Terms: []Term{a, b}, Of: func(v []float64) float64 { return v[0] / v[1] }}
}

// Speedup is how many times as fast a system is as another one in a case.
func Speedup(operation, of, over string) Value {
	return Ratio(Term{Operation: operation, System: over}, Term{Operation: operation, System: of})
}

// Verdict is how a claim is judged.
type Verdict int

// The verdicts.
const (
	Faster  Verdict = iota // a ratio, on the same side of 1 as the paper's, within a factor of 1.5 of it or beyond
	Alike                  // a ratio of 1
	Near                   // a number within a factor of 1.5 of the paper's
	AtMost                 // a number that is not larger than the paper's
	AtLeast                // one that is not smaller
)

// Claim is something that a paper says, as data.
type Claim struct {
	Figure Name    // with which it is shown
	What   string  // in few words
	Says   string  // as a sentence's beginning: "p-ary search has up to 30 % more throughput than binary search"
	Where  string  // in the paper: "S3, S4, T1"
	Number float64 // the paper's; 0 where it gives none
	Unit   string  // of the number: "", "%", "ms", "times"
	// Of and Over name what is compared.
	Of, Over string
	Here     Value
	Verdict  Verdict
}

// Table is a published table, repeated cell by cell.
type Table struct {
	Title string
	Heads []string // of the columns, that of the lines' names first
	Rows  []Row
	Write func(float64) string // nil: two or three digits
	Notes []string
}

// Row is a line of a table.
type Row struct {
	Name  string
	Paper []float64 // 0 where the paper has no number
	Here  []Value
}
