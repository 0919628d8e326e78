package pipeline

import (
	"strings"
	"testing"

	"github.com/stencildb/stencildb/expr"
	"github.com/stencildb/stencildb/plan"
	"github.com/stencildb/stencildb/table"
)

var (
	bigint = table.Type{Kind: table.BigInt}
	text   = table.Type{Kind: table.Varchar}
)

func column(i int, name string, t table.Type) *expr.Column {
	return &expr.Column{Index: i, Name: name, T: t, P: -1}
}

func constant(n int64) *expr.Const { return &expr.Const{V: table.Literal(n), P: -1} }

// twoTables is the plan of this statement, with the nodes that it does:
//
//	SELECT d.name, COUNT(*) FROM f JOIN d ON f.d = d.k AND f.v > d.k WHERE f.v < (SELECT 5) GROUP BY d.name ORDER BY 2
func twoTables() (*Plan, plan.Node) {
	f := []table.Field{{Name: "d", Type: bigint}, {Name: "v", Type: bigint}}
	d := []table.Field{{Name: "k", Type: bigint}, {Name: "name", Type: text}}
	five := &plan.Subplan{Tree: &plan.Project{Input: &plan.Values{Rows: [][]expr.Expr{{}}}, Items: []plan.Item{{Name: "five", E: constant(5)}}}}
	query := &expr.Subquery{Of: five, N: 1, T: bigint, P: -1}
	v := column(1, "v", bigint)
	left, right := &plan.Scan{Table: "f", Columns: f}, &plan.Scan{Table: "d", Columns: d}
	filter := &plan.Filter{Input: left, Where: &expr.Compare{Op: expr.LT, L: v, R: query, P: -1}}
	join := &plan.Join{Left: filter, Right: right}
	count := expr.Aggregate{Kind: expr.CountAll, Col: -1, P: -1}
	groups := &plan.Aggregate{Input: join, Keys: []expr.Expr{column(3, "name", text)}, Aggs: []expr.Aggregate{count}}
	sort := &plan.Sort{Input: groups, Keys: []expr.SortKey{{E: &expr.AggRef{Index: 1, Name: "COUNT(*)", T: bigint, P: -1}}}, Limit: -1}

	value := &Pipeline{Number: 1, Source: &Values{Columns: []table.Field{}, Rows: [][]expr.Expr{{}}}, Steps: []Step{&Compute{[]plan.Item{{Name: "five", E: constant(5)}}}},
		Sink: &Scalar{Column: 0, Of: five, N: 1}, Rows: []float64{1, 1, 1}, Nodes: []plan.Node{five.Tree, five.Tree.Inputs()[0]}}
	build := &Pipeline{Number: 2, Source: &Scan{Table: "d", Columns: []int{0, 1}, Of: d},
		Sink: &Build{Kind: DenseArray, Keys: []expr.Expr{column(0, "k", bigint)}, Columns: []int{1, 0}, Span: 20, Unique: true}, Rows: []float64{10, 10}, Nodes: []plan.Node{right}}
	probe := &Pipeline{Number: 3, Source: &Scan{Table: "f", Columns: []int{0, 1}, Of: f}, Steps: []Step{
		&Filter{&expr.Compare{Op: expr.LT, L: v, R: query, P: -1}},
		&Probe{Kind: Inner, Build: build, Keys: []expr.Expr{column(0, "d", bigint)}, Residual: &expr.Compare{Op: expr.GT, L: v, R: column(3, "k", bigint), P: -1}},
	}, Sink: &Groups{Keys: []expr.Expr{column(2, "name", text)}, Aggs: []expr.Aggregate{count}}, Rows: []float64{1000, 500, 400, 8}, Nodes: []plan.Node{left, filter, join, groups}}
	order := &Pipeline{Number: 4, Source: &Relation{[]*Pipeline{probe}},
		Sink: &Sort{Keys: []expr.SortKey{{E: column(1, "COUNT(*)", bigint)}}, Columns: []int{0, 1}, Count: 3}, Rows: []float64{8, 3}, Nodes: []plan.Node{sort}}
	return &Plan{[]*Pipeline{value, build, probe, order}, Answer{Of: order, Columns: []int{0, 1}, Fields: sort.Fields()}}, sort
}

