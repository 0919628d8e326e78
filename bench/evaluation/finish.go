package evaluation

// Finish sets what results of a suite with figures have beside the others'.
func (r Evaluated) Finish() {
	for i := range r.Results {
		x := &r.Results[i]
		if floor := r.FloorOf(x.System, x.Rows); floor > 0 {
			x.OfFloor = x.MedianMS / floor
		}
	}
	for _, c := range r.Cases() {
		r.Ties = append(r.Ties, r.TiesOf(c)...)
	}
	r.Headlines = r.headlines()
}
