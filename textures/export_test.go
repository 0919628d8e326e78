package textures

// Expected is how much is expected to be uploaded.
func Expected(s *Store) int {
	if s.ring == nil {
		return 0
	}
	return len(s.ring.queue)
}

// ExpectsNext reports whether something, all of it, is expected to be uploaded next.
func ExpectsNext(s *Store, of Readable) bool {
	return Expected(s) > 0 && s.ring.queue[0].is(of.sending(s.ring.slot, 0))
}
