package sql

import (
	"math"
	"math/rand/v2"

	pg "github.com/pganalyze/pg_query_go/v6"
	"google.golang.org/protobuf/proto"

	"github.com/stencildb/stencildb/expr"
	"github.com/stencildb/stencildb/plan"
	"github.com/stencildb/stencildb/sqlstate"
	"github.com/stencildb/stencildb/table"
)

// randomFunctions give another value for each row and each time. They become functions of the row's number, from a window function,
// and of a seed that is new when the statement is bound.
var randomFunctions = map[string]string{"random": "random_of", "gen_random_uuid": "uuid_of"}

// random is a call of one of them. Without FROM it is a constant; among the items of a SELECT a value of each row.
func (c *call) random() expr.Expr {
	if len(c.Args) > 0 {
		panic(c.coded(sqlstate.UndefinedFunction, "%s takes no argument", c.name))
	}
	seed := rand.Int64()
	switch {
	case c.Offset == nowhere:
		panic(c.coded(sqlstate.FeatureNotSupported, "%s() in the definition of a table is not supported: write it in the INSERT", c.name))
	case c.scope == nil && c.outer != nil: // it may depend on the rows around
		return expr.NewCall(expr.Functions(randomFunctions[c.name])[0], []expr.Expr{&expr.Const{V: table.Int(0), P: c.at}, &expr.Const{V: table.Int(seed), P: c.at}}, c.at)
	case c.scope == nil && c.name == "random":
		return &expr.Const{V: table.Float(expr.Random(0, seed)), P: c.at}
	case c.scope == nil:
		return &expr.Const{V: table.Str(expr.UUID(0, seed)), P: c.at}
	case c.place != inItems:
		where := places[c.place]
		if c.place == inAggregate {
			where = "an aggregate"
		}
		panic(c.coded(sqlstate.FeatureNotSupported, "%s() is not supported in %s: compute it in FROM, as in FROM (SELECT *, %s() AS r FROM t) s", c.name, where, c.name))
	}
	row := c.expr(c.written(rowNumber))
	return function(randomFunctions[c.name], []expr.Expr{row, &expr.Const{V: table.Int(seed), P: c.at}}, c.at)
}

// sampled is a table with TABLESAMPLE as a subquery of the rows whose number and seed give less than a part of all.
func (b *binder) sampled(n *pg.RangeTableSample) (plan.Node, *scope) {
	loc := b.keyword("tablesample")
	method := lastName(n.Method)
	r := n.Relation.GetRangeVar()
	switch {
	case method != "bernoulli" && method != "system":
		panic(b.coded(sqlstate.UndefinedObject, loc, "tablesample method %s does not exist; there are BERNOULLI and SYSTEM", clipped(method)))
	case r == nil || len(n.Args) != 1:
		panic(b.coded(sqlstate.InvalidTablesampleArgument, loc, "TABLESAMPLE is of a table, and takes one percentage: t TABLESAMPLE BERNOULLI (10)"))
	}
	number := func(n *pg.Node, what string) float64 {
		scope, place := b.scope, b.place
		b.scope, b.place = nil, inLimit
		e := coerce(b.expr(n), double)
		b.scope, b.place = scope, place
		if !e.Type().IsNumeric() {
			panic(b.coded(sqlstate.DatatypeMismatch, loc, "the %s of TABLESAMPLE is a number", what))
		}
		k, ok := convert(e, double, e.Pos()).(*expr.Const)
		if !ok || k.V.Null {
			panic(b.coded(sqlstate.FeatureNotSupported, loc, "the %s of TABLESAMPLE is a constant", what))
		}
		return k.V.F
	}
	percent := number(n.Args[0], "percentage")
	if !(percent >= 0 && percent <= 100) {
		panic(b.coded(sqlstate.InvalidTablesampleArgument, loc, "sample percentage must be between 0 and 100"))
	}
	seed := rand.Int64()
	if n.Repeatable != nil {
		seed = int64(math.Float64bits(number(n.Repeatable, "seed")))
	}
	of := proto.Clone(r).(*pg.RangeVar)
	of.Alias = nil
	star := &pg.ColumnRef{Fields: []*pg.Node{{Node: &pg.Node_AStar{AStar: &pg.A_Star{}}}}, Location: r.Location}
	sel := &pg.SelectStmt{FromClause: []*pg.Node{{Node: &pg.Node_RangeVar{RangeVar: of}}}, LimitOption: pg.LimitOption_LIMIT_OPTION_DEFAULT, Op: pg.SetOperation_SETOP_NONE}
	for _, item := range []*pg.Node{{Node: &pg.Node_ColumnRef{ColumnRef: star}}, b.written(rowNumber)} {
		sel.TargetList = append(sel.TargetList, &pg.Node{Node: &pg.Node_ResTarget{ResTarget: &pg.ResTarget{Val: item, Location: r.Location}}})
	}
	all, _ := b.derived(&plan.Subplan{Tree: b.nested(sel, nil).query()}, nil, r.Relname, loc)
	fields := all.Fields()
	last := len(fields) - 1
	out := &plan.Project{}
	for i, f := range fields[:last] {
		out.Items = append(out.Items, plan.Item{Name: f.Name, E: &expr.Column{Index: i, Name: f.Name, T: f.Type, P: b.pos(loc)}})
	}
	at := b.pos(loc)
	draw := function(randomFunctions["random"], []expr.Expr{&expr.Column{Index: last, Name: fields[last].Name, T: fields[last].Type, P: at}, &expr.Const{V: table.Int(seed), P: at}}, at)
	out.Input = &plan.Filter{Input: all, Where: &expr.Compare{Op: expr.LT, L: draw, R: &expr.Const{V: table.Float(percent / 100), P: at}, P: at}}
	return b.derived(&plan.Subplan{Tree: out}, r.Alias, r.Relname, loc)
}

// rowNumber numbers the rows from 1 on, those of one table in its order.
const rowNumber = "row_number() OVER ()"
