'use strict';
// Lesson 10: a comparison walks down the bit planes with two masks, 32 records an instruction.
const setBits = words => words.reduce((n, w) => {
  for (; w; w &= w - 1) n++;
  return n;
}, 0);

// planeOf packs bit i of a column's codes into words of 32 records.
function planeOf(c, i) {
  const out = new Uint32Array(flights.rows / 32);
  for (let r = 0; r < flights.rows; r++) out[r >> 5] |= (c.codes[r] >> i & 1) << (r & 31);
  return out;
}

figure('planes', {
  about: 'Walk down the planes: at each, the records whose bit differs from that of the constant are decided. A bar is the records that are still equal; those found less are on its left.',
  start: { attribute: 'distance', value: 1000, plane: 8 },
  controls: [
    { kind: 'choice', name: 'attribute', label: 'attribute', options: ['delay', 'distance'], also: { delay: { value: 60 }, distance: { value: 1000 } } },
    { kind: 'value', name: 'value', label: 'attribute <', column: 'attribute' },
    { kind: 'range', name: 'plane', label: 'walked down to plane', lo: 0, hi: s => flights[s.attribute].bits - 1 },
  ],
  // walk is, plane by plane from the top: the bit of the constant, how many records are
  // found less, and how many are equal so far.
  numbers({ attribute, value, plane }) {
    const c = flights[attribute], code = c.code(value), walk = [], words = flights.rows / 32;
    const lt = new Uint32Array(words), eq = new Uint32Array(words).fill(0xffffffff), popcounts = new Array(c.bits);
    let now;
    for (let i = c.bits - 1; i >= 0; i--) {
      const bits = planeOf(c, i);
      popcounts[i] = setBits(bits);
      for (let w = 0; w < words; w++) {
        if (code >> i & 1) {
          lt[w] |= eq[w] & ~bits[w];
          eq[w] &= bits[w];
        } else {
          eq[w] &= ~bits[w];
        }
      }
      walk.push({ plane: i, bit: code >> i & 1, less: setBits(lt), equal: setBits(eq) });
      if (i === Math.min(plane, c.bits - 1)) now = { bits, lt: lt.slice(), eq: eq.slice() };
    }
    return { popcounts, walk, count: setBits(lt), now };
  },
  build(host, set, s, tells) {
    const plane = field(host, 'The bit plane', tells), masks = field(host, 'The masks', tells), chart = host.appendChild(el('div'));
    const has = (words, i) => words[i >> 5] >> (i & 31) & 1;
    return (s, n) => {
      const c = flights[s.attribute], top = Math.min(s.plane, c.bits - 1), at = n.walk.find(w => w.plane === top);
      plane(i => colours.value(1 - has(n.now.bits, i)), `Plane ${top}, worth ${grouped(2 ** top)}: ${grouped(n.popcounts[top])} bits are set (dark) in ${flights.rows / 32} words.`);
      masks(i => colours.named(has(n.now.lt, i) ? 'pass' : has(n.now.eq, i) ? 'quad' : 'none'), 'Green: found less. Orange: equal so far. Grey: found greater.');
      bars(chart, n.walk.map(w => ({ label: `plane ${w.plane}: ${w.bit}`, from: w.less, to: w.less + w.equal, mark: flights.rows, chosen: w.plane === top, text: `${grouped(w.less)} less, ${grouped(w.equal)} equal` })));
      return `${s.attribute} < ${s.value} is code < ${n.walk.map(w => w.bit).join('')}. After plane ${top}: ${grouped(at.less)} flights are found less, ${grouped(at.equal)} are equal so far. ` +
        (at.equal ? '' : 'Nothing is equal any more: the walk can stop. ') + `In the end ${grouped(n.count)}.`;
    };
  },
});
