package cmd

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/stencildb/stencildb/engine"
	"github.com/stencildb/stencildb/glctx"
)

// information is what info prints.
type information struct {
	*glctx.Info
	Calibration *engine.Calibration `json:"calibration,omitempty"`
}

// calibrateDevice stands between info and the device, for the tests.
var calibrateDevice = engine.Calibrate

func newInfo() *cobra.Command {
	var o common
	var calibrate bool
	c := &cobra.Command{
		Use:   "info [flags]",
		Short: "Show the OpenGL devices, which one is chosen and why, limits and memory",
		Long: `Shows every OpenGL device that can be opened without a display, which of them is
chosen and why, its limits, extensions and memory, and the machine. A machine
without any device is shown too: the backend cpu works on it.

With --calibrate the chosen device is also checked and measured, which takes some
seconds. Checked: comparisons by all six operators and ranges around every power
of two, over codes of up to 22, 24, 48 and 64 bits with NULLs, must count the same
on classic as on cpu; otherwise the exit status is 1. Measured, over 1,048,576
uniform 19-bit records, medians of interleaved repetitions: the upload of a
column; the passes of CopyToDepth, of Compare with its count and of Range, each
pass waited for, by the GPU timer where there is one; and by the wall clock whole
statements with their copies, EvalCNF and Semilinear over four attributes, MEDIAN
and SUM (19 counts each). In JSON all that is in "calibration".`,
		Example: `  stencildb info
  stencildb info --calibrate
  STENCILDB_DEVICE=software stencildb info --format json`,
		Args: cobra.NoArgs,
	}
	var format *choice
	c.RunE = run(func(c *cobra.Command, _ []string) error {
		info, err := glctx.ReadInfo(glctx.Options{Device: o.device, Memory: int64(o.gpuMemory)})
		if err != nil && (calibrate || o.device != "" || !errors.Is(err, glctx.ErrNoDevice)) {
			return err
		}
		all := information{Info: info}
		if calibrate {
			all.Calibration, err = calibrateDevice(c.Context(), engine.Options{Device: o.device, GPUMemory: int64(o.gpuMemory)})
			if err != nil {
				return err
			}
		}
		var b bytes.Buffer
		if format.value == "json" {
			enc := json.NewEncoder(&b)
			enc.SetEscapeHTML(false)
			enc.SetIndent("", "  ")
			err = enc.Encode(all)
		} else {
			err = all.writeText(&b)
		}
		if err != nil {
			return err
		}
		if err := writeOnce(c.OutOrStdout(), &b); err != nil {
			return err
		}
		return all.calibrationError()
	})
	o.registerDevice(c)
	c.Flags().Var(&o.gpuMemory, "gpu-memory", "budget for columns on the device, e.g. 512MiB or 4G (default: a share of what is free)")
	c.Flags().BoolVar(&calibrate, "calibrate", false, "check that the chosen device counts exactly, and measure it")
	format = choiceFlag(c, "format", "how it is printed", "text", "json")
	return c
}

func (i information) writeText(w io.Writer) error {
	if err := i.WriteText(w); err != nil || i.Calibration == nil {
		return err
	}
	return writeCalibration(w, i.Calibration)
}

// calibrationError is an error when the device was found to count wrongly.
func (i information) calibrationError() error {
	if i.Calibration == nil {
		return nil
	}
	return i.Calibration.Err()
}

func writeCalibration(w io.Writer, c *engine.Calibration) error {
	var b bytes.Buffer
	b.WriteString("Calibration\n")
	fmt.Fprintf(&b, "  %-16s %s of classic with cpu, %s wrong\n", "exactness", count(uint64(c.Comparisons), "comparison"), grouped(uint64(c.Mismatches)))
	for _, e := range c.Examples {
		fmt.Fprintf(&b, "  %-16s %s\n", "", e)
	}
	fmt.Fprintf(&b, "  %-16s %s of %d bits, medians of %d repetitions\n", "costs", count(uint64(c.Rows), "record"), c.Bits, c.Repetitions)
	for _, u := range c.Costs {
		passes := ""
		if u.Passes > 0 {
			passes = "  " + count(uint64(u.Passes), "pass")
		}
		fmt.Fprintf(&b, "    %-14s %10.3f ms %12s M records/s%s\n", u.Name, u.MS, fmt.Sprintf("%.1f", u.RecordsPerSecond/1e6), passes)
	}
	return writeOnce(w, &b)
}
