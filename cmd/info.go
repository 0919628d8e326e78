package cmd

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"runtime"
	"text/template"

	"github.com/spf13/cobra"

	"github.com/stencildb/stencildb/cost"
	"github.com/stencildb/stencildb/engine/calibrate"
	"github.com/stencildb/stencildb/engine/devicepool"
	"github.com/stencildb/stencildb/glctx"
	"github.com/stencildb/stencildb/internal/files"
	"github.com/stencildb/stencildb/internal/numbers"
)

type information struct {
	*glctx.Info
	// Costs is what auto goes by on the chosen device; nil without one.
	Costs       *costs                 `json:"costs,omitempty"`
	Calibration *calibrate.Calibration `json:"calibration,omitempty"`
}

// costs says what auto goes by, and where that is kept.
type costs struct {
	cost.Costs
	File string `json:"file,omitempty"`
}

// calibrateDevice and loadAverage stand between info and the machine, for the tests.
var (
	calibrateDevice = calibrate.Device
	loadAverage     = glctx.LoadAverage
)

func newInfo() *cobra.Command {
	var o common
	var calibrate, extensions bool
	c := &cobra.Command{
		Use:   "info [flags]",
		Short: "Show the OpenGL devices, which one is chosen and why, limits and memory",
		Long: `Shows every OpenGL device that can be opened without a display, which of them is
chosen and why, its limits, memory and budget, with --all its extensions, the machine, and the
costs that the backend auto goes by. A machine without any device is shown too:
the backend cpu works on it.

With --calibrate the chosen device and the CPU are measured, in less than 20 seconds.
What was measured is kept in the user's cache folder, for the device, its driver's
version, the CPU and its cores, and auto goes by it from then on; with another driver
it is to be measured again. Until then, and after the file (which info names) has been
removed, auto goes by built-in costs of a device of the same class.

Measured, as medians of interleaved repetitions: what a query takes on each backend
with nothing to do, each kind of predicate and aggregate over uniform values in tables
of 1,024 records and more, the upload of columns, and the compilation of a long
condition. Each answer must be that of cpu; otherwise the exit status is 1, and auto
leaves that backend alone. And the paper's routines on classic: the upload of a column;
the passes of CopyToDepth, of Compare with its count and of Range, each pass waited
for, by the GPU timer where there is one; and by the wall clock whole statements with
their copies, EvalCNF and Semilinear over four attributes, MEDIAN and SUM (19 counts
each).

In JSON, "costs" has "source" (in words), "measured" (on this machine), "warning"
(why what is kept is not used), "file" and "profile": "key" (what it was measured
on), "measured" (when), "opening_s" and by name "backends". A backend has, in
seconds, "overhead_s" of a query with nothing to do; "again", the share of an
algorithm's fixed cost that a further chunk costs once more; "upload", t0_s +
bytes / bytes_s of codes in host memory; "memory_bytes_s", the most that it reads;
"compile_s", what each predicate beyond 16 adds to the compilation of a condition;
and "costs": for each kind of algorithm, curves by "bits" of the codes, of
"points" with "rows" and "seconds" beyond the overhead. "calibration" is there
with --calibrate: "comparisons", "mismatches", "examples", "failures", "rows",
"bits", "repetitions", "costs" of the paper's routines, "profile" and "seconds".`,
		Example: `  stencildb info
  stencildb info --calibrate
  STENCILDB_DEVICE=software stencildb info --format json`,
		Args: cobra.NoArgs,
	}
	format := "text"
	c.RunE = run(func(c *cobra.Command, _ []string) error {
		info, err := glctx.ReadInfo(o.context())
		if err != nil && (calibrate || o.options.Device != "" || !errors.Is(err, glctx.ErrNoDevice)) {
			return err
		}
		all := information{Info: info}
		folder, missing := cost.Folder() // no home: nothing is kept
		if calibrate {
			warnOfLoad(c.ErrOrStderr())
			if missing == nil {
				missing = files.MakeFolder(folder)
			}
			if missing != nil {
				return fmt.Errorf("the calibration cannot be kept: %w", missing)
			}
			all.Calibration, err = calibrateDevice(c.Context(), o.options)
			if err != nil {
				return err
			}
		}
		if err := all.readCosts(folder); err != nil {
			return err
		}
		var b bytes.Buffer
		if format == "json" {
			enc := json.NewEncoder(&b)
			enc.SetEscapeHTML(false)
			enc.SetIndent("", "  ")
			err = enc.Encode(all)
		} else {
			err = errors.Join(all.WriteText(&b, extensions), infoText.Execute(&b, all))
		}
		if err == nil {
			err = writeOnce(c.OutOrStdout(), &b)
		}
		if err != nil || !calibrate {
			return err
		}
		return all.Calibration.Err()
	})
	o.registerGPU(c)
	c.Flags().BoolVar(&calibrate, "calibrate", false, "measure the chosen device, and check its answers")
	c.Flags().BoolVar(&extensions, "all", false, "list the extensions, too (JSON always has them)")
	choiceFlag(c, &format, "format", "how it is printed", "text", "json")
	return c
}

