'use strict';
// Lesson 6: a CNF steps through the stencil buffer; the reader predicts a record's next value.

// The conditions: an AND of clauses, each an OR of [attribute, operator, constant].
const conditions = [
  [[['delay', '<', 0], ['distance', '>', 2000]], [['distance', '<', 250], ['delay', '>=', -10]]],
  [[['delay', '>', 15]], [['distance', '<', 700], ['delay', '>', 120]]],
  [[['delay', '<', 0], ['distance', '>', 2000]], [['distance', '<', 250], ['delay', '>=', -10]], [['distance', '>=', 500], ['delay', '>', 30]]],
  [[['delay', '>=', 0]], [['delay', '<=', 60]], [['distance', '>', 500]], [['distance', '<=', 1500]]],
];
const words = cnf => cnf.map(clause => '(' + clause.map(p => p.join(' ')).join(' OR ') + ')').join(' AND ');

// passesOf lists the passes of EvalCNF that change the stencil buffer.
function passesOf(cnf) {
  return cnf.flatMap((clause, i) => {
    const valid = i % 2 ? 2 : 1;
    return [
      ...clause.map(p => ({ text: `Compare(${p.join(' ')})`, predicate: p, valid, op: i % 2 ? 'DECR' : 'INCR', to: 3 - valid, last: i === cnf.length - 1 })),
      { text: `EvalCNF: drop what fails clause ${i + 1}`, valid, op: 'ZERO', to: 0 },
    ];
  });
}

figure('cnf', {
  about: 'Choose a record and predict the stencil value that it holds after the next pass.',
  start: { condition: 0, step: 0, record: 8256, guessed: null, right: 0, tried: 0 },
  controls: [
    { kind: 'choice', name: 'condition', label: 'WHERE', options: conditions.map((c, i) => [i, words(c)]), also: conditions.map(() => ({ step: 0, guessed: null })) },
    { kind: 'buttons', list: [
      ['start again', () => ({ step: 0, guessed: null })],
      ['another record', () => ({ record: Math.floor(Math.random() * flights.rows), guessed: null })],
    ] },
  ],
  // after has, for each pass done, how many records it moved and how many hold 0, 1, 2.
  numbers({ condition, step }) {
    const t = new Target(), passes = passesOf(conditions[condition]), after = [];
    let selected = 0, before;
    t.stencil.fill(1);
    for (const p of passes.slice(0, step)) {
      before = t.stencil.slice();
      const stencil = { func: 'EQUAL', ref: p.valid, op: p.op };
      const moved = p.predicate ? t.copy(flights[p.predicate[0]]).compare(flights[p.predicate[0]], p.predicate[1], p.predicate[2], stencil) : t.run({ stencil });
      if (p.last) selected += moved;
      after.push({ moved, hold: t.histogram() });
    }
    return { passes, after, selected, stencil: t.stencil, before };
  },
  build(host, set, s, tells) {
    let held = 0;
    const now = field(host, 'The stencil buffer', i => { tells(i); held = i; });
    host.firstChild.firstChild.addEventListener('click', () => set({ record: held, guessed: null }));
    const side = host.appendChild(el('div', 'side')), list = side.appendChild(el('ol', 'passes')), ask = side.appendChild(el('p')), buttons = side.appendChild(el('p', 'buttons')), score = side.appendChild(el('p'));
    for (const v of [0, 1, 2]) {
      const b = el('button', 'value', v);
      b.type = 'button';
      b.value = v;
      b.addEventListener('click', () => {
        const n = figures.cnf.numbers({ ...s, step: s.step + 1 });
        if (n.after.length === s.step) return;
        const right = n.stencil[s.record] === v;
        set({ step: s.step + 1, guessed: right, right: s.right + right, tried: s.tried + 1 });
      });
      buttons.append(b);
    }
    return (s, n) => {
      const x = s.record % flights.width, y = Math.floor(s.record / flights.width);
      now(i => {
        const near = Math.max(Math.abs(i % flights.width - x), Math.abs(Math.floor(i / flights.width) - y));
        return near === 2 || near === 3 ? colours.value(3 - near) : colours.stencil(n.stencil[i]);
      }, s.step ? `After pass ${s.step}. Click a texel to follow its record.` : 'Cleared to 1. Click a texel to follow its record.');
      list.replaceChildren(...n.passes.map((p, i) => {
        const a = n.after[i], li = el('li', i === s.step ? 'next' : '', p.text, el('br'), `stencil EQUAL ${p.valid}, ${p.op}: ${p.valid} becomes ${p.to}`);
        if (a) li.append(el('br'), `${grouped(a.moved)} moved; ` + a.hold.map((k, v) => `${grouped(k)} hold ${v}`).join(', '));
        return li;
      }));
      for (const b of buttons.children) b.style.borderColor = colours.css(colours.stencil(+b.value));
      const next = n.passes[s.step];
      buttons.hidden = !next;
      ask.textContent = next ? `The framed record (${tell(s.record)}) holds ${n.stencil[s.record]}. What does it hold after pass ${s.step + 1}?`
        : `Done. The counts of the last clause add up to ${grouped(n.selected)} selected flights.`;
      const done = n.passes[s.step - 1];
      score.textContent = s.guessed === null || !done ? '' : (s.guessed ? 'Right: ' : 'No: ') + (n.before[s.record] !== done.valid ? `it held ${n.before[s.record]}, and pass ${s.step} touches only records that hold ${done.valid}.`
        : n.stencil[s.record] === done.valid ? `it held ${done.valid} but failed the depth test, so it keeps that.` : `it held ${done.valid}${done.predicate ? ' and passed the depth test' : ''}, so ${done.op} made it ${done.to}.`) +
        ` (${s.right} of ${s.tried} predicted.)`;
      return words(conditions[s.condition]);
    };
  },
});
