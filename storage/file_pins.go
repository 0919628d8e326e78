package storage

import (
	"slices"
	"sync"
)

// filePins counts who reads the files of manifests that newer ones may have followed.
type filePins struct {
	mu   sync.Mutex
	now  uint64         // the log of the manifest
	from map[uint64]int // how many began with the manifest of a log
	past []*manifest    // that may have files which someone reads; with Store.mu
}

// PinFiles keeps the files that tables have now, or get later, until release is called: whoever reads them goes on after any number of
// checkpoints. They are removed at a checkpoint after that, or when the folder is opened again. It waits for no checkpoint that is under way.
func (s *Store) PinFiles() (release func()) {
	h := &s.held
	h.mu.Lock()
	defer h.mu.Unlock()
	from := h.now
	if h.from == nil {
		h.from = map[uint64]int{}
	}
	h.from[from]++
	return func() {
		h.mu.Lock()
		defer h.mu.Unlock()
		if h.from[from]--; h.from[from] == 0 {
			delete(h.from, from)
		}
	}
}

// begin notes a manifest, by its log, that whoever begins from now on reads.
func (h *filePins) begin(log uint64) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.now = log
}

// follow notes that another manifest follows this one, and forgets earlier ones that nobody reads. A reader that has begun since
// then may have got the tables just before the checkpoint published its files. So the manifest before it counts, too. With s.mu.
func (h *filePins) follow(old *manifest) {
	h.mu.Lock()
	defer h.mu.Unlock()
	first := old.Log + 1
	for log := range h.from {
		first = min(first, log)
	}
	h.past = slices.DeleteFunc(append(h.past, old), func(m *manifest) bool { return m.Log+1 < first })
}
