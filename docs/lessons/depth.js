'use strict';
// Lesson 2: a depth buffer that keeps only some of the bits.
figure('depth', {
  about: 'Take bits away from the depth buffer and see which records a quad can no longer tell apart.',
  start: { attribute: 'delay', keep: 6, value: 60 },
  controls: [
    { kind: 'choice', name: 'attribute', label: 'attribute', options: ['delay', 'distance'], also: { delay: { value: 60, keep: 6 }, distance: { value: 1000, keep: 8 } } },
    { kind: 'range', name: 'keep', label: 'bits kept', lo: 1, hi: s => flights[s.attribute].bits },
    { kind: 'value', name: 'value', label: 'attribute <', column: 'attribute' },
  ],
  // The copy and the quad lose the same bits.
  numbers({ attribute, keep, value }) {
    const c = flights[attribute], drop = Math.max(0, c.bits - keep), t = new Target().copy(c, drop);
    const quad = c.code(value) >>> drop << drop;
    const count = t.run({ quad, depth: 'GREATER' }), exact = new Target().copy(c).compare(c, '<', value);
    return { count, exact, missed: exact - count, depths: new Set(t.depth).size, quad, drop, stands: c.value(quad) };
  },
  build(host, set, s, tells) {
    const view = relief(host, 'The depth buffer with few bits as a landscape, cut by the quad', rank => {
      const c = flights[s.attribute];
      set({ value: c.value(c.sorted[Math.min(flights.rows - 1, Math.floor(rank * flights.rows))]) });
    });
    const front = field(host, 'Which records are lost', tells);
    return (s, n) => {
      const c = flights[s.attribute], coarse = c.codes.map(code => code >>> n.drop << n.drop);
      const ranks = new Map([...new Set(coarse)].map(code => [code, c.rank(code)]));
      view(Float32Array.from(coarse, code => ranks.get(code)), [c.rank(n.quad)], i => coarse[i] < n.quad, 'The depth buffer: terraces, a step for each depth that is left. Drag the quad.');
      front(i => coarse[i] >= n.quad && c.codes[i] < c.code(s.value) ? colours.named('dropped') : shade(c.ranks[i], coarse[i] < n.quad),
        'Green passes. Red ought to pass and does not.');
      return `With ${Math.min(s.keep, c.bits)} of ${c.bits} bits there are ${grouped(n.depths)} different depths, and the quad for ${s.value} stands at the depth of ${n.stands}. ` +
        `${grouped(n.count)} flights pass, ${grouped(n.exact)} should: ${n.missed ? grouped(n.missed) + ' are lost.' : 'none is lost.'}`;
    };
  },
});
