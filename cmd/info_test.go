package cmd

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stencildb/stencildb/cost"
	"github.com/stencildb/stencildb/engine"
	"github.com/stencildb/stencildb/engine/calibrate"
	"github.com/stencildb/stencildb/engine/devicepool"
	"github.com/stencildb/stencildb/glctx"
)

// The one run of the real calibration: it is kept, and found again.
func TestInfoCalibrates(t *testing.T) {
	t.Setenv("XDG_CACHE_HOME", t.TempDir())
	loadIs(t, 0)
	o := stencildb("info", "--calibrate")
	if o.status != 0 || o.errOut != "" {
		t.Fatalf("status %d: %s", o.status, o.errOut)
	}
	_, section, found := strings.Cut(o.out, "\nCalibration, ")
	if !found {
		t.Fatalf("no section Calibration in\n%s", o.out)
	}
	for _, want := range []string{"with cpu, 0 wrong", "records of 19 bits",
		"upload ", "CopyToDepth ", "Compare ", "Range ", "EvalCNF ", "Semilinear ", "MEDIAN ", "SUM ", "20 passes", "M records/s"} {
		if !strings.Contains(section, want) {
			t.Errorf("no %q in\n%s", want, section)
		}
	}
	for _, out := range []string{o.out, stencildb("info").out} {
		for _, want := range []string{"\nCosts that auto goes by\n", "source           measured on this machine", "    cpu ", "    classic "} {
			if !strings.Contains(out, want) {
				t.Errorf("no %q in\n%s", want, out)
			}
		}
	}
	file, err := filepath.Glob(filepath.Join(os.Getenv("XDG_CACHE_HOME"), "stencildb", "calibration-*.json"))
	if err != nil || len(file) != 1 {
		t.Fatalf("kept %v, %v", file, err)
	}
	if err := os.WriteFile(file[0], []byte("{"), 0o600); err != nil {
		t.Fatal(err)
	}
	o = stencildb("info")
	if o.status != 0 || !strings.Contains(o.out, "warning          "+file[0]+": the calibration file is damaged") || !strings.Contains(o.out, "source           built in") {
		t.Errorf("status %d\n%s", o.status, o.out)
	}
}

// loadIs makes the machine as busy as this.
func loadIs(t *testing.T, load float64) {
	real := loadAverage
	t.Cleanup(func() { loadAverage = real })
	loadAverage = func() (float64, error) { return load, nil }
}

func TestInfoWarnsOfABusyMachine(t *testing.T) {
	calibrated(t, calibrate.Calibration{Comparisons: 1})
	loadIs(t, 1000)
	if o := stencildb("info", "--calibrate"); o.status != 0 || !strings.Contains(o.errOut, "the machine is busy (load average 1000.0") {
		t.Errorf("status %d: %s", o.status, o.errOut)
	}
}

// calibrated makes info find this instead of asking the device, with the built-in
// costs.
func calibrated(t *testing.T, c calibrate.Calibration) {
	t.Setenv("XDG_CACHE_HOME", t.TempDir())
	info, err := glctx.ReadInfo(glctx.Options{})
	if err != nil {
		t.Fatal(err)
	}
	key := devicepool.KeyOf(info.Caps)
	if c.Profile, err = cost.Default(key.Software, key.Cores); err != nil {
		t.Fatal(err)
	}
	c.Profile.Key = key
	real := calibrateDevice
	t.Cleanup(func() { calibrateDevice = real })
	calibrateDevice = func(context.Context, engine.Options) (*calibrate.Calibration, error) { return &c, nil }
	loadIs(t, 0)
}

