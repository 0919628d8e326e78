package cost

// FitTransfer fits T0 + bytes / Band to the seconds y that transfers of x bytes took.
func FitTransfer(x, y [2]float64) Transfer {
	slope := max((y[1]-y[0])/(x[1]-x[0]), 1e-12) // at most 1 TB/s
	return Transfer{T0: max(0, y[0]-slope*x[0]), Band: 1 / slope}
}

// FitAgain sets Again by the seconds that a comparison took over a table of that many
// chunks. Each has the size of the first points of the curves.
func (b *Backend) FitAgain(took float64, chunks int) {
	cs := b.Costs[Compare]
	if len(cs) == 0 {
		return
	}
	c := cs[len(cs)/2]
	if once := c.fixed(); once > 0 {
		b.Again = min(1, max(0, (took-b.Overhead-once)/(once*float64(chunks-1))))
	}
}

// FitMemory sets Memory to the fastest that an algorithm reads its codes on the
// largest tables.
func (b *Backend) FitMemory() {
	b.Memory = 0
	for class, cs := range b.Costs {
		if class == Conjunct {
			continue
		}
		for _, c := range cs {
			last := c.Points[len(c.Points)-1].Rows
			bytes := b.bytes(Item{Bits: c.Bits, Bytes: widthOf(c.Bits)}, last)
			if g := c.growth(last); g > 0 && len(like[class]) == 0 {
				b.Memory = max(b.Memory, bytes/g)
			}
		}
	}
}
