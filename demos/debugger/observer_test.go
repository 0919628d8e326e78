package debugger

import "testing"

// What has been executed to the end is shown without executing it again.
func TestAnAnswerIsNotExecutedTwice(t *testing.T) {
	for _, sql := range []string{cnf, "SELECT MEDIAN(delay) FROM flights WHERE distance > 500"} {
		d := open(t, flights(t, rows), sql)
		had := d.scene // of the survey, which did not know how many passes there would be
		d.goes(t, d.Last())
		if d.scene != had {
			t.Errorf("%s: executed again to show its answer", sql)
		}
		d.goes(t, 1)
		if d.scene == had {
			t.Errorf("%s: the first pass shows the answer", sql)
		}
	}
}
