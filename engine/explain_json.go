package engine

import (
	"encoding/json"

	"github.com/stencildb/stencildb/plan"
)

// nodeJSON is a node of a plan in EXPLAIN (FORMAT JSON).
type nodeJSON struct {
	Node   string     `json:"node"`
	Inputs []nodeJSON `json:"inputs,omitempty"`
	// Of a fragment: who does it.
	Backend string     `json:"backend,omitempty"`
	Device  string     `json:"device,omitempty"`
	Why     string     `json:"why,omitempty"`
	Passes  []stepJSON `json:"passes,omitempty"`
}

type stepJSON struct {
	Pass    string   `json:"pass"`
	Counts  string   `json:"counts,omitempty"`
	GLSL    string   `json:"glsl,omitempty"`
	Samples *uint64  `json:"samples,omitempty"`
	MS      *float64 `json:"ms,omitempty"`
}

// MarshalJSON writes the explanation as EXPLAIN (FORMAT JSON) gives it: the tree, with the
// passes of a fragment in it.
func (x *Explanation) MarshalJSON() ([]byte, error) { return json.Marshal(x.json()) }

// json is what MarshalJSON writes.
func (x *Explanation) json() any {
	type prediction struct {
		Backend string   `json:"backend"`
		MS      *float64 `json:"ms"` // null: it cannot do the query
	}
	out := struct {
		SQL         string       `json:"sql"`
		Plan        nodeJSON     `json:"plan"`
		Predictions []prediction `json:"predictions,omitempty"`
		Rows        *int64       `json:"rows,omitempty"`
		Passes      *int         `json:"passes,omitempty"`
		MS          *float64     `json:"ms,omitempty"`
		LoadMS      *float64     `json:"load_ms,omitempty"`
	}{SQL: x.SQL, Plan: x.node(x.Tree)}
	for _, p := range x.Predictions {
		one := prediction{Backend: p.Backend}
		if p.Possible() {
			one.MS = new(1e3 * p.Run)
		}
		out.Predictions = append(out.Predictions, one)
	}
	if s := x.Stats; s != nil {
		out.Rows, out.Passes = &x.Rows, &s.Passes
		out.MS, out.LoadMS = new(float64(s.Elapsed)/1e6), new(float64(s.Load)/1e6)
	}
	return out
}

func (x *Explanation) node(n plan.Node) nodeJSON {
	f, ok := n.(*plan.Fragment)
	if ok {
		n = f.Nodes
	}
	out := nodeJSON{Node: n.String()}
	for _, in := range n.Inputs() {
		out.Inputs = append(out.Inputs, x.node(in))
	}
	if !ok {
		return out
	}
	out.Backend, out.Device, out.Why = x.Backend, x.Device, x.Why
	for _, s := range x.Steps {
		one := stepJSON{Pass: s.Pass, Counts: s.Counts}
		if x.GLSL {
			one.GLSL = s.GLSL
		}
		if x.PerPass {
			one.MS = new(float64(s.Elapsed) / 1e6)
			if s.Counted {
				one.Samples = &s.Samples
			}
		}
		out.Passes = append(out.Passes, one)
	}
	return out
}
