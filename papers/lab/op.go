package lab

import "github.com/stencildb/stencildb/pass"

// Op says what a pass of a published algorithm is.
type Op struct {
	Paper string // the package: "pary"
	Name  string // the paper's name of the routine: "p-ary search"
	Over  string // what it goes over: "16 queries"
}

var _ pass.Op = Op{}

// String implements pass.Op.
func (o Op) String() string { return o.Paper + ": " + o.Name }

// Counts implements pass.Op.
func (o Op) Counts() string { return o.Over }

// Routine names what passes are grouped by: the sections of a paper's tables.
func (o Op) Routine() string { return o.Name }
