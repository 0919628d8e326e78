package hsu

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// Kind is what a token of a condition is.
type Kind int

// The kinds. Postfix has the first three.
const (
	Operand Kind = iota // a comparison of a column with a number
	And
	Or
	LeftParenthesis
	RightParenthesis
)

// Token is one of a condition.
type Token struct {
	Kind    Kind
	Column  int
	Compare string // = < > <= >= <>
	Value   int32
}

// comparisons are those of SQL, each as GLSL has it and in Go.
var comparisons = map[string]struct {
	glsl  string
	holds func(a, b int32) bool
}{
	"=": {"==", func(a, b int32) bool { return a == b }}, "<>": {"!=", func(a, b int32) bool { return a != b }},
	"<": {"<", func(a, b int32) bool { return a < b }}, "<=": {"<=", func(a, b int32) bool { return a <= b }},
	">": {">", func(a, b int32) bool { return a > b }}, ">=": {">=", func(a, b int32) bool { return a >= b }},
}

// Where reads a condition in infix: comparisons of columns with numbers, AND, OR and parentheses, with blanks between all but parentheses.
func Where(text string, columns []string) (infix []Token, err error) {
	words := strings.Fields(strings.NewReplacer("(", " ( ", ")", " ) ").Replace(text))
	single := map[string]Kind{"AND": And, "OR": Or, "(": LeftParenthesis, ")": RightParenthesis}
	for len(words) > 0 {
		if k, ok := single[strings.ToUpper(words[0])]; ok {
			infix, words = append(infix, Token{Kind: k}), words[1:]
			continue
		}
		if len(words) < 3 {
			return nil, fmt.Errorf("hsu: %q: a comparison is a column, an operator and a number", strings.Join(words, " "))
		}
		t := Token{Column: slices.Index(columns, words[0]), Compare: words[1]}
		value, err := strconv.ParseInt(words[2], 10, 32)
		switch _, ok := comparisons[t.Compare]; {
		case t.Column < 0:
			return nil, fmt.Errorf("hsu: no column %s: there are %s", words[0], strings.Join(columns, ", "))
		case !ok:
			return nil, fmt.Errorf("hsu: no operator %s: there are = < > <= >= <>", t.Compare)
		case err != nil:
			return nil, fmt.Errorf("hsu: %s is no integer of 32 bits", words[2])
		}
		t.Value = int32(value)
		infix, words = append(infix, t), words[3:]
	}
	return infix, nil
}

// Postfix is a condition in infix as postfix, AND before OR (section 3.3.2). Of k comparisons it has 2k - 1 tokens.
func Postfix(infix []Token) (postfix []Token, err error) {
	var waiting []Token
	pop := func(while func(Kind) bool) {
		for n := len(waiting) - 1; n >= 0 && while(waiting[n].Kind); n-- {
			postfix, waiting = append(postfix, waiting[n]), waiting[:n]
		}
	}
	operandNext := true
	wrong := func(t Token, what string) error {
		return fmt.Errorf("hsu: token %d of the condition is %s", slices.Index(infix, t)+1, what)
	}
	for _, t := range infix {
		if begins := t.Kind == Operand || t.Kind == LeftParenthesis; begins != operandNext {
			return nil, wrong(t, map[bool]string{true: "no operator", false: "no comparison"}[begins])
		}
		switch t.Kind {
		case Operand:
			postfix, operandNext = append(postfix, t), false
		case And, Or:
			pop(func(k Kind) bool { return k == And || k == Or && t.Kind == Or })
			waiting, operandNext = append(waiting, t), true
		case LeftParenthesis:
			waiting = append(waiting, t)
		case RightParenthesis:
			pop(func(k Kind) bool { return k != LeftParenthesis })
			if len(waiting) == 0 {
				return nil, wrong(t, "a parenthesis that nothing opens")
			}
			waiting = waiting[:len(waiting)-1]
		}
	}
	if operandNext {
		return nil, fmt.Errorf("hsu: the condition ends before a comparison")
	}
	pop(func(k Kind) bool { return k != LeftParenthesis })
	if len(waiting) > 0 {
		return nil, fmt.Errorf("hsu: a parenthesis of the condition is not closed")
	}
	return postfix, nil
}

// levels are those that the stack of a postfix needs.
func levels(postfix []Token) (most int) {
	top := 0
	for _, t := range postfix {
		if t.Kind == Operand {
			top++
		} else {
			top--
		}
		most = max(most, top)
	}
	return most
}
