'use strict';
// Lesson 1: a record is a place, and its texel holds a code.
figure('attributes', {
  about: 'Find a record: move the slider, or point at a texel. Each texel is a flight.',
  start: { attribute: 'distance', record: 8000 },
  controls: [
    { kind: 'choice', name: 'attribute', label: 'attribute', options: ['delay', 'distance', 'time'] },
    { kind: 'range', name: 'record', label: 'record', lo: 0, hi: flights.rows - 1 },
  ],
  numbers({ attribute, record }) {
    const c = flights[attribute], code = c.codes[record];
    const channels = c.bits > 24 ? [code & 0xffffff, code >>> 24] : [code];
    return { x: record % flights.width, y: Math.floor(record / flights.width), code, value: c.value(code), channels,
      texel: [flights.delay.codes[record], flights.distance.codes[record]] };
  },
  build(host, set, s, tells) {
    const whole = field(host, 'The texture', i => { tells(i); set({ record: i }); });
    const near = picture(host, 360, 360, 'Texels around the record'), context = near.getContext('2d');
    return (s, n) => {
      const c = flights[s.attribute], lines = flights.rows / flights.width, side = 5, cell = 360 / side;
      const left = Math.min(Math.max(n.x - 2, 0), flights.width - side), top = Math.min(Math.max(n.y - 2, 0), lines - side);
      const inside = (x, y) => x >= left && x < left + side && y >= top && y < top + side;
      whole(i => inside(i % flights.width, Math.floor(i / flights.width)) ? colours.named('quad') : shade(c.ranks[i]),
        `${flights.width} x ${lines} texels of ${s.attribute}. Point at one.`);
      context.font = '15px ui-monospace, monospace';
      context.textAlign = 'center';
      for (let y = 0; y < side; y++) {
        for (let x = 0; x < side; x++) {
          const i = (top + y) * flights.width + left + x, colour = shade(c.ranks[i]);
          context.fillStyle = colours.css(colour);
          context.fillRect(x * cell, y * cell, cell, cell);
          context.fillStyle = colour[0] + 2 * colour[1] + colour[2] > 480 ? '#000' : '#fff';
          context.fillText(c.bits > 24 ? (c.codes[i] >>> 24) + ':' : c.codes[i], (x + 0.5) * cell, y * cell + (c.bits > 24 ? 32 : 42));
          if (c.bits > 24) context.fillText(c.codes[i] & 0xffffff, (x + 0.5) * cell, y * cell + 50);
          if (i === s.record) {
            context.strokeStyle = colours.css(colours.named('quad'));
            context.lineWidth = 4;
            context.strokeRect(x * cell + 2, y * cell + 2, cell - 4, cell - 4);
          }
        }
      }
      near.say('The codes in the texels around it' + (c.bits > 24 ? ': upper limb, lower limb.' : '.'));
      const kept = c.bits > 24 ? `two channels, ${n.channels[0]} (the lower 24 bits) and ${n.channels[1]}` : `one channel, ${n.channels[0]}`;
      return `Record ${grouped(s.record)} lies at (${grouped(s.record)} mod ${flights.width}, ${grouped(s.record)} div ${flights.width}) = (${n.x}, ${n.y}). ` +
        `${s.attribute} is ${n.value}, so the code is ${c.bits > 24 ? 'made from the bits of the float, ' + grouped(n.code) : `${n.value} - ${c.min < 0 ? `(${c.min})` : c.min} = ${n.code}`}; the texel has ${kept}. ` +
        `A texel that delay and distance share has (${n.texel.join(', ')}).`;
    };
  },
});
