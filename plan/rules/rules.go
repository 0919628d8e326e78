package rules

import (
	"fmt"
	"slices"
	"strings"

	"github.com/stencildb/stencildb/internal/xslices"
	"github.com/stencildb/stencildb/plan"
)

// Rule rewrites a statement's tree into one that gives the same rows.
type Rule struct {
	Name, Does string
	// node is what it makes of a node whose inputs it has seen. It is nil for a rule that looks at whole queries: [Unnest], [Inline], [PruneColumns], [PushIntoSubquery], [PushLimitIntoUnion], [PushAggregate].
	node func(plan.Node) plan.Node
}

// The rules that look at whole queries.
const unnest, inline, prune, pushInto, limitInto, pushAggregate = "unnest", "inline", "prune", "push into", "limit into", "push aggregate"

// Rules are those that there are, in the order in which they are applied.
var Rules = []Rule{
	{unnest, "EXISTS and IN become semi joins; a subquery that compares with columns around it is grouped by its own; off: it runs for each different value of them", nil},
	{inline, "a query in FROM or WITH that only filters and joins, and is read once, becomes part of the query around it", nil},
	{prune, "a subquery computes only the columns that are read", nil},
	{pushInto, "a condition on a subquery in FROM or WITH that is read once goes into it: below its groups, or to its HAVING", nil},
	{limitInto, "LIMIT goes into the queries of a UNION ALL that is read once", nil},
	{"factor", "what all operands of an OR have joins and filters before it", Factor},
	{"infer filter", "what a condition says of a join's column holds for the columns that equal it", InferFilter},
	{"push filter", "a condition goes below the joins, to the table that it reads", PushFilter},
	{"push semi", "a semi join goes below the inner join around it", PushSemi},
	{"group distinct", "DISTINCT of rows of a table groups them", GroupDistinct},
	{"top rows", "a sort below LIMIT keeps only the rows that are wanted", TopN},
	{pushAggregate, "a table of which a group has many rows is grouped before it is joined", nil},
	{"push limit", "LIMIT goes below the select list", PushLimit},
}

// Off is a set of rules that are left out: a bit for each of [Rules].
type Off uint32

// ParseOff reads names with commas between them.
func ParseOff(text string) (off Off, err error) {
	for name := range strings.SplitSeq(text, ",") {
		name = strings.Join(strings.Fields(strings.ToLower(name)), " ")
		if name == "" {
			continue
		}
		i := slices.IndexFunc(Rules, func(r Rule) bool { return r.Name == name })
		if i < 0 {
			names := xslices.Map(Rules, func(r Rule) string { return r.Name })
			return 0, fmt.Errorf("no rule %q: take some of %s", name, strings.Join(names, ", "))
		}
		off |= 1 << i
	}
	return off, nil
}

// String is the names as [ParseOff] reads them.
func (o Off) String() string {
	var names []string
	for i, r := range Rules {
		if o>>i&1 != 0 {
			names = append(names, r.Name)
		}
	}
	return strings.Join(names, ", ")
}

func (o Off) has(name string) bool {
	return o>>slices.IndexFunc(Rules, func(r Rule) bool { return r.Name == name })&1 != 0
}

// Rewrite is a tree after the rules that look at nodes, but those that are off. Of filters one above the other it always makes one.
func (o Off) Rewrite(tree plan.Node) plan.Node {
	tree = plan.Rewrite(tree, mergeFilters)
	for i, r := range Rules {
		if r.node != nil && o>>i&1 == 0 {
			tree = plan.Rewrite(tree, r.node)
		}
	}
	return tree
}
