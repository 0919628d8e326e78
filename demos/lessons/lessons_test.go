package lessons

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/stencildb/stencildb/demos/lesson"
)

// Each exercise has an answer, a hint for each wrong choice and for some wrong numbers,
// and says why the answer is right.
func TestExercises(t *testing.T) {
	for _, l := range All() {
		if len(l.Exercises) < 4 {
			t.Errorf("lesson %s has %d exercises, want three of reasoning and one for a program", l.Name, len(l.Exercises))
		}
		for i, e := range l.Exercises {
			k, err := e.Key(context.Background())
			if err != nil {
				t.Errorf("lesson %s, exercise %d: %v", l.Name, i+1, err)
				continue
			}
			if right, say, err := k.Judge(k.Answer); !right || say == "" || err != nil {
				t.Errorf("lesson %s, exercise %d: its own answer is judged %v, %q (%v)", l.Name, i+1, right, say, err)
			}
			if len(k.Hints) == 0 || e.Choices != nil && len(k.Hints) != len(e.Choices)-1 {
				t.Errorf("lesson %s, exercise %d: %d hints", l.Name, i+1, len(k.Hints))
			}
			for wrong, hint := range k.Hints {
				if right, say, err := k.Judge(wrong); right || say != hint || err != nil {
					t.Errorf("lesson %s, exercise %d: %q is judged %v, %q (%v)", l.Name, i+1, wrong, right, say, err)
				}
			}
			if e.Choices != nil && !slices.Contains(e.Choices, e.Answer) {
				t.Errorf("lesson %s, exercise %d: %q is no choice", l.Name, i+1, e.Answer)
			}
		}
	}
}

// In a terminal questions have no marks of Markdown, and the stars of SQL.
func TestQuestions(t *testing.T) {
	var all strings.Builder
	for _, l := range All() {
		all.WriteString(l.Questions())
	}
	for _, want := range []string{"2 * delay - distance", "COUNT(*)", "1000th largest distance"} {
		if !strings.Contains(all.String(), want) {
			t.Errorf("the questions lack %q", want)
		}
	}
	if strings.ContainsAny(all.String(), "`[]") {
		t.Error("the questions have marks of Markdown")
	}
}

// Commas group digits in threes: "1,2" is no answer, and not 12.
func TestNumbersOfAnswers(t *testing.T) {
	k := &lesson.Key{Answer: "1234567", Why: "so"}
	for answer, right := range map[string]bool{"1234567": true, "1,234,567": true, "+1,234,567": true, "1_234_567": true, "12": false, "-1,234": false} {
		if got, _, err := k.Judge(answer); got != right || err != nil {
			t.Errorf("%s is judged %v (%v)", answer, got, err)
		}
	}
	for _, answer := range []string{"1,2", "12,34", "1,2345", "1234,567", ",123", "1,234,", "1.2", "1,234_567", ""} {
		if _, _, err := k.Judge(answer); !errors.Is(err, lesson.ErrNoAnswer) {
			t.Errorf("%q is an answer (%v)", answer, err)
		}
	}
}
