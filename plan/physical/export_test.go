package physical

// Len returns how many conditions are kept.
func (l *Lowered) Len() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return len(l.list)
}
