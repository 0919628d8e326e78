package kth

import "github.com/stencildb/stencildb/demos/lesson"

// Exercises are those of the lesson; [Solve] finds the answer to the last.
var Exercises = []lesson.Exercise{
	{
		Ask:     "k is 5. x is 0 so far, and 5 codes are 8 or more. Is bit 3 of x set?",
		Choices: []string{"no", "yes"},
		Answer:  "yes",
		Hints: map[string]string{
			"no": "Off by one: the 5th largest is among those 5. The bit is set if the count is greater than k - 1.",
		},
		Why: "Of 5 codes from 8 on the smallest is the 5th largest.",
	},
	{
		Ask:    "Codes have 4 bits. Bit 3 has been set, so x is 8. At which code is the quad of the next pass?",
		Answer: "12",
		Hints: map[string]string{
			"4":  "The bits that are decided stay: x + 2^i.",
			"10": "The next bit is bit 2, which is worth 4.",
			"8":  "That has been counted. The next bit is tried on top of it.",
		},
		Why: "x + 2^2 = 12.",
	},
	{
		Ask:    "How many counts does the median of 1,000,000 values take, if codes have 19 bits?",
		Answer: "19",
		Hints: map[string]string{
			"20":      "That is how often a million positions can be halved. Here values are halved, one bit a count.",
			"500000":  "It does not matter how large k is: a count for each bit.",
			"1000000": "Each count is of all records at once.",
		},
		Why: "One for each bit, however many records there are and whatever k is.",
	},
	{
		Ask:    "Which k is the median of 8 values, counted from the largest? (Of the two in the middle the lessons take the smaller.)",
		Answer: "5",
		Hints: map[string]string{
			"4": "The 4th largest of 8 is the larger of the two in the middle.",
		},
		Why: "n / 2 + 1 = 5.",
	},
	{
		Ask:    "What is the 1000th largest *distance* among the flights that are more than an hour late (`delay > 60`)? Use SQL, `./stencildb query 'SELECT kth_largest(...) FROM flights'`, or change the program: the search stays as it is, and the counts are restricted.",
		Answer: "SELECT kth_largest(distance, 1000) FROM flights WHERE delay > 60",
		Hints: map[string]string{
			"SELECT kth_largest(distance, 1000) FROM flights":                       "That is the one among all flights: each count needs the stencil test.",
			"SELECT kth_largest(distance, 1000) - 30 FROM flights WHERE delay > 60": "That is its code. You have left out the minimum.",
			"SELECT kth_smallest(distance, 1000) FROM flights WHERE delay > 60":     "That is the one from the other end.",
			"SELECT kth_largest(delay, 1000) FROM flights WHERE delay > 60":         "That is a delay. Distance has to be copied to depth after the late flights are marked.",
		},
		Why: "The stencil test keeps the counts to the flights that are marked.",
	},
}
