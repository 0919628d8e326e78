package engine

import (
	"sync"

	"github.com/hashicorp/golang-lru/v2/simplelru"
)

// maxStatements is how many statements a DB keeps prepared, and maxKeptText the
// longest text of one, in bytes.
const (
	maxStatements = 128
	maxKeptText   = 64 << 10
)

// statements keeps those used last, by their text.
type statements struct {
	mu     sync.Mutex
	byText *simplelru.LRU[string, *Statement]
	tables int // how often the tables have changed
}

func newStatements() *statements {
	byText, _ := simplelru.NewLRU[string, *Statement](maxStatements, nil) // only a size below 1 is an error
	return &statements{byText: byText}
}

// get returns the statement of a text, nil where none is kept, and how often the tables
// have changed so far.
func (s *statements) get(text string) (st *Statement, tables int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	st, _ = s.byText.Get(text)
	return st, s.tables
}

// put keeps a statement that was prepared when the tables had changed that often: if
// they have since, its names may mean something else.
func (s *statements) put(st *Statement, tables int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if tables == s.tables && len(st.script) <= maxKeptText {
		s.byText.Add(st.script, st)
	}
}

// forget drops all, when the tables change.
func (s *statements) forget() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.byText.Purge()
	s.tables++
}
