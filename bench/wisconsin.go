package bench

import "github.com/stencildb/stencildb/papers/wisconsin"

// wisconsinSuite repeats Hristov 2010.
func wisconsinSuite() Suite { return ofPaper(wisconsin.Paper(), nil) }
