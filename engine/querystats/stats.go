package querystats

import (
	"time"
)

// Stats says what a statement took.
type Stats struct {
	// Backend is the backend that computed it ("" where none was needed). Of a statement whose rows are
	// grouped or sorted on the CPU, it is the backend that selected them.
	Backend string
	// Devices are the numbers of the OpenGL devices that computed it, as listed by
	// `stencildb info`; none on the CPU.
	Devices []int
	// Changed is the number of rows that INSERT, UPDATE, DELETE or CREATE TABLE AS has added, changed or deleted.
	Changed int
	// Passes is the number of draws and dispatches, 0 on the CPU.
	Passes int
	// Samples is the sum of all samples counted by occlusion queries.
	Samples uint64
	// Elapsed is the time that the caller has waited for the execution, the
	// statement being parsed and its columns resident.
	Elapsed time.Duration
	// Load is the wall time of reading the tables' files, opening the device, the first upload of columns and
	// compiling programs. It counts if this statement was the first to need them. Loading has what each of
	// these took.
	Load    time.Duration
	Loading Loading
}
