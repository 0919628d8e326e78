package sum

import "github.com/stencildb/stencildb/demos/lesson"

// Exercises are those of the lesson; [Solve] finds the answer to the last.
var Exercises = []lesson.Exercise{
	{
		Ask:    "Three records have the codes 5, 6 and 7. What does bit 1 add to their sum?",
		Answer: "4",
		Hints: map[string]string{
			"2": "Two records have it, and it is worth 2.",
			"6": "5 is 101 in bits: it has not got bit 1.",
			"3": "Count the records that have bit 1 (6 and 7), and multiply by 2^1.",
		},
		Why: "6 and 7 have it: 2 * 2^1.",
	},
	{
		Ask:    "A column has 10 records, and its smallest value is -3. The counts of the bits, each times 2^i, add up to 1,000. What is the SUM of the column?",
		Answer: "970",
		Hints: map[string]string{
			"1000": "You have left out the minimum: that is the sum of the codes.",
			"997":  "The minimum is added once for each record.",
			"1030": "The minimum is added, and it is negative.",
		},
		Why: "1000 + 10 * -3.",
	},
	{
		Ask:     "TestBit looks for bit 2 of the code 13. Which fraction does the program look at?",
		Choices: []string{"0.625", "0.25", "0.5", "0.125"},
		Answer:  "0.625",
		Hints: map[string]string{
			"0.25":  "That is the fraction of 13 / 2^2. TestBit divides by 2^(i+1).",
			"0.5":   "That is what it is compared with.",
			"0.125": "Work out 13 / 8 once more.",
		},
		Why: "13 / 2^3 = 1.625, and 0.625 is at least one half: 13 = 1101 in bits has bit 2.",
	},
	{
		Ask:    "How many passes does `SUM(delay) WHERE distance > 1000` take, if codes of `delay` have 11 bits?",
		Answer: "13",
		Hints: map[string]string{
			"11": "The selection takes passes, too: a copy of distance, and a quad that marks.",
			"12": "The depth test needs a copy of distance before the quad that marks.",
			"14": "TestBit reads the texture: delay is not copied to depth.",
		},
		Why: "A copy, a quad that marks (and counts, for the minimum), and 11 TestBits.",
	},
	{
		Ask:    "How many miles did all flights together fly that were more than an hour late (`delay > 60`)? Use SQL, `./stencildb query 'SELECT ... FROM flights'`, or change the program in two places: which records TestBit counts, and how often the minimum is added.",
		Answer: "SELECT SUM(distance) FROM flights WHERE delay > 60",
		Hints: map[string]string{
			"SELECT SUM(distance) FROM flights":                                     "That is the sum over all flights: TestBit needs the stencil test.",
			"SELECT SUM(distance - 30) FROM flights WHERE delay > 60":               "You have left out the minimum.",
			"SELECT SUM(distance - 30) + 30 * 200000 FROM flights WHERE delay > 60": "You have added the minimum for all flights, not only for the late ones.",
		},
		Why: "The minimum is added once for each flight that is marked.",
	},
}