func TestPlanPrintsItself(t *testing.T) {
	p, root := twoTables()
	if err := p.Check(root); err != nil {
		t.Fatal(err)
	}
	const want = `Pipeline 1: 1 row in, 1 out
  Values(1 row)
  Compute(5 AS five) (1 row)
  Scalar(subquery 1) leaves five
Pipeline 2: 10 rows in, 10 out
  Scan(d: k, name)
  Build(dense array by k, range of 20) leaves name, k
Pipeline 3: 1,000 rows in, 8 out
  Scan(f: d, v)
  Filter(v < ((subquery 1))) (500 rows)
  Probe(inner, pipeline 2 by d, residual v > k) (400 rows)
  Groups(COUNT(*) BY name)
Pipeline 4: 8 rows in, 3 out
  Relation(pipeline 3)
  TopK("COUNT(*)", the first 3) leaves name, "COUNT(*)"
Answer: name, "COUNT(*)" of pipeline 4
`
	if p.String() != want {
		t.Errorf("got\n%swant\n%s", p, want)
	}
	text, err := p.MarshalJSON()
	for _, part := range []string{`"pipeline":3,"reads":[2],"source":"Scan(f: d, v)","expected_rows_in":1000,"steps":[{"step":"Filter(v < ((subquery 1)))","expected_rows":500},`, `"build":"dense array"`} {
		if err != nil || !strings.Contains(string(text), part) {
			t.Errorf("%s has no %s: %v", text, part, err)
		}
	}
}

// Check finds what is wrong with a plan.
func TestCheckRefuses(t *testing.T) {
	for want, change := range map[string]func(p *Plan, root *plan.Node){
		"pipeline 1 has the number 7":                       func(p *Plan, _ *plan.Node) { p.Pipelines[0].Number = 7 },
		"it has no source or no sink":                       func(p *Plan, _ *plan.Node) { p.Pipelines[1].Sink = nil },
		"2 estimates of 2 steps":                            func(p *Plan, _ *plan.Node) { p.Pipelines[2].Rows = []float64{1, 2} },
		"-1 rows are expected":                              func(p *Plan, _ *plan.Node) { p.Pipelines[2].Rows[1] = -1 },
		"it reads a pipeline that does not stand before it": func(p *Plan, _ *plan.Node) { p.Pipelines[2].Steps[1].(*Probe).Build = p.Pipelines[3] },
		"pipeline 2 leaves no relation":                     func(p *Plan, _ *plan.Node) { p.Pipelines[3].Source = &Relation{[]*Pipeline{p.Pipelines[1]}} },
		"pipeline 1 is no build":                            func(p *Plan, _ *plan.Node) { p.Pipelines[2].Steps[1].(*Probe).Build = p.Pipelines[0] },
		"2 keys, and the build has 1":                       func(p *Plan, _ *plan.Node) { s := p.Pipelines[2].Steps[1].(*Probe); s.Keys = append(s.Keys, s.Keys[0]) },
		"key 1 is a character varying, and a bigint in the build": func(p *Plan, _ *plan.Node) {
			p.Pipelines[2].Steps[1].(*Probe).Keys[0] = &expr.Const{V: table.Str("x"), P: -1}
		},
		"more than membership is asked of a bitmap":       func(p *Plan, _ *plan.Node) { p.Pipelines[1].Sink.(*Build).Kind = Bitmap },
		"a list has 1 keys":                               func(p *Plan, _ *plan.Node) { p.Pipelines[1].Sink.(*Build).Kind = List },
		"v is column 5 of 2":                              func(p *Plan, _ *plan.Node) { p.Pipelines[2].Steps[0] = &Filter{column(5, "v", bigint)} },
		"v is a character varying, and column 1 a bigint": func(p *Plan, _ *plan.Node) { p.Pipelines[2].Steps[0] = &Filter{column(1, "v", text)} },
		"k is column 9 of 4":                              func(p *Plan, _ *plan.Node) { p.Pipelines[2].Steps[1].(*Probe).Residual = column(9, "k", bigint) },
		"(subquery 2) is no value of an earlier pipeline": func(p *Plan, _ *plan.Node) {
			p.Pipelines[2].Steps[0] = &Filter{&expr.Subquery{Of: &plan.Subplan{}, N: 2, T: bigint}}
		},
		"COUNT(*) is no column": func(p *Plan, _ *plan.Node) {
			p.Pipelines[2].Steps[0] = &Filter{&expr.AggRef{Name: "COUNT(*)", T: bigint}}
		},
		"there is no column 4 of 2":                       func(p *Plan, _ *plan.Node) { p.Pipelines[3].Sink.(*Sort).Columns = []int{4} },
		"there is no column 2 of 2":                       func(p *Plan, _ *plan.Node) { p.Pipelines[1].Source.(*Scan).Columns = []int{2} },
		"there is no key 1":                               func(p *Plan, _ *plan.Node) { p.Pipelines[2].Sink.(*Groups).Sets = [][]int{{1}} },
		"1 unique keys of 0":                              func(p *Plan, _ *plan.Node) { p.Pipelines[3].Sink = &Sort{Columns: []int{0, 1}, Count: -1, Unique: 1} },
		"no pipeline leaves the answer":                   func(p *Plan, _ *plan.Node) { p.Answer.Of = nil },
		"pipeline 2 leaves no rows of an answer":          func(p *Plan, _ *plan.Node) { p.Answer.Of = p.Pipelines[1] },
		"the answer has other columns than the statement": func(p *Plan, _ *plan.Node) { p.Answer.Columns = []int{1, 0} },
		"pipeline 4: nothing reads what it leaves":        func(p *Plan, _ *plan.Node) { p.Answer.Of = p.Pipelines[2] },
		"pipeline 1: nothing reads what it leaves":        func(p *Plan, _ *plan.Node) { p.Pipelines[2].Steps[0] = &Filter{constant(1)} },
		"pipeline 4: Scan(f) is done twice, or is no node": func(p *Plan, _ *plan.Node) {
			p.Pipelines[3].Nodes = append(p.Pipelines[3].Nodes, p.Pipelines[2].Nodes[0])
		},
		"no pipeline does Sort":     func(p *Plan, _ *plan.Node) { p.Pipelines[3].Nodes = nil },
		"no pipeline does Distinct": func(p *Plan, root *plan.Node) { *root = &plan.Distinct{Input: *root} },
		"pipeline 3 does not note what matches": func(p *Plan, _ *plan.Node) {
			p.Pipelines[3].Source = &BuildScan{Build: p.Pipelines[1], After: p.Pipelines[2]}
		},
		"pipeline 3 is no build": func(p *Plan, _ *plan.Node) {
			p.Pipelines[3].Source = &BuildScan{Build: p.Pipelines[2], After: p.Pipelines[1]}
		},
		"1 columns of an index, and 0 values": func(p *Plan, _ *plan.Node) {
			p.Pipelines[1].Source = &Lookup{Of: p.Pipelines[1].Source.(*Scan).Of, Columns: []int{0, 1}, By: []int{0}}
		},
		"pipeline 1 leaves other columns": func(p *Plan, _ *plan.Node) {
			p.Pipelines[0].Sink = &Rows{Columns: []int{0}, Count: -1}
			p.Pipelines[2].Steps = p.Pipelines[2].Steps[1:]
			p.Pipelines[2].Rows = p.Pipelines[2].Rows[1:]
			p.Pipelines[3].Source = &Relation{[]*Pipeline{p.Pipelines[2], p.Pipelines[0]}}
		},
		"it reads no pipeline": func(p *Plan, _ *plan.Node) { p.Pipelines[3].Source = &Relation{} },
	} {
		p, root := twoTables()
		change(p, &root)
		func() {
			defer func() {
				if r := recover(); r != nil {
					t.Errorf("%s: panic %v", want, r)
				}
			}()
			if err := p.Check(root); err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("got %v, want %s", err, want)
			}
		}()
	}
}