func TestCalibrationInJSON(t *testing.T) {
	calibrated(t, calibrate.Calibration{Comparisons: 3, Rows: 10, Bits: 19, Repetitions: 5,
		Costs: []calibrate.UnitCost{{Name: "SUM", SQL: "SELECT SUM(a) FROM uniform", Passes: 19, MS: 2, RecordsPerSecond: 5000}}})
	o := stencildb("info", "--calibrate", "--format", "json")
	var got struct {
		CPU   struct{ Cores int } `json:"cpu"`
		Costs struct {
			Source, File string
			Measured     bool
			Profile      struct {
				Key      struct{ Renderer string }
				Backends map[string]struct {
					Overhead float64 `json:"overhead_s"`
					Costs    map[string][]struct {
						Bits   int
						Points []struct {
							Rows    int
							Seconds float64
						}
					}
				}
			}
		}
		Calibration struct {
			Comparisons, Mismatches, Rows int
			Costs                         []struct {
				Name   string
				MS     float64
				PerSec float64 `json:"records_per_s"`
			}
		} `json:"calibration"`
	}
	if err := json.Unmarshal([]byte(o.out), &got); err != nil || o.status != 0 {
		t.Fatalf("status %d, %v\n%s%s", o.status, err, o.out, o.errOut)
	}
	c := got.Calibration
	if got.CPU.Cores < 1 || c.Comparisons != 3 || c.Rows != 10 || len(c.Costs) != 1 || c.Costs[0].Name != "SUM" || c.Costs[0].MS != 2 || c.Costs[0].PerSec != 5000 {
		t.Errorf("%+v", got)
	}
	p := got.Costs.Profile
	if !got.Costs.Measured || got.Costs.File == "" || p.Key.Renderer == "" || p.Backends["cpu"].Overhead <= 0 {
		t.Errorf("measured %v, file %q, of %q, overhead of cpu %g s", got.Costs.Measured, got.Costs.File, p.Key.Renderer, p.Backends["cpu"].Overhead)
	}
	compare := p.Backends["cpu"].Costs["compare"]
	if len(compare) == 0 || compare[0].Points[len(compare[0].Points)-1].Seconds <= 0 { // of few rows it may be 0 beyond the overhead
		t.Errorf("compare on cpu: %+v", compare)
	}
	if o := stencildb("info", "--format", "json"); strings.Contains(o.out, `"calibration"`) {
		t.Errorf("a calibration that nobody asked for:\n%s", o.out)
	}
}

// A device that counts wrongly is shown, and then fails the command.
func TestADeviceThatCountsWronglyFails(t *testing.T) {
	calibrated(t, calibrate.Calibration{Comparisons: 2, Mismatches: 1, Examples: []string{"SELECT 1 gives 2, not 1"}})
	for _, format := range []string{"text", "json"} {
		o := stencildb("info", "--calibrate", "--format", format)
		if o.status != 1 || !strings.Contains(o.out, "SELECT 1 gives 2, not 1") {
			t.Errorf("status %d\n%s", o.status, o.out)
		}
		o.out = ""
		o.wantFailure(t, 1, "1 of 2 answers", "SELECT 1 gives 2, not 1", "use --backend cpu")
	}
}

func TestAnUnwritableCacheIsFoundBeforeTheCalibration(t *testing.T) {
	calibrated(t, calibrate.Calibration{})
	t.Setenv("XDG_CACHE_HOME", filepath.Dir(file(t, "stencildb", "")))
	calibrateDevice = func(context.Context, engine.Options) (*calibrate.Calibration, error) {
		t.Error("the device is measured for nothing")
		return nil, context.Canceled
	}
	stencildb("info", "--calibrate").wantFailure(t, 1, "cannot", "stencildb")
}

func TestADamagedCalibrationIsSaidOnce(t *testing.T) {
	t.Setenv("XDG_CACHE_HOME", t.TempDir())
	folder, err := cost.Folder()
	if err != nil {
		t.Fatal(err)
	}
	path := cost.File(folder, cost.Key{})
	if err := os.MkdirAll(folder, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte("{"), 0o600); err != nil {
		t.Fatal(err)
	}
	const sql = "SELECT COUNT(*) FROM flights WHERE delay > 60; SELECT COUNT(*) FROM flights"
	o := stencildb("query", sql)
	if o.status != 0 || !strings.Contains(o.out, "10498") || !strings.Contains(o.out, "200000") || strings.Count(o.errOut, "\n") != 1 ||
		!strings.HasPrefix(o.errOut, "note: "+path+": the calibration file is damaged") || !strings.Contains(o.errOut, "info --calibrate") {
		t.Errorf("status %d, output %q, standard error %q", o.status, o.out, o.errOut)
	}
	stencildb("query", "--backend", "cpu", "--format", "csv", "SELECT COUNT(*) FROM flights").wantOutput(t, "count\n200000\n")
}
