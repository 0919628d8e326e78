package physical

// Len returns how many conditions are kept.
func (l *PredicateCache) Len() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return len(l.list)
}
