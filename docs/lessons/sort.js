'use strict';
// Lesson 11: the codes of distance on their way through a sorting network or a radix sort.
const levels = Math.log2(flights.rows), networkPasses = levels * (levels + 1) / 2, digitBits = 4;

const descentsOf = codes => codes.reduce((n, c, i) => n + (i > 0 && c < codes[i - 1]), 0);

// exchanged is the codes after so many passes of the network.
function exchanged(codes, passes) {
  const out = Uint16Array.from(codes);
  for (let run = 2, pass = 0; run <= out.length; run *= 2) {
    for (let distance = run / 2; distance >= 1; distance /= 2, pass++) {
      if (pass === passes) return out;
      for (let i = 0; i < out.length; i++) {
        const j = i ^ distance;
        if (i < j && (out[i] > out[j]) === ((i & run) === 0)) [out[i], out[j]] = [out[j], out[i]];
      }
    }
  }
  return out;
}

// split puts codes in the order of a digit.
function split(codes, digit) {
  const of = c => c >> digit * digitBits & (1 << digitBits) - 1, counts = new Array(1 << digitBits).fill(0);
  for (const c of codes) counts[of(c)]++;
  const next = counts.map((_, d) => counts.slice(0, d).reduce((a, b) => a + b, 0));
  const out = new Uint16Array(codes.length);
  for (const c of codes) out[next[of(c)]++] = c;
  return { out, counts };
}

// rankOf is by code the share of the codes that are smaller.
const rankOf = (() => {
  const below = new Array(2 ** flights.distance.bits + 1).fill(0);
  for (const c of flights.distance.codes) below[c + 1]++;
  for (let c = 1; c < below.length; c++) below[c] += below[c - 1];
  return below.map(n => n / flights.rows);
})();

let shownCodes = flights.distance.codes; // for what is pointed at

figure('sort', {
  about: 'Let passes go by. The codes of distance lie where they are after them: dark is near, light is far. Sorted, they go from the top to the bottom.',
  start: { way: 'network', passes: 90 },
  controls: [
    { kind: 'choice', name: 'way', label: 'sort by', options: ['network', 'radix'], also: { network: { passes: 90 }, radix: { passes: 2 } } },
    { kind: 'range', name: 'passes', label: 'passes', lo: 0, hi: s => s.way === 'network' ? networkPasses : Math.ceil(flights.distance.bits / digitBits) },
  ],
  numbers({ way, passes }) {
    let codes = Uint16Array.from(flights.distance.codes), counts = [];
    if (way === 'network') {
      codes = exchanged(codes, passes);
    } else {
      for (let digit = 0; digit < Math.min(passes, Math.ceil(flights.distance.bits / digitBits)); digit++) ({ out: codes, counts } = split(codes, digit));
    }
    return { codes, counts, descents: descentsOf(codes), at: [0, 99, 8191, flights.rows - 1].map(i => flights.distance.value(codes[i])) };
  },
  tell: i => `place ${grouped(i)}: distance ${grouped(flights.distance.value(shownCodes[i]))}`,
  build(host, set, s, tells) {
    const places = field(host, 'The codes', tells), chart = host.appendChild(el('div'));
    return ({ way, passes }, n) => {
      shownCodes = n.codes;
      places(i => colours.value(rankOf[n.codes[i]]), `${grouped(n.descents)} codes are smaller than the one before them.`);
      if (way === 'radix') {
        let before = 0;
        bars(chart, n.counts.map((count, d) => ({ label: `digit ${d}`, from: before, to: before += count, mark: flights.rows, chosen: false, text: `${grouped(count)} codes` })));
        return passes === 0 ? 'Nothing has been counted yet.' : `Pass ${passes} has counted the codes by digit ${passes - 1}, and put them behind those with smaller digits: a bar begins where its digit's codes begin. ` +
          (n.descents ? 'Those with the same upper digits are in order among themselves.' : 'All are in order.');
      }
      bars(chart, Array.from({ length: levels }, (_, k) => k + 1).map(k => ({ label: `runs of ${grouped(2 ** k)}`, from: k * (k - 1) / 2, to: k * (k + 1) / 2, mark: networkPasses,
        chosen: passes > k * (k - 1) / 2 && passes <= k * (k + 1) / 2, text: `${k} ${k === 1 ? 'pass' : 'passes'}` })));
      return `${passes} of ${networkPasses} passes. Each one compares every code with a partner. ` + (n.descents ? '' : 'All are in order.');
    };
  },
});
