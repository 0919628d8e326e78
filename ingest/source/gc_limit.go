package source

import (
	"runtime/debug"
	"runtime/metrics"
	"sync"
)

// GarbageSlack is what reading may take besides the table: pages of the file and their values, of
// which most is garbage.
const GarbageSlack = 320 << 20

// collector runs the garbage collector while files are read, before garbage is more than slack. By itself it
// would wait until garbage is as much as all tables.
var collector struct {
	sync.Mutex
	readers       int
	before, limit int64
}

// LimitGarbage begins the reading of a file, and returns what ends it.
func LimitGarbage() (end func()) {
	c := &collector
	c.Lock()
	defer c.Unlock()
	if c.readers++; c.readers == 1 {
		now := []metrics.Sample{{Name: "/memory/classes/total:bytes"}, {Name: "/memory/classes/heap/released:bytes"}}
		metrics.Read(now)
		c.before, c.limit = debug.SetMemoryLimit(-1), int64(now[0].Value.Uint64()-now[1].Value.Uint64())+GarbageSlack
		debug.SetMemoryLimit(min(c.before, c.limit))
	}
	return func() {
		c.Lock()
		defer c.Unlock()
		if c.readers--; c.readers == 0 {
			debug.SetMemoryLimit(c.before)
		}
	}
}

// RaiseGarbageLimit adds what a table takes.
func RaiseGarbageLimit(bytes int64) {
	c := &collector
	c.Lock()
	defer c.Unlock()
	c.limit += bytes
	debug.SetMemoryLimit(min(c.before, c.limit))
}
