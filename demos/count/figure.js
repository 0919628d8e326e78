'use strict';
// Lesson 7: an occlusion counter, and the same count by popcounts.

// popcount counts the bits that are set in a word of 32.
function popcount(word) {
  let n = 0;
  for (; word; word &= word - 1) n++;
  return n;
}

// bitmap packs a truth value a record into words of 32.
function bitmap(holds) {
  const out = new Uint32Array(flights.rows / 32);
  for (let i = 0; i < flights.rows; i++) if (holds(i)) out[i >> 5] |= 1 << (i & 31);
  return out;
}

figure('count', {
  about: 'Count the same flights in two ways: fragment by fragment as an occlusion query does, or 32 at a time by popcounts.',
  start: { op: '>', value: 60, mask: 'none', how: 'fragments', first: -40 },
  controls: [
    { kind: 'choice', name: 'op', label: 'delay', options: Object.keys(mirrored) },
    { kind: 'value', name: 'value', label: 'constant', column: 'delay' },
    { kind: 'choice', name: 'mask', label: 'stencil', options: [['none', 'no test'], ['far', 'marked: distance > 1000'], ['near', 'not marked: distance <= 1000']] },
    { kind: 'choice', name: 'how', label: 'count by', options: [['fragments', 'occlusion query'], ['words', 'popcount']] },
    { kind: 'range', name: 'first', label: 'histogram from', lo: -80, hi: 200 },
  ],
  // below is 17 counts of delay < first, first + 10, ...; words is how many bits are set in
  // each word of the bitmap of what passes.
  numbers({ op, value, mask, first }) {
    const { delay } = flights, t = new Target().copy(delay);
    if (mask !== 'none') t.mark(flights.distance, '>', 1000);
    const stencil = { none: everyone, far: marked, near: { func: 'NOTEQUAL', ref: 1, op: 'KEEP' } }[mask];
    t.copy(delay);
    const count = t.compare(delay, op, value, stencil);
    const holds = i => functions[mirrored[op]](delay.code(value), delay.codes[i]) && functions[stencil.func](stencil.ref, t.stencil[i]);
    const words = Array.from(bitmap(holds), popcount);
    const below = Array.from({ length: 17 }, (_, i) => t.compare(delay, '<', first + 10 * i, stencil));
    return { count, words, popcount: words.reduce((a, b) => a + b), below, holds };
  },
  build(host, set, s, tells) {
    const front = field(host, 'What passes all tests', tells), chart = host.appendChild(el('div'));
    return (s, n) => {
      if (s.how === 'fragments') front(i => shade(flights.delay.ranks[i], n.holds(i)), 'Each green fragment adds 1 to the counter.');
      else front(i => colours.share(n.words[i >> 5] / 32, 'pass'), 'A block is a word of 32 records; the stronger, the more of its bits are set.');
      bars(chart, n.below.slice(1).map((k, i) => ({ label: `${s.first + 10 * i} to ${s.first + 10 * i + 9}`, to: k - n.below[i], text: grouped(k - n.below[i]) })));
      const how = s.how === 'fragments' ? `${grouped(flights.rows)} fragments, a counter that went up ${grouped(n.count)} times` : `${n.words.length} words, ${n.words.length} popcounts, added up: ${grouped(n.popcount)}`;
      return `COUNT(*) = ${grouped(n.count)}: ${how}. The histogram is made of 17 such counts, neighbours subtracted.`;
    };
  },
});
