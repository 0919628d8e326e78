package backends

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/stencildb/stencildb/cost"
	"github.com/stencildb/stencildb/engine/devicepool"
	"github.com/stencildb/stencildb/glctx"
	"github.com/stencildb/stencildb/internal/numbers"
)

// InModes is what a join takes in each mode where either processor alone takes so much. Both deal the rows first.
func (v View) InModes(onHost, onDevice float64) (takes [3]float64) {
	takes = [...]float64{cost.OnCPU: onHost, cost.OnDevice: onDevice, cost.OnBoth: math.Inf(1)}
	if d, _, _ := v.Now(); v.Backend == "both" && d != nil && !d.Key.Software { // whose cores are cpu's
		takes[cost.OnBoth] = dealing*onHost + (1+InTurn)/(1/onHost+1/onDevice)
	}
	return takes
}

// dealing is the part of cpu's time for a join that it takes to partition the rows into sub-joins. It was measured with 4 M rows a side on
// two cores.
const dealing = 0.3

// Weighed is what work is predicted to take on cpu and on compute alone.
type Weighed struct {
	OnCPU, OnDevice cost.Prediction
	Missing         []Column // that compute lacks
}

// Weigh predicts what work takes on either. What the upload of columns and opening the device take is charged in part, as a statement is.
func (v View) Weigh(w *cost.Work, takes func(host, device *cost.Backend) (onHost, onDevice float64)) (of Weighed, err error) {
	costs, err := v.Costs.Get()
	if err != nil {
		return of, err
	}
	host, gpu := costs.Profile.Backends["cpu"], costs.Profile.Backends["compute"]
	of.OnDevice, of.Missing = v.Charged(&gpu, w, costs.Profile.Opening)
	of.OnCPU.Backend, of.OnDevice.Backend = "cpu", "compute"
	of.OnCPU.Run, of.OnDevice.Run = takes(&host, &gpu)
	return of, nil
}

// Charged is what bringing the columns of some work to compute takes, with what it is charged with of that, and what is missing there.
func (v View) Charged(gpu *cost.Backend, w *cost.Work, opening float64) (on cost.Prediction, missing []Column) {
	var at devicepool.Contents
	if d, _, _ := v.Now(); d != nil {
		at = d.Contents()
	} else {
		on.Opening = opening
	}
	gpu.Lack(&on, w, func(c cost.Column) bool { return at.Has("compute", c) })
	for _, c := range w.Columns {
		if of := (Column{Table: c.Table, Column: c.Name}); !at.Has("compute", c) && !slices.Contains(missing, of) {
			missing = append(missing, of)
		}
	}
	if on.Opening > 0 {
		missing = append(missing, Device)
	}
	on.Share = v.Uploads.Share(on.Transfer+on.Opening, missing...)
	return on, missing
}

// Decide says whether compute takes less time than cpu, and why, with what either takes alone.
func (v View) Decide(of Weighed) (there bool, why string) {
	if of.OnDevice.Run < of.OnCPU.Run && of.OnDevice.Total() >= of.OnCPU.Total() { // it would have gained from these
		v.Uploads.Add(of.Missing...)
	}
	list := []cost.Prediction{of.OnCPU, of.OnDevice}
	cost.Cheapest(list)
	why = v.Backend + " predicted"
	for i, of := range list {
		why += map[bool]string{true: ","}[i > 0] + " " + strings.Join(strings.Fields(Line(of)), " ")
	}
	return list[0].Backend == "compute", why
}

// PredictWork is Weigh, then Decide.
func (v View) PredictWork(w *cost.Work, takes func(host, device *cost.Backend) (onHost, onDevice float64)) (there bool, why string, err error) {
	of, err := v.Weigh(w, takes)
	if err != nil {
		return false, "", err
	}
	there, why = v.Decide(of)
	return there, why, nil
}

// Line is a prediction as a line of EXPLAIN.
func Line(p cost.Prediction) string {
	if !p.Possible() {
		return fmt.Sprintf("%-8s cannot do this query, or has no costs here", p.Backend)
	}
	line := fmt.Sprintf("%-8s %12s", p.Backend, numbers.Milliseconds(p.Run))
	if p.AtLeast {
		line += " at least"
	}
	var extra []string
	if len(p.Missing) > 0 {
		extra = append(extra, fmt.Sprintf("uploading %s (%s) %s", strings.Join(p.Missing, ", "), glctx.FormatSize(p.Bytes), numbers.Milliseconds(p.Transfer)))
	}
	if p.Opening > 0 {
		extra = append(extra, "opening the device "+numbers.Milliseconds(p.Opening))
	}
	if p.Compiling > 0 {
		extra = append(extra, "compiling "+numbers.Milliseconds(p.Compiling))
	}
	if len(extra) > 0 {
		line += "  + " + strings.Join(extra, ", ")
		if p.Share < p.Transfer+p.Opening+p.Compiling {
			line += fmt.Sprintf("; of that this query is charged with %s", numbers.Milliseconds(p.Share))
		}
	}
	return line
}
