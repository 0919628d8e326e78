package source

import (
	"context"
	"io"
)

// ContextWriter writes for as long as ctx has not ended.
func ContextWriter(ctx context.Context, w io.Writer) io.Writer { return untilDone{ctx, w} }

// untilDone writes for as long as ctx has not ended.
type untilDone struct {
	ctx context.Context
	w   io.Writer
}

// Write implements io.Writer.
func (u untilDone) Write(p []byte) (int, error) {
	if err := u.ctx.Err(); err != nil {
		return 0, err
	}
	return u.w.Write(p)
}
