package generate

import (
	"github.com/stencildb/stencildb/table"
)

// Streams of random bits of tcpip.
const (
	tcpCount = iota
	tcpScale
	tcpLoad
	tcpTime
	tcpRetry
)

// maxCount is the largest data_count: 19 bits.
const maxCount = 1<<19 - 1

// tcpip follows the TCP/IP monitoring database of Govindaraju et al., "Fast computation of database
// operations using graphics processors" (SIGMOD 2004), section 5. That has one million records of four
// attributes. Its data_count "requires 19 bits to represent the largest data value and has a high variance".
// The paper's records are not published; these are made to have the properties that it names, and the names
// suggest:
//
//   - data_count: heavy-tailed. Its number of binary digits is 1 plus the sum of two uniform numbers 0..9. It
//     is uniform among the numbers of that many digits. Half the records are below about 800, the mean is
//     near 16,000, and the standard deviation is about three times the mean. One record, chosen by the seed,
//     holds 2^19 - 1, so that any table needs exactly 19 bits.
//   - data_loss: data_count times the square of a load that is mostly low (the
//     least of three uniform numbers), at most an eighth of data_count.
//   - flow_rate: data_count spread over 1 to 16 units of time, less the more the
//     load.
//   - retransmissions: about one for each unit lost, a quarter more or less, and
//     in a quarter of the records up to 7 spurious ones.
func tcpip() Generator {
	return Generator{
		Name:        "tcpip",
		Doc:         "TCP/IP monitoring like the paper's: data_count (heavy-tailed, exactly 19 bits), data_loss, flow_rate, retransmissions",
		DefaultRows: 1_000_000,
		cols: []genColumn{
			integers("data_count", table.Integer, 0, maxCount, dataCount),
			integers("data_loss", table.Integer, 0, maxCount/8, dataLoss),
			integers("flow_rate", table.Integer, 0, maxCount, flowRate),
			integers("retransmissions", table.Integer, 0, maxCount/8*5/4+8, retransmissions),
		},
	}
}

func dataCount(r row) int64 {
	if r.n == mix(r.key)%r.rows {
		return maxCount
	}
	scale := r.random(tcpScale)
	digits := scale&0xffffffff*10>>32 + scale>>32*10>>32 // the sum of two of 0..9
	return int64(1<<digits | r.random(tcpCount)&(1<<digits-1))
}

// linkLoad is 0..255, mostly low.
func linkLoad(r row) int64 {
	x := r.random(tcpLoad)
	return int64(min(x&0xff, x>>8&0xff, x>>16&0xff))
}

func dataLoss(r row) int64 {
	l := linkLoad(r)
	return dataCount(r) * l * l >> 19
}

func flowRate(r row) int64 {
	return dataCount(r) * (256 - linkLoad(r)) >> 8 / (1 + int64(r.random(tcpTime)>>60))
}

func retransmissions(r row) int64 {
	x := r.random(tcpRetry)
	n := dataLoss(r) * (192 + int64(x&0x7f)) >> 8
	if x>>32&3 == 0 {
		n += int64(x >> 34 & 7)
	}
	return n
}
