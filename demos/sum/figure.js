'use strict';
// Lesson 9: the sum of the codes is the sum of count(bit i) * 2^i.
figure('sum', {
  about: 'Each bit is a pass over all records. Choose one and see who has it and what that adds.',
  start: { attribute: 'distance', selection: 'all', bit: 9 },
  controls: [
    { kind: 'choice', name: 'attribute', label: 'attribute', options: ['delay', 'distance'] },
    { kind: 'choice', name: 'selection', label: 'among', options: [['all', 'all flights'], ['late', 'delay > 60']] },
    { kind: 'range', name: 'bit', label: 'TestBit', lo: 0, hi: s => flights[s.attribute].bits - 1 },
  ],
  numbers({ attribute, selection }) {
    const c = flights[attribute], t = new Target();
    if (selection === 'late') t.mark(flights.delay, '>', 60);
    const stencil = selection === 'late' ? marked : everyone, n = t.run({ stencil });
    // TestBit: divide by 2^(bit + 1); the fraction of a half or more is the bit.
    const counts = Array.from({ length: c.bits }, (_, bit) => t.run({ program: i => c.codes[i] / 2 ** (bit + 1) % 1 >= 0.5 && undefined, stencil }));
    const codes = counts.reduce((sum, count, bit) => sum + count * 2 ** bit, 0);
    return { n, counts, codes, sum: codes + n * c.min, stencil: t.stencil };
  },
  build(host, set, s, tells) {
    const front = field(host, 'The records that have the bit', tells), chart = host.appendChild(el('div'));
    return (s, n) => {
      const c = flights[s.attribute], bit = Math.min(s.bit, c.bits - 1), chosen = i => s.selection === 'all' || n.stencil[i] === 1;
      front(i => chosen(i) ? shade(c.ranks[i], c.codes[i] >> bit & 1) : colours.named('none'), `Green: bit ${bit} of the code is 1. ${grouped(n.counts[bit])} fragments are not discarded.`);
      bars(chart, n.counts.map((count, i) => ({ label: `bit ${i}`, to: count * 2 ** i, text: `${grouped(count)} × ${grouped(2 ** i)} = ${grouped(count * 2 ** i)}`, chosen: i === bit })));
      return `${c.bits} passes: the codes add up to ${grouped(n.codes)}. Each of ${grouped(n.n)} flights has its code plus ${c.min}: ${grouped(n.codes)} + ${grouped(n.n)} × ${c.min < 0 ? `(${c.min})` : c.min} = ${grouped(n.sum)}.`;
    };
  },
});
