package sql

import (
	"math/big"
	"strings"

	pg "github.com/pganalyze/pg_query_go/v6"

	"github.com/stencildb/stencildb/expr"
	"github.com/stencildb/stencildb/sqlstate"
	"github.com/stencildb/stencildb/table"
)

func (b *binder) literal(n *pg.A_Const) expr.Expr {
	c := b.literalOf(n)
	b.noted.literal(int(n.Location), c)
	return c
}

func (b *binder) literalOf(n *pg.A_Const) *expr.Const {
	loc := int(n.Location)
	pos := b.pos(loc)
	if n.Isnull {
		return &expr.Const{V: table.Null(table.Type{}), P: pos}
	}
	switch v := n.Val.(type) {
	case *pg.A_Const_Ival:
		return &expr.Const{V: table.Literal(int64(v.Ival.GetIval())), P: pos}
	case *pg.A_Const_Boolval:
		return &expr.Const{V: table.Bool(v.Boolval.GetBoolval()), P: pos}
	case *pg.A_Const_Sval:
		return &expr.Const{V: table.Value{S: v.Sval.GetSval()}, P: pos}
	case *pg.A_Const_Fval:
		c, ok := parseNumber(v.Fval.GetFval())
		if !ok {
			panic(b.coded(sqlstate.FeatureNotSupported, loc, "a number of more than %d digits is not supported", maxLiteral))
		}
		c.P = pos
		return c
	}
	panic(b.coded(sqlstate.FeatureNotSupported, loc, "bit strings are not supported"))
}

// maxLiteral is the most decimal digits of a numeric literal, zeros of its
// exponent included.
const maxLiteral = 1000

// parseNumber reads a number as PostgreSQL's lexer does (1_000, 0xff, 1.5e3, with a sign). An integer that
// fits is an INTEGER or a BIGINT, any other number a NUMERIC.
func parseNumber(s string) (*expr.Const, bool) {
	s = strings.ReplaceAll(strings.TrimSpace(s), "_", "")
	body, negative := s, false
	if body != "" && (body[0] == '-' || body[0] == '+') {
		negative, body = body[0] == '-', body[1:]
	}
	if body == "" || !isDigit(body[0]) && body[0] != '.' || len(body) > maxLiteral+10 {
		return nil, false
	}
	u, scale, integer := new(big.Int), 0, true
	if len(body) > 1 && body[0] == '0' && strings.IndexByte("xXoObB", body[1]) >= 0 {
		if _, ok := u.SetString(body, 0); !ok {
			return nil, false
		}
	} else {
		var ok bool
		if u, scale, ok = table.ParseNumber(body); !ok || max(scale, len(u.String())) > maxLiteral {
			return nil, false
		}
		integer, _ = table.NumberShape(body)
	}
	if negative {
		u.Neg(u)
	}
	if integer && u.IsInt64() {
		return &expr.Const{V: table.Literal(u.Int64())}, true
	}
	t := table.Type{Kind: table.Decimal, Scale: scale}
	return canonical(table.Dec(t, u), 0), true
}
