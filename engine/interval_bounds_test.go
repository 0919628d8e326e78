package engine

import (
	"strings"
	"testing"
)

// Texts that are no interval, and intervals beyond what months, days and microseconds hold, are errors.
func TestIntervalsThatAreNone(t *testing.T) {
	db := open(t, Options{Backend: "cpu"})
	for text, want := range map[string]string{
		"'P1X'": "invalid input", "'PT1Y'": "invalid input", "'P1YT'": "invalid input", "'P'": "invalid input", "'P1H'": "invalid input", "'P1'": "invalid input",
		"'1:'": "invalid input", "':1'": "invalid input", "'1:xx'": "invalid input", "'1::2'": "invalid input", "'two days'": "invalid input", "''": "invalid input",
		"'3000000000 months'": "out of range", "'-3000000000 months'": "out of range", "'178000000 days'": "out of range", "'2147483648 days'": "out of range",
		"'3000000000000 hours'": "out of range", "'2147483647 months' + INTERVAL '1 month'": "out of range", "'106000000 days' + INTERVAL '106000000 days'": "out of range",
	} {
		if got := answerText(db, "SELECT INTERVAL "+text); !strings.HasPrefix(got, "error") || !strings.Contains(got, want) {
			t.Errorf("INTERVAL %s: %s, want %s", text, got, want)
		}
	}
	for text, want := range map[string]string{"'2147483647 months'": "178956970 years 7 mons", "'-2147483648 months'": "-178956970 years -8 mons", "'106000000 days'": "106000000 days", "'PT0.5S'": "00:00:00.5"} {
		if got := answerText(db, "SELECT INTERVAL "+text); got != want {
			t.Errorf("INTERVAL %s: %s, want %s", text, got, want)
		}
	}
}
