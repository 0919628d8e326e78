// --- K-th searches and sums.

function svg(tag, attributes, ...kids) {
  const e = document.createElementNS('http://www.w3.org/2000/svg', tag);
  for (const [k, v] of Object.entries(attributes)) e.setAttribute(k, v);
  e.append(...kids);
  return e;
}

// numberLine draws a bar for every pass that has told something, the values that the
// answer may have, and marks the tentative values of the last one.
function numberLine(search, upTo) {
  const steps = search.steps.slice(0, upTo + 1).filter((s, i, all) => i === 0 || s.at[0] !== all[i - 1].at[0] || s.at[1] !== all[i - 1].at[1]);
  const wide = Math.max(240, $('search').clientWidth - 29), line = Math.max(3, Math.min(9, 180 / steps.length)), top = 16;
  const high = top + line * steps.length + 6;
  const type = trace.columns.find(c => c.name === search.column).type; // codes of floating point and of text are not in proportion to values
  const e = svg('svg', { viewBox: `0 0 ${wide} ${high}`, role: 'img', 'aria-label': 'number line' });
  e.append(svg('text', { x: 0, y: 10 }, search.ends[0]), svg('text', { x: wide, y: 10, 'text-anchor': 'end' }, search.ends[1]),
    /^(real|double|character)/.test(type) ? svg('text', { x: wide / 2, y: 10, 'text-anchor': 'middle' }, 'by code') : '',
    svg('line', { x1: 0, x2: wide, y1: top - 2, y2: top - 2, class: 'axis' }));
  for (const t of search.steps[upTo].tried || []) {
    const x = Math.max(1, Math.min(wide - 1, t.at * wide));
    e.append(svg('line', { x1: x, x2: x, y1: top - 2, y2: high, class: 'tried' }));
  }
  steps.forEach((s, i) => {
    const from = s.at[0] * wide, width = Math.max(2, (s.at[1] - s.at[0]) * wide);
    e.append(svg('rect', { x: Math.min(from, wide - width), y: top + i * line, width, height: line * 7 / 9, class: i === steps.length - 1 ? 'now' : 'past' }));
  });
  return e;
}

function showSearch(pass) {
  const box = $('search');
  box.hidden = pass.search < 0;
  box.textContent = '';
  if (box.hidden) return;
  const search = trace.searches[pass.search], step = search.steps[pass.step];
  const next = search.steps[pass.step + 1], same = next && ['tried', 'counts'].some(k => step[k] && JSON.stringify(next[k]) === JSON.stringify(step[k]));
  const before = pass.step > 0 ? search.steps[pass.step - 1].known.length : 0;
  const bits = make('div', { className: 'bits' });
  const decided = b => step.decides && step.decides[1] <= b && b <= step.decides[0];
  for (let i = 0; i < search.bits; i++) {
    const bit = search.bits - 1 - i, found = i < step.known.length;
    const constant = search.constant?.includes(bit);
    const kind = !found ? 'open' : constant ? 'same' : decided(bit) ? 'new' : i < before ? '' : step.counts ? 'told' : 'new';
    bits.append(make('span', { className: kind, title: `bit ${bit}${constant ? ': the same in all codes' : ''}` }, found ? step.known[i] : '·'));
  }
  box.append(make('h2', {}, `${search.aggregate}: bits of the code found so far`), bits, ...turn(search, pass.step),
    step.decision ? make('p', { className: 'decision' }, `${step.decision.words[0].toUpperCase()}${step.decision.words.slice(1)}.`) : '',
    step.decision ? '' : make('p', {}, ...(step.tried ? ['compared with ', make('b', { className: 'quad' }, step.tried.map(t => t.value).join(', ')), ': '] : []),
      step.ends[0] === step.ends[1] ? `the value is ${step.ends[0]}` : `the value lies in ${step.ends[0]} … ${step.ends[1]}`,
      same ? make('span', { className: 'dim' }, ' (the counts tell more when the other chunks are counted, too)') : ''),
    numberLine(search, pass.step));
  if (!step.digits) return;
  const most = Math.max(1, ...step.digits.map(d => d.records));
  const bars = make('div', { className: 'digits' });
  for (const d of step.digits) {
    bars.append(make('span', { className: d.bits === step.taken ? 'taken' : '' }, d.bits),
      make('span', {}, make('span', { className: 'bar', style: `width:${80 * d.records / most}%` }), ' ' + grouped(d.records)));
  }
  const zero = '0'.repeat(step.digits[0].bits.length);
  const rest = step.digits[0].bits === zero ? '' : `; how many have ${zero} is known when the last window of the chunk has been counted`;
  box.append(make('p', { className: 'dim' }, `Counted by this pass: ${step.decides ? 'candidates' : 'selected values'} by ${label(step.counts)}${rest}; the answer has ${step.taken}.`), bars);
}

const label = digit => digit[0] === digit[1] ? `bit ${digit[0]}` : `bits ${digit[0]}..${digit[1]}`;

