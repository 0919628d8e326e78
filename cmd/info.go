package cmd

import (
	"bytes"
	"encoding/json"
	"errors"

	"github.com/spf13/cobra"

	"github.com/stencildb/stencildb/glctx"
)

func newInfo() *cobra.Command {
	var o common
	c := &cobra.Command{
		Use:   "info [flags]",
		Short: "Show the OpenGL devices, which one is chosen and why, limits and memory",
		Long: `Shows every OpenGL device that can be opened without a display, which of them is
chosen and why, its limits, extensions and memory, and the machine. A machine
without any device is shown too: the backend cpu works on it.`,
		Example: `  stencildb info
  STENCILDB_DEVICE=software stencildb info --format json`,
		Args: cobra.NoArgs,
	}
	var format *choice
	c.RunE = run(func(c *cobra.Command, _ []string) error {
		info, err := glctx.ReadInfo(glctx.Options{Device: o.device, Memory: int64(o.gpuMemory)})
		if err != nil && (o.device != "" || !errors.Is(err, glctx.ErrNoDevice)) {
			return err
		}
		var b bytes.Buffer
		if format.value == "json" {
			enc := json.NewEncoder(&b)
			enc.SetEscapeHTML(false)
			enc.SetIndent("", "  ")
			err = enc.Encode(info)
		} else {
			err = info.WriteText(&b)
		}
		if err != nil {
			return err
		}
		return writeOnce(c.OutOrStdout(), &b)
	})
	o.registerDevice(c)
	c.Flags().Var(&o.gpuMemory, "gpu-memory", "budget for columns on the device, e.g. 512MiB or 4G (default: a share of what is free)")
	format = choiceFlag(c, "format", "how it is printed", "text", "json")
	return c
}
