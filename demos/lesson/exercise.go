package lesson

import (
	"context"
	"errors"
	"fmt"
	"math/big"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// Exercise is a question on a lesson's page that asks for state and reasoning.
type Exercise struct {
	Ask     string            // Markdown, one paragraph
	Choices []string          // one of them is the answer; nil where that is a whole number
	Answer  string            // a choice, a number, or a SELECT of one number over the flights
	Hints   map[string]string // by typical wrong answers, written as Answer is
	Why     string            // said to who is right
}

// Key is what an answer to an exercise is judged by: SELECTs are answered.
type Key struct {
	Choices []string          `json:"choices,omitempty"`
	Answer  string            `json:"answer"`
	Hints   map[string]string `json:"hints,omitempty"` // by wrong answer
	Why     string            `json:"why"`
}

// Key answers the SELECTs of the exercise on backend cpu.
func (e *Exercise) Key(ctx context.Context) (*Key, error) {
	of := func(answer string) (string, error) {
		if !strings.HasPrefix(answer, "SELECT ") {
			return answer, nil
		}
		n, err := SQL(ctx, answer)
		return fmt.Sprint(n), err
	}
	answer, err := of(e.Answer)
	if err != nil {
		return nil, err
	}
	k := &Key{Choices: e.Choices, Answer: answer, Hints: map[string]string{}, Why: e.Why}
	for wrong, say := range e.Hints {
		wrong, err := of(wrong)
		if err != nil {
			return nil, err
		}
		if k.Hints[wrong] != "" || wrong == answer {
			return nil, fmt.Errorf("lesson: the exercise %.40q has %s twice", e.Ask, wrong)
		}
		k.Hints[wrong] = say
	}
	return k, nil
}

// ErrNoAnswer is the error of what cannot be an answer to an exercise.
var ErrNoAnswer = errors.New("not an answer to this exercise")

// wholeNumber matches digits that may be grouped: in threes with commas, so that "1,2" is none, or as SQL and Go do.
var wholeNumber = regexp.MustCompile(`^[+-]?([0-9]{1,3}(,[0-9]{3})+|[0-9]+(_[0-9]+)*)$`)

// Judge says whether an answer is right ("12345", "12,345" or "12_345"; a choice or its
// letter), and what is to be said about it.
func (k *Key) Judge(answer string) (right bool, say string, err error) {
	answer = strings.TrimSpace(answer)
	if k.Choices != nil {
		i := slices.IndexFunc(k.Choices, func(c string) bool { return strings.EqualFold(c, answer) })
		if letter := strings.TrimSuffix(answer, ")"); len(letter) == 1 && i < 0 {
			i = strings.Index(letters[:len(k.Choices)], strings.ToLower(letter))
		}
		if i < 0 {
			return false, "", fmt.Errorf("%q is %w: give one of the letters %s", answer, ErrNoAnswer, strings.Join(strings.Split(letters[:len(k.Choices)], ""), ", "))
		}
		if k.Choices[i] == k.Answer {
			return true, k.Why, nil
		}
		return false, k.Hints[k.Choices[i]], nil
	}
	given, ok := new(big.Int).SetString(strings.NewReplacer(",", "", "_", "").Replace(answer), 10)
	if !ok || !wholeNumber.MatchString(answer) {
		return false, "", fmt.Errorf("%q is %w: give a whole number", answer, ErrNoAnswer)
	}
	want, _ := new(big.Int).SetString(k.Answer, 10)
	if c := given.Cmp(want); c == 0 {
		return true, k.Why, nil
	} else if hint := k.Hints[given.String()]; hint != "" {
		return false, hint, nil
	} else if c < 0 {
		return false, "It is too small.", nil
	}
	return false, "It is too large.", nil
}

const letters = "abcdefgh"

// Find returns the exercise that an answer is to, counted from 1, and the answer: of
// "2=GREATER" the second, of a plain answer the last.
func (l *Lesson) Find(text string) (n int, answer string, err error) {
	number, rest, found := strings.Cut(text, "=")
	if n, err := strconv.Atoi(strings.TrimSpace(number)); found && err == nil {
		if n < 1 || n > len(l.Exercises) {
			return 0, "", fmt.Errorf("exercise %d: lesson %s has the exercises 1 to %d", n, l.Name, len(l.Exercises))
		}
		return n, rest, nil
	}
	return len(l.Exercises), text, nil
}

// Check judges an answer to exercise n, counted from 1.
func (l *Lesson) Check(ctx context.Context, n int, answer string) (right bool, say string, err error) {
	k, err := l.Exercises[n-1].Key(ctx)
	if err != nil {
		return false, "", err
	}
	return k.Judge(answer)
}

// emphasis matches a word in italics, and no star of SQL.
var emphasis = regexp.MustCompile(`\*(\w+)\*`)

// Questions returns the exercises in lines for a terminal.
func (l *Lesson) Questions() string {
	var b strings.Builder
	for i, e := range l.Exercises {
		fmt.Fprintf(&b, "%d. %s\n", i+1, wrapped(emphasis.ReplaceAllString(strings.ReplaceAll(e.Ask, "`", ""), "$1")))
		for j, c := range e.Choices {
			fmt.Fprintf(&b, "   %c) %s\n", letters[j], c)
		}
	}
	return b.String()
}
