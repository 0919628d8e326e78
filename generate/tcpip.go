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

// tcpip follows the TCP/IP monitoring database of Govindaraju et al., "Fast
// computation of database operations using graphics processors" (SIGMOD 2004),
// section 5: one million records of four attributes, of which data_count "requires
// 19 bits to represent the largest data value and has a high variance". The
// paper's records are not published; these are made to have the properties that
// it names, and the names suggest:
//
//   - data_count: heavy-tailed. Its number of binary digits is 1 plus the sum of two
//     uniform numbers 0..9, and it is uniform among the numbers of that many
//     digits: half the records are below about 800, the mean is near 16,000, the
//     standard deviation about three times the mean. One record, chosen by the
//     seed, holds 2^19 - 1, so that any table needs exactly 19 bits.
//   - data_loss: data_count times the square of a load that is mostly low (the
//     least of three uniform numbers), at most an eighth of data_count.
//   - flow_rate: data_count spread over 1 to 16 units of time, less the more the
//     load.
//   - retransmissions: about one for each unit lost, a quarter more or less, and
//     in a quarter of the records up to 7 spurious ones.
func tcpip() Generator {
	derived := func(name string, hi int64, value func(key, row uint64, count int64) int64) genColumn {
		return genColumn{
			name: name, typ: table.Type{Kind: table.Integer}, lo: table.OrdinalInt(0), hi: table.OrdinalInt(hi),
			fill: func(key, first, rows uint64, ords []uint64) {
				for i := range ords {
					row := first + uint64(i)
					ords[i] = table.OrdinalInt(value(key, row, dataCount(key, row, rows)))
				}
			},
		}
	}
	return Generator{
		Name:        "tcpip",
		Doc:         "TCP/IP monitoring like the paper's: data_count (heavy-tailed, exactly 19 bits), data_loss, flow_rate, retransmissions",
		DefaultRows: 1_000_000,
		cols: []genColumn{
			derived("data_count", maxCount, func(_, _ uint64, count int64) int64 { return count }),
			derived("data_loss", maxCount/8, dataLoss),
			derived("flow_rate", maxCount, flowRate),
			derived("retransmissions", maxCount/8*5/4+8, retransmissions),
		},
	}
}

func dataCount(key, row, rows uint64) int64 {
	if row == mix(key)%rows {
		return maxCount
	}
	scale := random(key, row, tcpScale)
	digits := scale&0xffffffff*10>>32 + scale>>32*10>>32 // the sum of two of 0..9
	return int64(1<<digits | random(key, row, tcpCount)&(1<<digits-1))
}

// linkLoad is 0..255, mostly low.
func linkLoad(key, row uint64) int64 {
	r := random(key, row, tcpLoad)
	return int64(min(r&0xff, r>>8&0xff, r>>16&0xff))
}

func dataLoss(key, row uint64, count int64) int64 {
	l := linkLoad(key, row)
	return count * l * l >> 19
}

func flowRate(key, row uint64, count int64) int64 {
	return count * (256 - linkLoad(key, row)) >> 8 / (1 + int64(random(key, row, tcpTime)>>60))
}

func retransmissions(key, row uint64, count int64) int64 {
	r := random(key, row, tcpRetry)
	n := dataLoss(key, row, count) * (192 + int64(r&0x7f)) >> 8
	if r>>32&3 == 0 {
		n += int64(r >> 34 & 7)
	}
	return n
}
