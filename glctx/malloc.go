package glctx

// #include <stdlib.h>
// #ifdef __GLIBC__
// #include <malloc.h>
// static void keepFreed(void) { mallopt(M_TRIM_THRESHOLD, 64 << 20); mallopt(M_MMAP_THRESHOLD, 1 << 20); }
// #else
// static void keepFreed(void) {}
// #endif
import "C"

import "sync"

// keepFreed has the C library keep memory that is freed, up to 64 MiB; blocks of a megabyte and more go back at once. llvmpipe takes
// 64 KiB and more for every draw and frees it after: each came from the system anew, page by page (docs/hardware.md).
var keepFreed = sync.OnceFunc(func() { C.keepFreed() })
