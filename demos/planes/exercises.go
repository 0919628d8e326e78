package planes

import "github.com/stencildb/stencildb/demos/lesson"

// Exercises are those of the lesson; [Solve] finds the answer to the last.
var Exercises = []lesson.Exercise{
	{
		Ask:    "How many words of 32 bits does a plane of 1,000 records need?",
		Answer: "32",
		Hints: map[string]string{
			"31":   "31 words hold 992 records.",
			"1000": "A word holds one bit of 32 records.",
			"125":  "That is how many bytes its bits fill: count words of 32 bits.",
		},
		Why: "1000 / 32, rounded up. The bits behind the last record have to stay 0.",
	},
	{
		Ask:     "`code < c` walks down the planes. A record was equal so far; now its bit is 1, and that of c is 0. What is it?",
		Choices: []string{"equal so far", "greater: it leaves the masks", "less"},
		Answer:  "greater: it leaves the masks",
		Hints: map[string]string{
			"less":         "Less is where the record has 0 and c has 1.",
			"equal so far": "The bits differ, so it is decided.",
		},
		Why: "The first bit that differs decides.",
	},
	{
		Ask:    "k is 10, and of the candidates 4 have the top bit. What is k for the next bit?",
		Answer: "6",
		Hints: map[string]string{
			"10": "The 4 that have it are larger than the answer and go: they no longer stand before it.",
			"4":  "4 are fewer than 10, so the answer is among the others, behind these 4.",
			"14": "Candidates are taken away, not added.",
		},
		Why: "The answer has not got the bit. Those 4 are larger, so it is the 6th of the others.",
	},
	{
		Ask:    "A column has codes of 13 bits. How many bits of each record does a SUM read on bit planes?",
		Answer: "13",
		Hints: map[string]string{
			"416": "A word has one bit of 32 records.",
			"32":  "A float has 32. Planes hold what the codes have.",
			"169": "Each plane is read once.",
		},
		Why: "Each plane once. The paper's Accumulator reads all 32 bits of a float, 13 times.",
	},
	{
		Ask:    "How many flights have an odd distance? One popcount of one plane is enough, because the smallest distance is 30.",
		Answer: "SELECT COUNT(*) FROM flights WHERE distance % 2 = 1",
		Hints: map[string]string{
			"SELECT COUNT(*) FROM flights WHERE distance % 2 = 0": "Those are the even ones. Codes are distance - 30, and 30 is even: the code is odd where the distance is.",
		},
		Why: "Plane 0 of the codes, since taking 30 away leaves odd distances odd.",
	},
}
