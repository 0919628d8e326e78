// Package reporttest makes reports of given times, for tests.
package reporttest
