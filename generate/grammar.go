package generate

import (
	"strings"
	"sync"
)

// weighted are words, each as often in the list as it weighs.
type weighted []string

// weigh reads words behind their weight: "40 packages requests; 1 hockey_players".
func weigh(text string) (w weighted) {
	for _, group := range strings.Split(text, ";") {
		list := strings.Fields(group)
		n := 0
		for _, digit := range list[0] {
			n = 10*n + int(digit-'0')
		}
		for _, word := range list[1:] {
			for range n {
				w = append(w, strings.ReplaceAll(word, "_", " "))
			}
		}
	}
	return w
}

// grammar is that of TPC-H's comments (section 4.2.2.14), with dbgen's weights. Capital letters but T are phrases, of the parts
// that their letters name; the others are words.
var grammar = map[byte]weighted{
	'S': weigh("3 NVT NVPT NVNT; 1 NPVNT NPVPT"),
	'N': weigh("10 n; 20 jn; 10 j,jn; 50 djn"),
	'V': weigh("30 v; 1 xv; 40 vd; 1 xvd"),
	'P': weigh("1 p-N"),
	'T': append(weigh("50 .; 1 : ? ! --"), ";"),
	'n': weigh("40 packages requests accounts deposits; 20 foxes ideas theodolites pinto_beans instructions; 10 dependencies excuses platelets asymptotes; 5 courts dolphins; " +
		"1 multipliers sauternes warthogs frets dinos attainments somas Tiresias' patterns forges braids frays warhorses dugouts notornis epitaphs pearls tithes waters orbits " +
		"gifts sheaves depths sentiments decoys realms pains grouches escapades hockey_players"),
	'v': weigh("20 sleep wake are cajole haggle; 10 nag use boost; 5 affix detect integrate; 1 maintain nod was lose sublate solve thrash promise engage hinder print x-ray breach " +
		"eat grow impress mold poach serve run dazzle snooze doze unwind kindle play hang believe doubt"),
	'j': weigh("20 special pending unusual express; 1 furious sly careful blithe quick fluffy slow quiet ruthless thin close dogged daring brave stealthy permanent enticing idle busy; " +
		"50 regular; 40 final ironic; 30 even; 20 bold; 10 silent"),
	'd': weigh("50 furiously slyly carefully; 40 blithely; 30 quickly; 20 fluffily; 1 sometimes always never slowly quietly ruthlessly thinly closely doggedly daringly bravely " +
		"stealthily permanently enticingly idly busily regularly finally ironically evenly boldly silently"),
	'p': weigh("50 about above according_to across after; 40 against along; 30 alongside_of among; 20 around; 10 at; 1 atop before behind beneath beside besides between beyond by " +
		"despite during except for from in_place_of inside instead_of into near of on outside over past since through throughout to toward under until up upon without with within"),
	'x': weigh("1 do may might shall will would can could should ought_to must will_have_to shall_have_to could_have_to should_have_to must_have_to need_to try_to"),
}

// poolBytes is how much text comments are cut from.
const poolBytes = 16 << 20

// pool is sentences of the grammar, the same for all seeds.
var pool = sync.OnceValue(func() string {
	w := writer{text: make([]byte, 0, poolBytes+1000)}
	for len(w.text) < poolBytes {
		w.expand('S')
	}
	return string(w.text[1:])
})

// writer writes text of the grammar, a space before each word.
type writer struct {
	text []byte
	at   row // random numbers
}

func (w *writer) expand(part byte) {
	switch part {
	case ',':
		w.text = append(w.text, ',')
		return
	case '-':
		w.text = append(w.text, " the"...)
		return
	}
	w.at.n++
	choice := grammar[part][w.at.below(0, len(grammar[part]))]
	switch part {
	case 'S', 'N', 'V', 'P':
		for i := range len(choice) {
			w.expand(choice[i])
		}
		return
	case 'T':
	default:
		w.text = append(w.text, ' ')
	}
	w.text = append(w.text, choice...)
}

// comment describes a VARCHAR column of lo to hi characters of text, cut anywhere.
func comment(name string, stream uint64, lo, hi int) genColumn {
	return texts(name, func(r row) string { return r.comment(stream, lo, hi) })
}

func (r row) comment(stream uint64, lo, hi int) string {
	n := int(r.between(stream, lo, hi))
	at := r.below(stream+50, len(pool())-n)
	return pool()[at : at+n]
}

// Comment is text number n of those of lo to hi characters that are as TPC-H's comments.
func Comment(n uint64, lo, hi int) string { return row{n: n}.comment(0, lo, hi) }