// The kind of a build follows from its keys' range, from its rows, and from what is asked of it.
func TestKindOfBuild(t *testing.T) {
	for _, c := range []struct {
		name                  string
		rows, bytes           float64
		keys                  int
		span                  float64
		exact, unique, member bool
		want                  BuildKind
	}{
		{"no keys", 10, 8, 0, 0, false, false, false, List},
		{"membership in a range", 1e6, 8, 1, 1e8, true, false, true, Bitmap},
		{"membership in a range that is too large", 1e6, 8, 1, MaxSlots + 1, true, false, true, HashTable},
		{"membership by two keys", 1e6, 8, 2, 100, true, false, true, HashTable},
		{"as many values as rows", 1e7, 16, 1, 1e7, true, true, false, DenseArray},
		{"a slot in 16", 1e7, 4, 1, 1.6e8, true, true, false, DenseArray},
		{"fewer", 1e7, 4, 1, 1.7e8, true, true, false, HashTable},
		{"few rows of a range that a cache has", 10, 16, 1, CachedSlots, true, true, false, DenseArray},
		{"keys that repeat", 1e4, 16, 1, 1e4, true, false, false, HashTable},
		{"other scales", 1e4, 16, 1, 1e4, false, true, false, HashTable},
		{"an unknown range", 1e4, 16, 1, 0, true, true, false, HashTable},
		{"more than a cache has", 1e7, 16, 2, 0, true, true, false, Partitioned},
	} {
		if got := KindOf(c.rows, c.bytes, c.keys, c.span, c.exact, c.unique, c.member); got != c.want {
			t.Errorf("%s: %s, want %s", c.name, got, c.want)
		}
	}
}
