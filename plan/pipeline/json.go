package pipeline

import (
	"bytes"
	"encoding/json"
	"math"
)

// pipelineJSON is a pipeline as JSON.
type pipelineJSON struct {
	Pipeline int        `json:"pipeline"`
	Reads    []int      `json:"reads,omitempty"` // the numbers of those that run before
	Source   string     `json:"source"`
	RowsIn   float64    `json:"expected_rows_in"`
	Steps    []stepJSON `json:"steps,omitempty"`
	Sink     string     `json:"sink"`
	RowsOut  float64    `json:"expected_rows_out"`
	Build    string     `json:"build,omitempty"`  // the kind
	Answer   []string   `json:"answer,omitempty"` // the columns of the answer, of the pipeline that leaves it
}

// stepJSON is a step as JSON.
type stepJSON struct {
	Step string  `json:"step"`
	Rows float64 `json:"expected_rows"`
}

// MarshalJSON implements json.Marshaler: an array of the pipelines.
func (p *Plan) MarshalJSON() ([]byte, error) {
	list := []pipelineJSON{}
	for _, of := range p.Pipelines {
		out := pipelineJSON{Pipeline: of.Number, Source: of.Source.String(), RowsIn: math.Round(of.In()), Sink: of.sinkText(), RowsOut: math.Round(of.Out())}
		for _, r := range of.Reads() {
			out.Reads = append(out.Reads, r.Number)
		}
		for i, s := range of.Steps {
			out.Steps = append(out.Steps, stepJSON{s.String(), math.Round(of.Rows[i+1])})
		}
		if b, ok := of.Sink.(*Build); ok {
			out.Build = b.Kind.String()
		}
		if of == p.Answer.Of {
			for _, f := range p.Answer.Fields {
				out.Answer = append(out.Answer, f.Name)
			}
		}
		list = append(list, out)
	}
	var text bytes.Buffer
	enc := json.NewEncoder(&text)
	enc.SetEscapeHTML(false) // conditions have < and >
	err := enc.Encode(list)
	return text.Bytes(), err
}
