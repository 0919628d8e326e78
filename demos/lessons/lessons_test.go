package lessons

import (
	"context"
	"slices"
	"strings"
	"testing"
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
