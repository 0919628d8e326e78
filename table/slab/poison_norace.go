//go:build !race

package slab

const poison = false