// turn says what a pass of a search digit by digit decides, and what it counts for the
// next one.
function turn(search, n) {
  const step = search.steps[n];
  if (!step.counts) return [];
  const known = digit => range(digit[0], digit[1]).filter(b => !search.constant?.includes(b)).map(b => step.known[search.bits - 1 - b]).join('');
  const again = s => s && label(s.counts) === label(step.counts); // another window
  const last = search.steps.slice(n).every(again);
  const now = step.decides ? [`This pass decides ${label(step.decides)} from the counts of the pass before: `, make('b', {}, known(step.decides)), `. It keeps the candidates that have them and counts these by ${label(step.counts)}`]
    : [`This pass counts the selected values by ${label(step.counts)}`];
  const told = again(search.steps[n + 1]) ? '; the other windows of the chunk follow.'
    : `; from these counts the ${last ? 'host decides the last bits' : 'next pass decides them'}: ${known(step.counts)} (dashed).`;
  const list = [make('p', {}, ...now, told)];
  if (search.constant) list.push(make('p', { className: 'dim' }, `No pass counts ${runs(search.constant).map(label).join(', ')} (dotted), the same in all codes.`));
  return list;
}

// range lists bits from a high one down to a low one; runs puts bits that follow each
// other together again.
const range = (high, low) => Array.from({ length: high - low + 1 }, (_, i) => high - i);
function runs(bits) {
  const list = [];
  for (const b of bits) {
    if (list.at(-1)?.[1] === b + 1) list.at(-1)[1] = b; else list.push([b, b]);
  }
  return list;
}

let bitsOpen = false; // the list of a sum's bits

// sumLine draws the values' frame of reference, from 0, and what each bit adds to it.
function sumLine(sum, n) {
  const wide = 1000, part = (a, b, kind, text, y = 9) => svg('rect', { x: wide * Math.min(a, b), width: Math.max(1, wide * Math.abs(a - b)), y, height: 6, class: kind }, svg('title', {}, text));
  const e = svg('svg', { viewBox: `0 0 ${wide} 16`, preserveAspectRatio: 'none', class: 'sum', role: 'img', 'aria-label': 'the sum so far' },
    part(sum.line[0], sum.line[1], 'base', `${count(sum.values, 'value')} × ${groupedText(sum.base)} = ${groupedText(sum.bases)}`, 1));
  for (let i = 0; i < n; i++) e.append(part(sum.line[i + 1], sum.line[i + 2], i === n - 1 ? 'now' : 'past', sum.bits[i].words));
  e.append(svg('rect', { x: wide * sum.line[0] - 1, width: 2, y: 0, height: 16, class: 'zero' }, svg('title', {}, '0')));
  return e;
}

function showSum(pass) {
  const box = $('sum');
  box.hidden = pass.sum < 0;
  box.textContent = '';
  if (box.hidden) return;
  const sum = trace.sums[pass.sum];
  const rows = sum.bits.slice().reverse().map(b => make('tr', { className: b.pass > current ? 'later' : b.pass === current && !sum.host ? 'now' : '' },
    make('td', {}, String(b.bit)), make('td', {}, b.pass > current ? '' : grouped(b.records)), make('td', {}, b.pass > current ? '' : groupedText(b.adds)),
    make('td', { style: 'width:45%' }, ...(b.pass > current ? [] : [make('span', { className: 'bar', style: `width:${70 * b.share}%` }), ` ${(100 * b.share).toFixed(2)} %`]))));
  const where = trace.grids.length > 1 ? ` in chunk ${sum.chunk + 1} of ${trace.grids.length}` : '';
  const told = sum.bits.filter(b => b.pass <= current), now = told.at(-1);
  box.append(make('h2', {}, `Sum of ${sum.column}${where}: records that have a bit, times 2^bit`));
  if (now && !sum.host) box.append(make('p', { className: 'decision' }, now.words + '.'));
  if (sum.host && sum.bits.length > 0) box.append(make('p', { className: 'dim' }, 'Counted on the host: the program adds all bits up in one pass.'));
  if (sum.values > 0) box.append(sumLine(sum, told.length));
  if (sum.bits.length === 0) box.append(make('p', {}, 'A code has 0 bits, since all values are the same: sum = values × base.'));
  else {
    const bits = make('details', { open: bitsOpen }, make('summary', {}, 'bits'), make('table', {}, make('tr', {}, ...['bit', 'records', 'adds', 'share of all codes'].map(h => make('th', {}, h))), ...rows,
      make('tr', {}, make('td', {}, 'base'), make('td', {}, grouped(sum.values)), make('td', {}, groupedText(sum.bases)), make('td', {}, `frame of reference: ${count(sum.values, 'value')} × ${groupedText(sum.base)}`))));
    bits.addEventListener('toggle', () => { bitsOpen = bits.open; });
    box.append(bits);
  }
  if (told.length < sum.bits.length) return;
  box.append(sum.values === 0 ? make('p', {}, `No value is selected${where}: a SUM of no values is NULL.`) :
    make('p', {}, `${sum.bits.length > 0 ? `codes ${groupedText(sum.codes)} + ` : ''}${count(sum.values, 'value')} × ${groupedText(sum.base)} (the value of code 0) = ${groupedText(sum.total)}`));
}
