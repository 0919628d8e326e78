package count

import "github.com/stencildb/stencildb/demos/lesson"

// Exercises are those of the lesson; [Solve] finds the answer to the last.
var Exercises = []lesson.Exercise{
	{
		Ask:     "Flights over 1000 miles are marked with 1, all others hold 0. The quad of `delay > 60` is drawn with the stencil test NOTEQUAL 1. What does its occlusion query count?",
		Choices: []string{"all flights of up to 1000 miles", "late flights of up to 1000 miles", "late flights of over 1000 miles", "all late flights"},
		Answer:  "late flights of up to 1000 miles",
		Hints: map[string]string{
			"late flights of over 1000 miles": "That is the stencil test EQUAL 1.",
			"all late flights":                "A fragment that fails the stencil test is not counted.",
			"all flights of up to 1000 miles": "A fragment must pass both tests to be counted.",
		},
		Why: "What is counted has passed both tests.",
	},
	{
		Ask:    "`delay < d` is counted for 17 values of d, the smallest first. Each count less the one before it is a bar of a histogram. How many bars are there?",
		Answer: "16",
		Hints: map[string]string{
			"17": "A bar is the difference of two neighbours: count the gaps.",
			"18": "Without the two open ends: those below the first and from the last on.",
		},
		Why: "Between 17 posts there are 16 gaps.",
	},
	{
		Ask:    "Drawing takes 2 microseconds a pass, and a number 10 more to come back. Ten counts are all started before the first is waited for. After about how many microseconds are all there?",
		Answer: "30",
		Hints: map[string]string{
			"120": "That is one after the other: each waits before the next is drawn.",
			"12":  "The passes are still drawn one after the other: ten times 2.",
			"20":  "The last number needs its way back, too.",
			"100": "The ways back overlap.",
		},
		Why: "10 * 2 to draw, and the last number's way back of 10: against 120 one after the other.",
	},
	{
		Ask:    "The texture has 512 x 391 texels for 200,000 records. What would COUNT(*) be if the quad covered all of it?",
		Answer: "200192",
		Hints: map[string]string{
			"200000": "That is right, but a fragment would be made for each texel, those behind the last record included.",
		},
		Why: "512 * 391 fragments, 192 too many: so the last line is drawn by a quad of its own.",
	},
	{
		Ask:    "Late flights are those with `delay > 60`. The program counts all of them, and then those that fly more than 1000 miles. How many late flights fly 1000 miles or less?",
		Answer: "SELECT COUNT(*) FROM flights WHERE delay > 60 AND distance <= 1000",
		Hints: map[string]string{
			"SELECT COUNT(*) FROM flights WHERE delay > 60 AND distance > 1000": "Those fly more than 1000 miles: subtract them from all late flights.",
			"SELECT COUNT(*) FROM flights WHERE delay > 60":                     "Those are all late flights: subtract those that fly more than 1000 miles.",
		},
		Why: "All late flights, less those that fly more than 1000 miles.",
	},
}
