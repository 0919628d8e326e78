package engine

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/stencildb/stencildb/pass"
)

func TestWatchHandsThePassesToARunner(t *testing.T) {
	db := open(t, Options{Backend: "classic"})
	if err := db.Add(small(t)); err != nil {
		t.Fatal(err)
	}
	const sql = "SELECT SUM(i), COUNT(*) FROM small WHERE i > 1"
	want, err := Collect(db.Query(context.Background(), sql))
	if err != nil {
		t.Fatal(err)
	}
	var m *pass.Meter
	w, err := Inspect(db).Watch(context.Background(), sql, func(s Stage) pass.Runner {
		m = &pass.Meter{Runner: s.Runner}
		return m
	})
	if err != nil {
		t.Fatal(err)
	}
	if m.Passes != want.Passes || w.Passes != want.Passes || len(w.Values) != 2 || w.Rows[0][0].String() != want.Rows[0][0].String() {
		t.Errorf("watched %d passes of %d, answer %v, want %d passes and %v", m.Passes, w.Passes, w.Rows, want.Passes, want.Rows)
	}
	stop := errors.New("stop")
	_, err = Inspect(db).Watch(context.Background(), sql, func(s Stage) pass.Runner { return &pass.Failer{Runner: s.Runner, At: 1, Err: stop} })
	if !errors.Is(err, stop) {
		t.Errorf("error %v, want the runner's", err)
	}
}

func TestWatchNeedsPasses(t *testing.T) {
	_, err := Inspect(openSmall(t)).Watch(context.Background(), "SELECT COUNT(*) FROM small", func(s Stage) pass.Runner { return s.Runner })
	if !errors.Is(err, ErrUnsupported) || !strings.Contains(err.Error(), "backend cpu runs no passes") {
		t.Errorf("error %v", err)
	}
}

// What a watched statement lacks is advised by what it can have: cpu runs no passes.
func TestAdviceForWatching(t *testing.T) {
	texts := map[bool]string{true: "SELECT COUNT(*) FROM small WHERE i > 1", false: "SELECT SUM(d) FROM small"}
	for advice, o := range map[string]Options{
		"raise --gpu-memory, or take --backend fused or compute, or SET backend = fused": {Backend: "classic", GPUMemory: 1},
		"; take --backend compute, or SET backend = compute":                             {Backend: "classic"},
	} {
		db := open(t, o)
		if err := db.Add(small(t)); err != nil {
			t.Fatal(err)
		}
		_, err := Inspect(db).Watch(context.Background(), texts[o.GPUMemory > 0], func(s Stage) pass.Runner { return s.Runner })
		if err == nil || !strings.HasSuffix(err.Error(), advice) || strings.Contains(err.Error(), "cpu") {
			t.Errorf("%v", err)
		}
	}
}
