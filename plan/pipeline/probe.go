package pipeline

import (
	"slices"

	"github.com/stencildb/stencildb/expr"
	"github.com/stencildb/stencildb/table"
)

// ProbeKind is what a [Probe] makes of a row and of the rows of the build that match it.
type ProbeKind uint8

// The kinds. Inner gives each pair, Left also a row without partners, beside NULLs. Right is Inner, and Full is Left, and both note which rows of
// the build have matched: see [BuildScan]. Note does that alone, and gives no rows. Semi keeps the rows that have a partner, Anti those that
// have none, Mark adds a column that says which.
const (
	Inner ProbeKind = iota
	Left
	Right
	Full
	Semi
	Anti
	Mark
	Note
)

func (k ProbeKind) String() string {
	return [...]string{"inner", "left", "right", "full", "semi", "anti", "mark", "note matches"}[k]
}

// Adds reports that the columns of the build are added to the rows.
func (k ProbeKind) Adds() bool { return k <= Full }

// Notes reports that the rows of the build that have matched are noted.
func (k ProbeKind) Notes() bool { return k == Right || k == Full || k == Note }

// Probe looks rows up in a build that an earlier pipeline has made.
type Probe struct {
	Kind  ProbeKind
	Build *Pipeline   // whose sink is a [Build]
	Keys  []expr.Expr // over the layout, as many as the build has; none: every row of the build is a partner
	// Residual, when set, has to be TRUE of a pair besides. It is over the layout, behind which the columns of the build stand.
	Residual expr.Expr
}

// Fields, Reads, Exprs and String implement [Step].
func (p *Probe) Fields(in []table.Field) []table.Field {
	switch {
	case p.Kind.Adds():
		return slices.Concat(in, p.Build.Fields())
	case p.Kind == Mark:
		return append(slices.Clone(in), table.Field{Name: "mark", Type: table.Type{Kind: table.Boolean}})
	}
	return in
}

func (p *Probe) Reads() []*Pipeline { return []*Pipeline{p.Build} }
func (p *Probe) Exprs() []expr.Expr { return p.Keys }

func (p *Probe) String() string {
	text := "Probe(" + p.Kind.String() + ", " + p.Build.name()
	if len(p.Keys) > 0 {
		text += " by " + texts(p.Keys, expr.Expr.String)
	}
	if p.Residual != nil {
		text += ", residual " + p.Residual.String()
	}
	return text + ")"
}
