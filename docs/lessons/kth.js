'use strict';
// Lesson 8: find the k-th largest value by counts alone, against the algorithm.
const selections = [['all', 'all flights'], ['late', 'delay > 60'], ['far', 'distance > 1000']];

// select marks a selection and returns the stencil test that it passes.
function select(t, selection) {
  if (selection === 'late') t.mark(flights.delay, '>', 60);
  if (selection === 'far') t.mark(flights.distance, '>', 1000);
  return selection === 'all' ? everyone : marked;
}

figure('kth', {
  about: 'Find the value yourself: choose one and count how many flights have it or more. If k or more have it, the answer is among them; else it is less. Go on until one value is left. Then see how many counts the algorithm takes.',
  start: { attribute: 'delay', k: 100, selection: 'all', guess: 60, asked: [], shown: 'no' },
  controls: [
    { kind: 'choice', name: 'attribute', label: 'attribute', options: ['delay', 'distance'], also: { delay: { asked: [], guess: 60 }, distance: { asked: [], guess: 1000 } } },
    { kind: 'number', name: 'k', label: 'k' },
    { kind: 'choice', name: 'selection', label: 'among', options: selections },
    { kind: 'value', name: 'guess', label: 'is it at least', column: 'attribute' },
    { kind: 'buttons', list: [['count', s => ({ asked: [...s.asked, s.guess] })], ['new game', () => ({ asked: [], shown: 'no' })], ['show the algorithm', () => ({ shown: 'yes' })]] },
  ],
  // steps are the algorithm's; asked are the reader's guesses, and lo to hi the values that
  // these leave possible.
  numbers({ attribute, k, selection, asked }) {
    const c = flights[attribute], t = new Target(), stencil = select(t, selection), steps = [];
    t.copy(c);
    const atLeast = code => t.run({ quad: code, depth: 'LEQUAL', stencil });
    const n = atLeast(0), rank = Math.max(1, Math.min(k, n));
    let x = 0;
    for (let bit = c.bits - 1; bit >= 0; bit--) {
      const tried = x + 2 ** bit, count = atLeast(tried), set = count > rank - 1;
      if (set) x = tried;
      steps.push({ bit, tried, count, set, x });
    }
    let lo = c.min, hi = c.value(2 ** c.bits - 1);
    const counts = asked.map(m => {
      const count = atLeast(c.code(m)), from = c.code(lo), to = c.code(hi) + 1;
      if (count > rank - 1) lo = Math.max(lo, m); else hi = Math.min(hi, m - 1);
      return { m, count, from, to };
    });
    return { n, rank, value: c.value(x), steps, counts, lo, hi };
  },
  build(host, set, s, tells) {
    const front = field(host, 'What is still possible', tells), side = host.appendChild(el('div', 'side')), yours = side.appendChild(el('div')), title = side.appendChild(el('p')), theirs = side.appendChild(el('div'));
    return (s, n) => {
      const c = flights[s.attribute], lo = c.code(n.lo), hi = c.code(n.hi);
      front(i => c.codes[i] < lo || c.codes[i] > hi ? colours.named('none') : shade(c.ranks[i]), `Flights whose ${s.attribute} can still be the answer, ${n.lo} to ${n.hi}. The others are left out.`);
      bars(yours, n.counts.map(({ m, count, from, to }, i) => ({ label: `count ${i + 1}`, from, to, mark: c.code(m), text: `${grouped(count)} at ${m} or more: ${count > n.rank - 1 ? 'the answer, too' : 'the answer is less'}` })));
      const solved = n.lo === n.hi;
      title.textContent = s.shown === 'yes' || solved ? `KthLargest: ${c.bits} counts, a bit each` : '';
      bars(theirs, s.shown === 'yes' || solved ? n.steps.map(d => ({ label: `bit ${d.bit}`, from: d.set ? d.x - 2 ** d.bit : d.x, to: (d.set ? d.x : d.x + 2 ** d.bit) + 2 ** d.bit, mark: d.tried,
        text: `${grouped(d.count)} at ${c.value(d.tried)} or more: bit is ${+d.set}` })) : []);
      return `Which ${s.attribute} is number ${grouped(n.rank)} from the top of ${grouped(n.n)}? ` + (solved ? `${n.value}: you took ${n.counts.length} counts, the algorithm takes ${c.bits}.`
        : s.shown === 'yes' ? `The algorithm finds ${n.value}.` : `Between ${n.lo} and ${n.hi}: choose a value and count.`);
    };
  },
});
