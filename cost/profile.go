package cost

import (
	"cmp"
	"encoding/json"
	"math"
	"slices"
	"time"
)

// Profile is what a machine was found to cost: a device and its host's CPU.
type Profile struct {
	Key      Key                `json:"key"`
	Measured time.Time          `json:"measured"`
	Opening  float64            `json:"opening_s"` // to look for the device and open it
	Backends map[string]Backend `json:"backends"`  // by name
}

// Transfer is GDB's model of a transfer: T0 + bytes / Band.
type Transfer struct {
	T0   float64 `json:"t0_s"`    // seconds
	Band float64 `json:"bytes_s"` // bytes a second, of the codes in host memory
}

// Time is what a transfer of that many bytes takes, in seconds.
func (t Transfer) Time(bytes int64) float64 {
	if t.Band <= 0 {
		return t.T0
	}
	return t.T0 + float64(bytes)/t.Band
}

// Backend is what a backend was found to cost.
type Backend struct {
	// Overhead is what a query takes that has nothing to do, in seconds.
	Overhead float64 `json:"overhead_s"`
	// Again is the share of an algorithm's fixed cost that it costs once more for
	// each further chunk, and each further algorithm of a query.
	Again float64 `json:"again"`
	// Swept says that chunks are worked on together, by all cores, and not one after
	// the other.
	Swept  bool             `json:"swept,omitempty"`
	Upload Transfer         `json:"upload"`
	Costs  map[Class]Curves `json:"costs"`
	// Compile is what each predicate beyond [ordinary] adds to the compilation of a
	// condition, in seconds.
	Compile float64 `json:"compile_s,omitempty"`
	// Memory is the most bytes a second that an algorithm was seen to read.
	Memory float64 `json:"memory_bytes_s,omitempty"`
}

// width measures the width of codes as the backend reads them: cpu in whole bytes,
// the others in bits.
func (b *Backend) width(bits int) float64 {
	if b.Swept {
		return float64(widthOf(bits))
	}
	return float64(bits)
}

// item is the cost of an algorithm over n rows; false where it was not measured,
// since the backend cannot do it.
func (b *Backend) item(x Item, n int) (cost, bool) {
	cs, ok := b.Costs[x.Class]
	if !ok || len(cs) == 0 {
		return cost{}, false
	}
	w := b.width(x.Bits)
	if b.Swept {
		w = float64(x.Bytes)
	}
	var c cost
	if base := like[x.Class]; base != "" && len(cs) == 1 {
		measured := b.width(cs[0].Bits)
		c = cs.at(n, measured, b.width).times(b.ratio(base, measured, w, n))
	} else {
		c = cs.at(n, w, b.width)
	}
	c = c.times(x.Scale)
	if b.Memory > 0 { // the codes cannot be read faster
		c.growth = max(c.growth, b.bytes(x, n)/b.Memory)
	}
	return c, true
}

// ratio is what codes of width w cost beside codes of another one.
func (b *Backend) ratio(class Class, from, w float64, n int) float64 {
	at := b.Costs[class].at(n, from, b.width)
	to := b.Costs[class].at(n, w, b.width)
	if at.growth <= 0 {
		return 1
	}
	return to.growth / at.growth
}

func (b *Backend) bytes(x Item, n int) float64 {
	if b.Swept {
		return float64(n) * float64(x.Bytes)
	}
	return float64(n) * float64(x.Bits) / 8
}

// items are the costs of algorithms over n rows; false where one was not measured.
func (b *Backend) items(list []Item, n int) (out []cost, ok bool) {
	for _, x := range list {
		k, ok := b.item(x, n)
		if !ok {
			return nil, false
		}
		out = append(out, k)
	}
	return out, true
}

