//go:build !race

package table

const poison = false
