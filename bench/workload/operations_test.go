package workload

import (
	"slices"
	"testing"

	"github.com/stencildb/stencildb/bench/evaluation"
)

// Every target is of an operation that exists.
func TestTargetsNameOperations(t *testing.T) {
	for _, target := range evaluation.Targets() {
		if !slices.ContainsFunc(Operations, func(o Operation) bool { return o.Name == target.Operation }) {
			t.Errorf("no operation %s", target.Operation)
		}
		if target.LimitMS > 0 == (target.Ratio > 0) || target.Hardware == (target.To != "") {
			t.Errorf("%+v has not one limit", target)
		}
	}
}
