package workload

import (
	"hash/fnv"
	"math/rand/v2"
)

// DrawSeed is the seed of the parameters that the fresh protocol draws, so that all runs have the same.
const DrawSeed = 1

// maxRepeats is how many texts in a row that were drawn before say that there are no others.
const maxRepeats = 1000

// draws are up to n texts that draw gives, no two alike, and none like first. The same name gives the same.
func draws(name, first string, n int, draw func(*rand.Rand) string) (list []string) {
	h := fnv.New64a()
	h.Write([]byte(name))
	r, seen := rand.New(rand.NewPCG(DrawSeed, h.Sum64())), map[string]bool{first: true}
	for again := 0; len(list) < n && again < maxRepeats; {
		text := draw(r)
		if again++; !seen[text] {
			seen[text], again = true, 0
			list = append(list, text)
		}
	}
	return list
}
