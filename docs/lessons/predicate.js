'use strict';
// Lesson 3: a quad cuts the depth buffer; the depth test is the predicate.
figure('predicate', {
  about: 'Draw the quad: drag it up and down, or move the constant. Every record in the landscape is compared with it at once.',
  start: { attribute: 'distance', op: '<', value: 1000 },
  controls: [
    { kind: 'choice', name: 'attribute', label: 'attribute', options: ['delay', 'distance'], also: { delay: { value: 60 }, distance: { value: 1000 } } },
    { kind: 'choice', name: 'op', label: 'operator', options: Object.keys(mirrored) },
    { kind: 'value', name: 'value', label: 'constant', column: 'attribute' },
  ],
  numbers({ attribute, op, value }) {
    const c = flights[attribute];
    const count = new Target().copy(c).compare(c, op, value);
    return { func: mirrored[op], quad: c.code(value), count, selectivity: count / flights.rows };
  },
  build(host, set, s, tells) {
    const view = relief(host, 'The depth buffer as a landscape, cut by the quad', rank => {
      const c = flights[s.attribute];
      set({ value: c.value(c.sorted[Math.min(flights.rows - 1, Math.floor(rank * flights.rows))]) });
    });
    const front = field(host, 'The depth buffer from the front', tells);
    return (s, n) => {
      const c = flights[s.attribute], passes = i => functions[n.func](n.quad, c.codes[i]);
      view(c.ranks, [c.rank(n.quad)], passes, 'Height is the stored depth (by rank). Drag the quad up and down.');
      front(i => shade(c.ranks[i], passes(i)), 'From the front, a texel a flight.');
      return `${s.attribute} ${s.op} ${s.value}: depth function ${n.func}, quad at ${grouped(n.quad)} / 2^24. ` +
        `${grouped(n.count)} of ${grouped(flights.rows)} fragments pass: selectivity ${n.selectivity.toFixed(4)}.`;
    };
  },
});
