package vector

// BlockRows is the number of rows that a worker of a scan takes at a time. These are 8 KiB of selection.
// Their codes stay in the second-level cache while the predicates and aggregates of a query read them. A
// selection has one word for 64 rows; its bits past the last row are 0.
const BlockRows = 1 << 16

// PieceRows is how many rows a worker looks at in one go: what it keeps of them stays in its
// caches.
const PieceRows = 1 << 13
