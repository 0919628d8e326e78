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

// CheckFailed returns the error of a check that selected a record of a chunk.
func (q *Query) CheckFailed(chunk, check int) error {
	return &CheckError{Chunk: q.sourceChunk(chunk), Check: check, Err: q.Chunks[chunk].Checks[check].Err}
}

// CheckFailedAt is Failed for a record that the check selected.
func (q *Query) CheckFailedAt(chunk, check, row int) error {
	err := q.Chunks[chunk].Checks[check].ErrorAt(q.Table.Chunks[chunk], row)
	return &CheckError{Chunk: q.sourceChunk(chunk), Check: check, Err: err}
}
