package textures

// Footprint is what things take of a budget that are all resident at the same time, in bytes.
func Footprint(list []Readable) (bytes int64) {
	seen := map[key]bool{}
	var add func(r Readable)
	add = func(r Readable) {
		k := r.key()
		if k == (key{}) || seen[k] {
			return
		}
		seen[k] = true
		if b, ok := r.(Block); ok && b.Plus != 0 { // sums are made of the codes' planes
			for part := range b.Part + 1 {
				add(Block{Chunk: b.Chunk, Col: b.Col, Part: part, Window: b.Window})
			}
		}
		n := max(16, r.Bytes())
		if k.scratch != nil {
			n = poolSize(n)
		}
		bytes += n
	}
	for _, r := range list {
		add(r)
	}
	return bytes
}
