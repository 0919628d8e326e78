'use strict';
// Lesson 12: two dimensions are filtered, and each flight that is left goes to the slot of its groups.
const starDimensions = { delay: { from: 0, width: 15 }, distance: { from: 500, width: 500 } }, starGroups = 4;

// groupsOf is a dimension's array by code: the group, or -1 where the filter leaves it out.
function groupsOf(name, keep) {
  const { from, width } = starDimensions[name];
  return Array.from({ length: 1 << flights[name].bits }, (_, code) => {
    const g = Math.floor((code + flights[name].min - from) / width);
    return g >= 0 && g < keep ? g : -1;
  });
}

figure('join', {
  about: 'Filter both dimensions: their first groups stay. A flight that is left goes to slot 4 * (its group of delay) + (its group of distance).',
  start: { delay: 3, distance: 2 },
  controls: [
    { kind: 'range', name: 'delay', label: 'groups of 15 minutes, from 0', lo: 1, hi: starGroups },
    { kind: 'range', name: 'distance', label: 'groups of 500 miles, from 500', lo: 1, hi: starGroups },
  ],
  numbers({ delay, distance }) {
    const a = groupsOf('delay', delay), b = groupsOf('distance', distance), counts = new Array(starGroups ** 2).fill(0);
    const slots = Array.from(flights.delay.codes, (code, i) => {
      const x = a[code], y = b[flights.distance.codes[i]];
      return x < 0 || y < 0 ? -1 : starGroups * x + y;
    });
    for (const s of slots) if (s >= 0) counts[s]++;
    return { slots, counts, left: slots.filter(s => s >= 0).length };
  },
  build(host, set, s, tells) {
    const rows = field(host, 'The slots of the flights', tells), chart = host.appendChild(el('div'));
    return (s, { slots, counts, left }) => {
      rows(i => slots[i] < 0 ? colours.named('none') : mix(colours.named('pass'), colours.named('quad'), slots[i] / (starGroups ** 2 - 1)), 'Grey: left out. Green to orange: slot 0 to 15.');
      bars(chart, counts.map((n, slot) => ({ label: `slot ${slot}`, to: n, text: `${grouped(n)}: ${Math.floor(slot / starGroups)}, ${slot % starGroups}` })));
      return `${grouped(left)} of ${grouped(flights.rows)} flights are left, in ${counts.filter(n => n).length} slots.`;
    };
  },
});