// warnOfLoad says when other work will disturb what is measured.
func warnOfLoad(w io.Writer) {
	if load, err := loadAverage(); err == nil && load > float64(runtime.NumCPU())/2 {
		fmt.Fprintf(w, "warning: the machine is busy (load average %.1f on %s): what is measured now will be off; calibrate again when it is idle\n",
			load, numbers.Count(runtime.NumCPU(), "core", "cores"))
	}
}

// readCosts keeps what has been measured in a folder and finds what auto goes by.
func (i *information) readCosts(folder string) (err error) {
	if i.Caps == nil {
		return nil
	}
	i.Costs = &costs{}
	key := devicepool.KeyOf(i.Caps)
	if i.Calibration != nil {
		if i.Costs.File, err = cost.Save(folder, i.Calibration.Profile); err != nil {
			return fmt.Errorf("the calibration cannot be kept: %w", err)
		}
	}
	if i.Costs.Costs, err = cost.For(folder, key); err == nil && i.Costs.Measured {
		i.Costs.File = cost.File(folder, key)
	}
	return err
}

// figures are those of the text, over figureRows records: a query with nothing to do and
// algorithms, then the upload.
func figures(b cost.Backend) (list []string) {
	list = append(list, inMS(b.Overhead))
	for _, class := range []cost.Class{cost.Compare, cost.Range, cost.Sum, cost.Kth} {
		text := "-"
		if s, ok := b.Figure(class, figureRows); ok {
			text = inMS(s)
		}
		list = append(list, text)
	}
	if b.Upload.Band <= 0 {
		return append(list, "-")
	}
	return append(list, fmt.Sprintf("%.2f GB/s", b.Upload.Band/1e9))
}

const figureRows = 1 << 20

func inMS(s float64) string { return fmt.Sprintf("%.3f ms", 1e3*s) }

// infoText is costs and a calibration for people.
var infoText = template.Must(template.New("info").Funcs(template.FuncMap{
	"count": numbers.Count[int], "grouped": numbers.Grouped[int], "figures": figures, "line": oneLine, "ms": inMS,
	"rows":     func() int { return figureRows },
	"millions": func(n float64) string { return fmt.Sprintf("%.1f", n/1e6) },
}).Parse(`{{with .Costs}}Costs that auto goes by
  source           {{.Source}}
{{with .File}}  file             {{.}}
{{end}}{{with .Warning}}  warning          {{.}}
{{end}}  opening          {{ms .Profile.Opening}}
  {{count rows "record" "records"}} of 19 bits, with the column resident:
                  no work      COUNT    BETWEEN        SUM     MEDIAN     upload
{{range $name, $backend := .Profile.Backends}}{{printf "    %-10s" $name}}{{range figures $backend}}{{printf " %10s" .}}{{end}}
{{end}}{{end}}{{with .Calibration}}Calibration, {{printf "%.1f" .Seconds}} s
  exactness        {{count .Comparisons "comparison" "comparisons"}} with cpu, {{grouped .Mismatches}} wrong
{{range .Examples}}                   {{.}}
{{end}}{{range .Failures}}  failed           {{line .}}
{{end}}  classic          {{count .Rows "record" "records"}} of {{.Bits}} bits, medians of {{.Repetitions}} repetitions
{{range .Costs}}{{printf "    %-14s %10.3f ms %12s M records/s" .Name .MS (millions .RecordsPerSecond)}}{{with .Passes}}  {{count . "pass" "passes"}}{{end}}
{{end}}{{end}}`))
