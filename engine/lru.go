package engine

import (
	"container/list"
	"sync"
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
	byText map[string]*list.Element
	order  list.List // of *Statement, the one used last in front
	tables int       // how often the tables have changed
}

// get returns the statement of a text, nil where none is kept.
func (s *statements) get(text string) *Statement {
	s.mu.Lock()
	defer s.mu.Unlock()
	e, ok := s.byText[text]
	if !ok {
		return nil
	}
	s.order.MoveToFront(e)
	return e.Value.(*Statement)
}

// changes returns how often the tables have changed so far.
func (s *statements) changes() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.tables
}

// put keeps a statement that was prepared when the tables had changed that often: if
// they have since, its names may mean something else.
func (s *statements) put(st *Statement, tables int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if tables != s.tables || len(st.script) > maxKeptText || s.byText[st.script] != nil {
		return
	}
	if s.byText == nil {
		s.byText = map[string]*list.Element{}
	}
	s.byText[st.script] = s.order.PushFront(st)
	if s.order.Len() > maxStatements {
		last := s.order.Back()
		delete(s.byText, s.order.Remove(last).(*Statement).script)
	}
}

// forget drops all, when the tables change.
func (s *statements) forget() {
	s.mu.Lock()
	defer s.mu.Unlock()
	clear(s.byText)
	s.order.Init()
	s.tables++
}
