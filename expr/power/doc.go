// Package power has powers of doubles that are nearly correctly rounded: [Pow].
package power
