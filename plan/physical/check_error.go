package physical

// CheckError says which check of a query selected a record.
type CheckError struct {
	Chunk, Check int // the chunk is counted in the whole table
	Err          error
}

func (e *CheckError) Error() string { return e.Err.Error() }

// Unwrap returns the check's own error.
func (e *CheckError) Unwrap() error { return e.Err }

// Before orders errors as the records that raise them.
func (e *CheckError) Before(o *CheckError) bool {
	return e.Chunk < o.Chunk || e.Chunk == o.Chunk && e.Check < o.Check
}

// Failed returns the error of a check that selected a record of a chunk.
func (q *Query) Failed(chunk, check int) error {
	return &CheckError{Chunk: q.whole(chunk), Check: check, Err: q.Chunks[chunk].Checks[check].Err}
}

// FailedAt is Failed for a record that the check selected.
func (q *Query) FailedAt(chunk, check, row int) error {
	err := q.Chunks[chunk].Checks[check].ErrorAt(q.Table.Chunks[chunk], row)
	return &CheckError{Chunk: q.whole(chunk), Check: check, Err: err}
}
