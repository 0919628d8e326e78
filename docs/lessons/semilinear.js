'use strict';
// Lesson 5: a fragment program adds up two attributes and discards.

// condition is that of the settings as SQL would have it: 10 * delay - distance > 0.
function condition({ s0, s1, op, b }) {
  const terms = [[s0, 'delay'], [s1, 'distance']].filter(([s]) => s !== 0);
  const sum = terms.map(([s, name], i) => (s < 0 ? i ? ' - ' : '-' : i ? ' + ' : '') + (Math.abs(s) === 1 ? '' : Math.abs(s) + ' * ') + name).join('');
  return `${sum || 0} ${op} ${b}`;
}

figure('semilinear', {
  about: 'Turn and shift the line: the coefficients and b are uniforms, the program stays the same.',
  start: { s0: 10, s1: -1, op: '>', b: 0 },
  controls: [
    { kind: 'range', name: 's0', label: 's0 (delay)', lo: -20, hi: 20 },
    { kind: 'range', name: 's1', label: 's1 (distance)', lo: -20, hi: 20 },
    { kind: 'choice', name: 'op', label: 'operator', options: Object.keys(mirrored) },
    { kind: 'range', name: 'b', label: 'b', lo: -5000, hi: 5000 },
  ],
  // Texels hold codes, so the constant part of the sum goes to the other side: b becomes codes.
  numbers({ s0, s1, op, b }) {
    const { delay, distance } = flights, codes = b - s0 * delay.min - s1 * distance.min;
    const holds = functions[{ '<': 'LESS', '<=': 'LEQUAL', '=': 'EQUAL', '>=': 'GEQUAL', '>': 'GREATER', '<>': 'NOTEQUAL' }[op]];
    const t = new Target();
    const count = t.run({ clear: 0, program: i => holds(s0 * delay.codes[i] + s1 * distance.codes[i], codes) && undefined, stencil: { func: 'ALWAYS', ref: 1, op: 'REPLACE' } });
    return { count, discarded: flights.rows - count, codes, stencil: t.stencil };
  },
  build(host, set, s, tells) {
    const front = field(host, 'The stencil buffer', tells);
    const plot = picture(host, 480, 480, 'The flights by distance and delay, cut by a line'), context = plot.getContext('2d');
    const place = i => [flights.distance.value(flights.distance.codes[i]) / 3000 * 480, 480 - (flights.delay.value(flights.delay.codes[i]) + 100) / 500 * 480];
    return (s, n) => {
      front(i => colours.stencil(n.stencil[i]), 'The stencil buffer: 1 where the fragment was not discarded.');
      context.fillStyle = ink('bg');
      context.fillRect(0, 0, 480, 480);
      for (const chosen of [0, 1]) {
        context.fillStyle = chosen ? colours.css(colours.stencil(1)) : ink('dim');
        for (let i = 0; i < flights.rows; i++) if (n.stencil[i] === chosen) context.fillRect(...place(i), 1.6, 1.6);
      }
      context.strokeStyle = colours.css(colours.named('quad'));
      context.lineWidth = 2.5;
      context.beginPath();
      // s0 * delay + s1 * distance = b, through the plot
      if (s.s0) for (const distance of [0, 3000]) context.lineTo(distance / 3000 * 480, 480 - ((s.b - s.s1 * distance) / s.s0 + 100) / 500 * 480);
      else if (s.s1) for (const y of [0, 480]) context.lineTo(s.b / s.s1 / 3000 * 480, y);
      context.stroke();
      plot.say('Across: distance, 0 to 3,000 miles. Upwards: delay, -100 to 400 minutes. The line is where both sides are equal.');
      return `${condition(s)}. In codes the right side is ${grouped(n.codes)}. ${grouped(n.discarded)} fragments are discarded, ${grouped(n.count)} pass.`;
    };
  },
});
