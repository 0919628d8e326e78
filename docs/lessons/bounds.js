'use strict';
// Lesson 4: the depth bounds test looks at the stored depth alone.
figure('bounds', {
  about: 'Move the two ends of the range, and the quad itself: with the depth bounds test its depth does not matter. This works on any machine: the page does the test, record by record.',
  start: { attribute: 'distance', lo: 500, hi: 1000, quad: 0, how: 'bounds' },
  controls: [
    { kind: 'choice', name: 'attribute', label: 'attribute', options: ['delay', 'distance'], also: { delay: { lo: 0, hi: 30 }, distance: { lo: 500, hi: 1000 } } },
    { kind: 'value', name: 'lo', label: 'from', column: 'attribute' },
    { kind: 'value', name: 'hi', label: 'to', column: 'attribute' },
    { kind: 'choice', name: 'how', label: 'as a card', options: [['bounds', 'with the test: one pass'], ['quads', 'without it: two quads']] },
    { kind: 'range', name: 'quad', label: 'depth of the quad, % (with the test)', lo: 0, hi: 100 },
  ],
  // selected is the stencil value of the records in the range; after is how many records
  // hold 0, 1 and 2 after each pass.
  numbers({ attribute, lo, hi, quad, how }) {
    const c = flights[attribute], t = new Target().copy(c), after = [];
    let count;
    if (how === 'bounds') {
      count = t.run({ clear: 0, bounds: [c.code(lo), c.code(hi)], quad: Math.round(quad / 100 * (2 ** c.bits - 1)), stencil: { func: 'ALWAYS', ref: 1, op: 'REPLACE' } });
    } else {
      t.compare(c, '>=', lo, { func: 'ALWAYS', ref: 1, op: 'REPLACE' }, 0);
      after.push(t.histogram());
      count = t.compare(c, '<=', hi, { func: 'EQUAL', ref: 1, op: 'INCR' });
    }
    after.push(t.histogram());
    return { count, passes: after.length, selected: after.length, after, stencil: t.stencil };
  },
  build(host, set, s, tells) {
    const view = relief(host, 'The depth buffer as a landscape, and the slab', rank => {
      const c = flights[s.attribute], value = c.value(c.sorted[Math.min(flights.rows - 1, Math.floor(rank * flights.rows))]);
      set(Math.abs(value - s.lo) < Math.abs(value - s.hi) ? { lo: value } : { hi: value });
    });
    const front = field(host, 'The stencil buffer', tells);
    return (s, n) => {
      const c = flights[s.attribute];
      view(c.ranks, [c.rank(c.code(s.lo)), c.rank(c.code(s.hi) + 1)], i => n.stencil[i] === n.selected, 'The two ends of the range. Drag one.');
      front(i => colours.stencil(n.stencil[i]), 'The stencil buffer afterwards: ' + n.after.at(-1).map((k, v) => `${grouped(k)} hold ${v}`).filter((_, v) => v <= n.selected).join(', ') + '.');
      const said = s.how === 'bounds' ? 'One pass, depth function ALWAYS, bounds on, REPLACE by 1: wherever the quad lies, the count is the same'
        : 'Two passes: >= marks with 1, <= takes the marked ones to 2';
      return `${s.attribute} BETWEEN ${s.lo} AND ${s.hi}: ${grouped(n.count)} flights. ${said}.`;
    };
  },
});
