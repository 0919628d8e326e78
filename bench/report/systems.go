package report

import (
	"slices"

	"github.com/stencildb/stencildb/engine"
)

// The systems of the figures beside the backends and the peers.
const (
	Classic          = "classic"
	CopyExcluded     = "classic-copy-excluded" // less the CopyToDepth passes
	ClassicCountOnly = "classic-count-only"    // counts, and leaves no selection in the stencil buffer
	ClassicNoCount   = "classic-no-count"      // the selection without its count
	ClassicNoGuard   = "classic-no-guard"      // without the guard program of package pass
	ClassicFloat     = "classic-float"         // SemilinearFP as published, in float32
	CpuScalar        = "cpu-scalar"            // without vector instructions
	Quickselect      = "quickselect"
	MipmapSum        = "mipmap"
)

// BackendsOfFigures are the systems of the figures on the device, with the backend that
// each runs.
var BackendsOfFigures = map[string]string{
	Classic: Classic, CopyExcluded: Classic, ClassicCountOnly: Classic, ClassicNoCount: Classic, ClassicNoGuard: Classic, ClassicFloat: Classic, MipmapSum: Classic,
	"fused": "fused", "compute": "compute",
}

// SystemsOfFigures are those that backends stand for in the figures.
func SystemsOfFigures(backends []string) (list []string) {
	for _, b := range backends {
		list = append(list, b)
		switch b {
		case Classic:
			list = append(list, CopyExcluded, ClassicCountOnly, ClassicNoCount, ClassicNoGuard, ClassicFloat, MipmapSum)
		case "cpu":
			list = append(list, CpuScalar, Quickselect)
		}
	}
	return list
}

// Backends lists the backends with auto last, without both: that is compute and cpu, which are there.
func Backends() []string {
	return append(slices.DeleteFunc(engine.Backends(), func(s string) bool { return s == "auto" || s == "both" }), "auto")
}
