package bounds

import "github.com/stencildb/stencildb/demos/lesson"

// Exercises are those of the lesson; [Solve] finds the answer to the last.
var Exercises = []lesson.Exercise{
	{
		Ask:     "Which depth bounds, in miles, are `distance > 500 AND distance < 1000`?",
		Choices: []string{"501 and 999", "500 and 999", "499 and 1001", "500 and 1000"},
		Answer:  "501 and 999",
		Hints: map[string]string{
			"500 and 1000": "Both bounds belong to the range: that is BETWEEN 500 AND 1000.",
			"500 and 999":  "The lower bound belongs to the range, too.",
			"499 and 1001": "The ends move inwards.",
		},
		Why: "Both ends belong to the range, and between two whole numbers that follow each other there is none.",
	},
	{
		Ask:     "The same Range pass is drawn with the quad at depth 0, and again at depth 1. What do the two counts say?",
		Choices: []string{"the second is 0", "together they are COUNT(*)", "the same", "the first is 0"},
		Answer:  "the same",
		Hints: map[string]string{
			"the first is 0":             "That would be so with a depth function such as GREATER. Here it is ALWAYS.",
			"the second is 0":            "That would be so with a depth function such as LESS. Here it is ALWAYS.",
			"together they are COUNT(*)": "A record that the first counts is counted by the second as well.",
		},
		Why: "The bounds look at the stored depth alone, and the depth function is ALWAYS.",
	},
	{
		Ask:    "Without the test, for 500 to 1000: the stencil buffer is cleared to 0, and the quad of `distance >= 500` sets 1 where it passes (REPLACE by 1). Then the quad of `distance <= 1000` is drawn with the stencil test EQUAL 1, and INCR where both tests pass. Which value does a flight of 1,200 miles hold in the end?",
		Answer: "1",
		Hints: map[string]string{
			"0": "0 is what flights below 500 miles hold: this one has passed the first quad.",
			"2": "2 is what flights within the range hold: this one fails the second quad.",
		},
		Why: "It has passed the first quad and failed the second. 0 is too near, 1 too far, 2 in the range.",
	},
	{
		Ask:    "How many flights have `distance > 500 AND distance < 1000`? The ranges that the program prints do not tell. Use SQL, `./stencildb query 'SELECT ... FROM flights'`, or change the program.",
		Answer: "SELECT COUNT(*) FROM flights WHERE distance > 500 AND distance < 1000",
		Hints: map[string]string{
			"SELECT COUNT(*) FROM flights WHERE distance BETWEEN 500 AND 1000": "That is BETWEEN, to which both ends belong: flights of exactly 500 miles are among them.",
		},
		Why: "The bounds are 501 and 999.",
	},
}
