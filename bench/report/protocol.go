package report

// CaseByCase is the order in which a run goes.
const CaseByCase = "case by case; within a case the systems take turns"

// FreshProtocol is the protocol in which each execution has other parameters.
const FreshProtocol = "fresh"

// MaxAttributes is how many columns a suite uses: the paper's tables have four
// attributes.
const MaxAttributes = 4

// How often a case runs in some protocols.
const (
	PaperRuns   = 100 // of the papers
	ColdRuns    = 3   // with cold columns
	ProfileRuns = 3   // for the times of single passes
)

// own is the name of the suite of a user's own statements. LoadCase is that of its case of the loading of a
// file, with a number where there are several.
const (
	OwnStatements = "statements"
	LoadCase      = "load"
)