// Run predicts what a query takes with all columns resident, in seconds; +Inf
// where the backend cannot do it. Of what is fixed, the largest is paid in full; of a
// WHERE the dearest leaf, and the others as further conjuncts.
func (b *Backend) Run(w *Work) float64 {
	var most, fixed, growth float64
	for _, c := range w.Chunks {
		n, share := c.Rows, 1.0
		if b.Swept { // as a part of all the rows
			n, share = w.Rows, float64(c.Rows)/float64(max(1, w.Rows))
		}
		costs, ok1 := b.items(slices.Concat(c.Checks, c.Aggs), n)
		leaves, ok2 := b.items(c.Leaves, n)
		if !ok1 || !ok2 {
			return math.Inf(1)
		}
		slices.SortFunc(leaves, func(x, y cost) int { return cmp.Compare(y.fixed+y.growth, x.fixed+x.growth) })
		for i, k := range leaves {
			if i > 0 {
				k = b.further(k, n)
			}
			costs = append(costs, k)
		}
		for _, k := range costs {
			most = max(most, k.fixed)
			fixed += k.fixed
			growth += k.growth * share
		}
	}
	return b.Overhead + most + b.Again*(fixed-most) + growth
}

// further is what a leaf takes beside others: less where one program evaluates the
// whole WHERE.
func (b *Backend) further(k cost, n int) cost {
	cs := b.Costs[Conjunct]
	if len(cs) == 0 {
		return k
	}
	bits := cs[0].Bits
	more := cs.at(n, b.width(bits), b.width)
	alone := b.Costs[Compare].at(n, b.width(bits), b.width)
	if alone.growth > 0 {
		k.growth *= more.growth / alone.growth
	}
	if alone.fixed > 0 {
		k.fixed *= more.fixed / alone.fixed
	}
	return k
}

// ordinary is the largest number of predicates of a condition whose program counts as compiled. Conditions of
// few predicates repeat with other constants, and programs are kept.
const ordinary = 16

// Compiling predicts what a statement spends once on the compilation of its condition, in
// seconds.
func (b *Backend) Compiling(w *Work) float64 {
	most := 0
	for _, c := range w.Chunks {
		most = max(most, len(c.Leaves)+len(c.Checks))
	}
	return b.Compile * float64(max(0, most-ordinary))
}

// Prediction is what a query would take on a backend, in seconds.
type Prediction struct {
	Backend string
	Run     float64 // with every column resident; +Inf where the backend cannot do it
	// Transfer is what bringing the columns Missing to the device takes, Bytes of host
	// memory, Opening what opening the device takes, and Compiling the programs. The query
	// is charged with Share of these.
	Transfer, Opening, Compiling, Share float64
	Missing                             []string // the columns' names, each once
	Bytes                               int64
	// AtLeast says that Run is a bound: what that many rows take divided among processors that do not wait for one another.
	AtLeast bool
}

// Total is what the backends are compared by.
func (p Prediction) Total() float64 { return p.Run + p.Share }

// MarshalJSON implements json.Marshaler.
func (p Prediction) MarshalJSON() ([]byte, error) {
	out := struct {
		Backend string   `json:"backend"`
		MS      *float64 `json:"ms"` // null: it cannot do the query
	}{Backend: p.Backend}
	if p.Possible() {
		out.MS = new(1e3 * p.Run)
	}
	return json.Marshal(out)
}

// Possible reports whether the backend can do the query, as far as is known.
func (p Prediction) Possible() bool { return !math.IsInf(p.Run, 1) }

// Cheapest orders predictions by their totals, the cheapest first.
func Cheapest(list []Prediction) {
	slices.SortStableFunc(list, func(a, b Prediction) int { return cmp.Compare(a.Total(), b.Total()) })
}

// Lack adds to a prediction what it takes to bring the columns to the device that are not
// there. A backend that reads the tables where they are transfers nothing.
func (b *Backend) Lack(p *Prediction, w *Work, resident func(Column) bool) {
	for _, c := range w.Columns {
		if b.Upload.Band <= 0 || resident(c) {
			continue
		}
		p.Transfer += b.Upload.Time(c.Bytes)
		p.Bytes += c.Bytes
		if !slices.Contains(p.Missing, c.Name) {
			p.Missing = append(p.Missing, c.Name)
		}
	}
}

// Figure is what an algorithm takes on a backend over n rows of 19-bit codes, the
// paper's data_count, in seconds. It is false where it was not measured.
func (b *Backend) Figure(class Class, n int) (float64, bool) {
	c, ok := b.item(Item{Class: class, Bits: 19, Bytes: 4, Scale: 1}, n)
	return b.Overhead + c.fixed + c.growth, ok
}
