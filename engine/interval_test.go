package engine_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/stencildb/stencildb/engine"
)

// A duration is an interval of hours as a parameter, and an interval without months is scanned as one.
func TestIntervalsAreDurations(t *testing.T) {
	db := nestedDB(t, "cpu")
	rows, err := engine.Collect(db.Query(context.Background(), "SELECT $1 + INTERVAL '1 day', justify_hours($1)", 36*time.Hour))
	if err != nil || fmt.Sprint(rows.Rows[0]) != "[1 day 36:00:00 1 day 12:00:00]" {
		t.Errorf("a duration is %v, %v", rows, err)
	}
	next, err := db.Query(context.Background(), "SELECT INTERVAL '36 hours', INTERVAL '1 month'")
	if err != nil {
		t.Fatal(err)
	}
	defer next.Close()
	var d, month time.Duration
	if next.Next(); next.Scan(&d, new(string)) != nil || d != 36*time.Hour {
		t.Errorf("36 hours are scanned as %v", d)
	}
	if err := next.Scan(&d, &month); err == nil {
		t.Errorf("a month is scanned as %v", month)
	}
}
