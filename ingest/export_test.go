package ingest

// LoadFrom is what Load does with an open file.
var LoadFrom = loadFrom
