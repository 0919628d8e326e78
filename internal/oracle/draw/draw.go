package draw

// Int is 1 for true and 0 for false: an index of two texts, or a summand.
func Int(b bool) int {
	if b {
		return 1
	}
	return 0
}
