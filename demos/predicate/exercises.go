package predicate

import "github.com/stencildb/stencildb/demos/lesson"

// Exercises are those of the lesson; [Solve] finds the answer to the last.
var Exercises = []lesson.Exercise{
	{
		Ask:     "Which depth function is `delay >= 60`?",
		Choices: []string{"LESS", "LEQUAL", "GREATER", "GEQUAL"},
		Answer:  "LEQUAL",
		Hints: map[string]string{
			"GEQUAL":  "The hardware has the quad on its left side: 60 <= delay.",
			"LESS":    "That is delay > 60: flights of exactly 60 minutes are missing.",
			"GREATER": "That is delay < 60.",
		},
		Why: "The quad's depth is less than or equal to the stored one: 60 <= delay.",
	},
	{
		Ask:    "`delay` has been copied to the depth buffer. How many more passes do the counts of `delay < 15`, `delay < 60` and `delay > 120` take together?",
		Answer: "3",
		Hints: map[string]string{
			"6": "The copy is still there: a comparison writes no depth.",
			"4": "The copy has been done already, and comparisons leave it as it is.",
		},
		Why: "A quad each. Depth writes are off, so the copy serves all three.",
	},
	{
		Ask:    "The stencil buffer is cleared to 0. The quad of `delay < 60` sets 1 where it passes (REPLACE by 1). Then the quad of `delay >= 15` is drawn with the stencil test EQUAL 1, and INCR where both tests pass. Which value does a flight of 70 minutes hold in the end?",
		Answer: "0",
		Hints: map[string]string{
			"1": "It has failed the first quad, 70 is not below 60, so nobody has set it to 1.",
			"2": "Only a record that passes both quads gets there.",
		},
		Why: "It fails the first depth test and keeps 0, and with 0 it fails the stencil test of the second.",
	},
	{
		Ask:    "How many flights were at least 15 and less than 60 minutes late? You may draw two quads over one copy, and subtract: the numbers are in the program's output.",
		Answer: "SELECT COUNT(*) FROM flights WHERE delay >= 15 AND delay < 60",
		Hints: map[string]string{
			"SELECT COUNT(*) FROM flights WHERE delay > 15 AND delay < 60":   "You have written > where >= is meant: flights of exactly 15 minutes belong to it.",
			"SELECT COUNT(*) FROM flights WHERE delay >= 15 AND delay <= 60": "You have written <= where < is meant: flights of exactly 60 minutes do not belong to it.",
			"SELECT COUNT(*) FROM flights WHERE delay < 60":                  "Those below 15 are among them: subtract.",
			"SELECT COUNT(*) FROM flights WHERE delay >= 15":                 "Those of an hour and more are among them.",
		},
		Why: "All flights below 15 are also below 60, so the difference is what lies between.",
	},
}
