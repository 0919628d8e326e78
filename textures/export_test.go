package textures

// Expected is how much is expected to be uploaded.
func Expected(s *Store) int {
	if s.ring == nil {
		return 0
	}
	return len(s.ring.queue)
}
