'use strict';
(() => {
  const trace = JSON.parse(document.getElementById('trace').textContent);
  const $ = id => document.getElementById(id);
  const grouped = n => n.toLocaleString('en-US');
  // groupedText groups the digits of a number of any length before its point.
  const groupedText = s => s.replace(/^-?\d+/, d => d.replace(/\B(?=(\d{3})+$)/g, ','));
  const count = (n, what) => `${grouped(n)} ${what}${n === 1 ? '' : 's'}`;
  const types = { u8: Uint8Array, u16: Uint16Array, u32: Uint32Array, f32: Float32Array, f64: Float64Array };
  let images = [];       // the numbers of each image
  let current = 0;       // the pass shown
  let spot = null;       // the cell under the pointer, or the one that a click keeps
  let kept = false;

  // make returns an element; text is never parsed as HTML.
  function make(tag, attributes, ...kids) {
    const e = document.createElement(tag);
    for (const [k, v] of Object.entries(attributes || {})) {
      if (k in e && k !== 'style') e[k] = v; else e.setAttribute(k, v);
    }
    e.append(...kids);
    return e;
  }

  async function unpack(image) {
    const bytes = Uint8Array.from(atob(image.data), c => c.charCodeAt(0));
    const unpacked = new Response(new Blob([bytes]).stream().pipeThrough(new DecompressionStream('deflate-raw')));
    return image.type === 'text' ? unpacked.json() : new types[image.type](await unpacked.arrayBuffer());
  }

  // --- Records and cells: see package trace, grid.go.

  function rowOf(grid, cell) {
    const x = cell % grid.cols, y = Math.floor(cell / grid.cols);
    return y * grid.step * grid.width + x * grid.step;
  }

  // blockSize is the number of records of a cell's block.
  function blockSize(grid, cell) {
    const x = cell % grid.cols * grid.step, y = Math.floor(cell / grid.cols) * grid.step;
    let n = 0;
    for (let line = y; line < y + grid.step; line++) {
      const from = line * grid.width + x;
      n += Math.max(0, Math.min(from + Math.min(grid.step, grid.width - x), grid.rows) - from);
    }
    return n;
  }

  // --- Colours.

  let theme;
  const rgb = hex => [1, 3, 5].map(i => parseInt(hex.slice(i, i + 2), 16));
  function readTheme() {
    const style = getComputedStyle(document.documentElement);
    const get = name => style.getPropertyValue(name).trim();
    theme = { s0: rgb(get('--s0')), shade: rgb(get('--shade')), pass: rgb(get('--pass')), none: rgb(get('--null')), ramp: get('--ramp').split(/\s+/).map(rgb) };
  }
  const mix = (a, b, t) => a.map((v, i) => Math.round(v + (b[i] - v) * t));
  function ramp(t) {
    const at = Math.max(0, Math.min(1, t)) * (theme.ramp.length - 1), i = Math.min(theme.ramp.length - 2, Math.floor(at));
    return mix(theme.ramp[i], theme.ramp[i + 1], at - i);
  }
  const stencilColours = ['', '#e69f00', '#0072b2', '#009e73', '#cc79a7', '#56b4e9', '#f0e442', '#d55e00'];
  // stencilColour is that of a value on every page: beyond 7 they come again, shaded.
  function stencilColour(v) {
    const n = stencilColours.length, colour = v % n === 0 ? theme.s0 : rgb(stencilColours[v % n]);
    return mix(colour, theme.shade, 1 - 0.8 ** Math.min(3, Math.floor(v / n)));
  }
  const shareColour = t => t === 0 ? theme.s0 : mix(theme.s0, theme.pass, 0.3 + 0.7 * t);
  // place is where a number lies on a panel's scale, 0 to 1 where it is on it.
  function place(p, v) {
    if (p.hi <= p.lo) return v > p.hi ? 1 : 0;
    if (!p.stops) return (v - p.lo) / (p.hi - p.lo);
    const x = p.kind === 'depth' ? v * p.unit : v, last = p.stops.length - 1;
    const i = Math.max(0, Math.min(last - 1, p.stops.findLastIndex(s => s <= x)));
    return (i + (x - p.stops[i]) / (p.stops[i + 1] - p.stops[i])) / last;
  }

  // isNull reports whether a depth stands for a NULL: which one does is the pass's matter.
  function isNull(panel, grid, cell) {
    if (!panel.column) return false;
    const part = trace.columns.find(c => c.name === panel.column).chunks[grid.chunk];
    return images[part.codes][images[part.index][cell]] === '';
  }

  function colour(panel, grid, numbers, cell) {
    const v = numbers[cell];
    switch (panel.kind) {
      case 'codes': return v === 0 ? theme.none : ramp(place(panel, v - 1));
      case 'depth': return isNull(panel, grid, cell) ? theme.none : ramp(place(panel, v));
      case 'stencil': return stencilColour(v);
      case 'share': return shareColour(v / grid.sizes[cell]);
    }
    return ramp(place(panel, numbers[4 * cell]));
  }

  // --- Panels.

  function draw(canvas, panel, grid) {
    const texels = panel.kind === 'texels';
    const cols = texels ? panel.cols : grid.cols, lines = texels ? panel.lines : grid.lines;
    const numbers = images[panel.image], cells = texels ? cols * lines : numbers.length;
    canvas.width = cols;
    canvas.height = lines;
    canvas.style.aspectRatio = `${cols} / ${lines}`;
    const context = canvas.getContext('2d'), pixels = context.createImageData(cols, lines);
    for (let i = 0; i < cells; i++) {
      pixels.data.set([...colour(panel, grid, numbers, i), 255], 4 * i);
    }
    context.putImageData(pixels, 0, 0);
  }

  const hex = c => `rgb(${c.join(' ')})`;
  const patch = (c, text) => make('span', {}, make('i', { style: `background:${hex(c)}` }), text);

  function legend(panel, grid) {
    const box = make('div', { className: 'legend' });
    if (panel.kind === 'stencil') {
      for (const l of panel.legend) box.append(patch(stencilColour(l.value), `${l.value}: ${count(l.records, 'record')}`), ' ');
    } else if (panel.kind === 'share') {
      box.append(patch(theme.pass, count(panel.total, 'record')));
    } else {
      const marks = panel.quads ?? [];
      if (panel.ends[0] === panel.ends[1]) {
        box.append(patch(ramp(0), panel.ends[0]), ...marks.map(quad => make('div', { className: 'quad' }, quad.text)));
      } else {
        box.append(...scaled(panel, marks));
      }
      const none = { codes: v => v === 0, depth: (_, cell) => isNull(panel, grid, cell) }[panel.kind];
      if (none && images[panel.image].some(none)) box.append(patch(theme.none, 'NULL'));
    }
    if (panel.note) box.append(make('div', { className: 'note' }, panel.note));
    return box;
  }

  // scaled returns the colours from one end of a panel's numbers to the other, with marks.
  function scaled(panel, marks) {
    const stops = [0, 0.25, 0.5, 0.75, 1].map(t => hex(ramp(t))).join(',');
    const scale = make('div', { className: 'scale', style: `background:linear-gradient(90deg,${stops})` },
      ...marks.map(quad => make('b', { style: `left:${100 * Math.max(0, Math.min(1, place(panel, quad.at)))}%` })));
    return [scale, make('div', { className: 'ends' }, ...panel.ends.map(e => make('span', {}, e))),
      panel.stops && panel.stops.length > 2 ? make('div', {}, 'shades go by rank') : '',
      ...marks.map(quad => make('div', { className: 'quad' }, quad.text))];
  }

  // empty stands for a picture of what holds nothing yet.
  function empty(panel, grid) {
    const f = make('figure', {}, make('figcaption', {}, panel.title),
      make('div', { className: 'empty', style: `aspect-ratio:${grid.cols} / ${grid.lines}` }, panel.note));
    f.panel = panel;
    return f;
  }

  function figure(panel, grid) {
    if (panel.kind === 'undefined') return empty(panel, grid);
    const canvas = make('canvas', {});
    draw(canvas, panel, grid);
    canvas.setAttribute('role', 'img');
    canvas.setAttribute('aria-label', panel.title);
    const caption = make('figcaption', {}, panel.title);
    if (panel.same) caption.append(make('span', { className: 'same' }, ' (same)'));
    const picture = make('div', { className: 'picture' }, canvas);
    if (panel.kind === 'texels') picture.style.width = `min(100%, ${100 * panel.cols / panel.lines}%, ${panel.cols}rem)`;
    const f = make('figure', { className: panel.small ? 'small' : '' }, caption, picture, legend(panel, grid));
    f.panel = panel;
    canvas.addEventListener('pointermove', e => { if (!kept) point(f, e); });
    canvas.addEventListener('pointerleave', () => { if (!kept) { spot = null; tell(); } });
    canvas.addEventListener('click', e => { kept = !kept; if (kept) point(f, e); tell(); });
    return f;
  }

  // point takes the cell under the pointer.
  function point(f, e) {
    const canvas = f.querySelector('canvas'), box = canvas.getBoundingClientRect();
    const x = Math.min(canvas.width - 1, Math.max(0, Math.floor((e.clientX - box.left) / box.width * canvas.width)));
    const y = Math.min(canvas.height - 1, Math.max(0, Math.floor((e.clientY - box.top) / box.height * canvas.height)));
    const cell = y * canvas.width + x, texels = f.panel.kind === 'texels' ? f.panel : null;
    spot = { cell, texels, chunk: trace.passes[current].chunk };
    tell();
  }

  // --- The record under the pointer.

  function said(panel, grid, cell) {
    if (panel.kind === 'undefined') return 'undefined';
    const v = images[panel.image][cell];
    switch (panel.kind) {
      case 'codes': return v === 0 ? 'NULL' : grouped(v - 1);
      case 'depth': return `${isNull(panel, grid, cell) ? 'NULL, ' : ''}${grouped(Number((v * panel.unit).toFixed(2)))} / ${panel.unit === 16777216 ? '2^24' : '(2^24 - 1)'}`;
      case 'stencil': return String(v);
    }
    const n = grid.sizes[cell];
    return n === 1 ? (v ? 'yes' : 'no') : `${grouped(v)} of the block's ${grouped(n)}`;
  }

  const pair = (name, value) => make('span', {}, name + ': ', make('b', {}, value));

  function tell() {
    const box = $('record'), pass = trace.passes[current], grid = trace.grids[pass.chunk];
    for (const s of document.querySelectorAll('.spot')) s.remove();
    box.textContent = '';
    const isRecord = spot && !spot.texels && spot.chunk === pass.chunk && spot.cell < grid.cells;
    if (!spot || (!spot.texels && !isRecord)) {
      box.append(make('span', { className: 'dim' }, 'Point at a picture to see the record there; click to keep it while you step.'));
      return;
    }
    if (spot.texels) {
      const words = images[spot.texels.image].slice(4 * spot.cell, 4 * spot.cell + 4);
      const x = spot.cell % spot.texels.cols * spot.texels.step, y = Math.floor(spot.cell / spot.texels.cols) * spot.texels.step;
      box.append(pair(`texel (${x}, ${y})`, Array.from(words).join(', ')));
      return;
    }
    const row = rowOf(grid, spot.cell), n = grid.sizes[spot.cell];
    const head = make('div', {}, 'row ', make('b', {}, grouped(grid.first + row)), ` of ${grouped(trace.rows)}, counted from 0`);
    if (n > 1) head.append(make('span', { className: 'dim' }, `; the first of the ${grouped(n)} records of its block`));
    if (kept) head.append(make('span', { className: 'dim' }, ' · kept: click a picture to let go'));
    const values = make('div', { className: 'values' });
    for (const c of trace.columns) {
      const part = c.chunks[pass.chunk], i = images[part.index][spot.cell], code = images[part.codes][i];
      const planes = pass.panels.some(p => p.small && p.title.endsWith(` of ${c.name}`));
      const bits = planes && code !== '' ? ` = ${BigInt(code).toString(2).padStart(part.bits, '0')} in bits` : '';
      values.append(pair(c.name, images[part.values][i] + (code === '' ? '' : ` (code ${BigInt(code).toLocaleString('en-US')}${bits})`)));
    }
    const seen = make('div', { className: 'values' });
    for (const p of pass.panels) if (p.kind !== 'texels' && !p.small) seen.append(pair(p.title, said(p, grid, spot.cell)));
    box.append(head, values, seen);
    for (const f of document.querySelectorAll('#panels figure')) {
      if (f.panel.kind === 'texels' || f.panel.kind === 'undefined') continue;
      const x = spot.cell % grid.cols, y = Math.floor(spot.cell / grid.cols);
      f.querySelector('.picture').append(make('div', { className: 'spot',
        style: `left:${(x + 0.5) / grid.cols * 100}%;top:${(y + 0.5) / grid.lines * 100}%;width:${100 / grid.cols}%;height:${100 / grid.lines}%` }));
    }
  }

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
      make('p', {}, ...(step.tried ? ['compared with ', make('b', { className: 'quad' }, step.tried.map(t => t.value).join(', ')), ': '] : []),
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
    box.append(make('h2', {}, `Sum of ${sum.column}${where}: records that have a bit, times 2^bit`));
    if (sum.host && sum.bits.length > 0) box.append(make('p', { className: 'dim' }, 'Counted on the host: the program adds all bits up in one pass.'));
    if (sum.bits.length === 0) box.append(make('p', {}, 'A code has 0 bits, since all values are the same: sum = values × base.'));
    else box.append(make('table', { style: 'width:100%' }, make('tr', {}, ...['bit', 'records', 'adds', 'share of all codes'].map(h => make('th', {}, h))), ...rows));
    if (sum.bits.some(b => b.pass > current)) return;
    box.append(sum.values === 0 ? make('p', {}, `No value is selected${where}: a SUM of no values is NULL.`) :
      make('p', {}, `${sum.bits.length > 0 ? `codes ${groupedText(sum.codes)} + ` : ''}${count(sum.values, 'value')} × ${groupedText(sum.base)} (the value of code 0) = ${groupedText(sum.total)}`));
  }

  // --- A pass.

  function table(target, rows) {
    target.textContent = '';
    for (const [k, v] of rows) target.append(make('tr', {}, make('th', {}, k), make('td', {}, v)));
  }

  // samples says how many samples passed, in parentheses if only the trace has counted.
  function samples(pass) {
    if (pass.counted) return `${count(pass.samples, 'sample')} passed, `;
    return pass.passed === undefined ? '' : `(${count(pass.passed, 'sample')} passed, counted for this page), `;
  }

  function show(n) {
    current = Math.max(0, Math.min(trace.passes.length - 1, n));
    const pass = trace.passes[current], grid = trace.grids[pass.chunk];
    $('slider').value = current + 1;
    $('where').textContent = `pass ${current + 1} of ${trace.passes.length}`;
    $('name').textContent = pass.name;
    $('counts').textContent = pass.counts ? `counts: ${pass.counts}` : '';
    const chunk = trace.grids.length > 1 ? `, chunk ${pass.chunk + 1} of ${trace.grids.length}` : '';
    $('numbers').textContent = samples(pass) + `${pass.ms.toFixed(3)} ms` + chunk;
    $('results').replaceChildren(...(pass.results || []).map(r => make('li', {}, r)));
    showSearch(pass);
    showSum(pass);
    $('reduced').textContent = (pass.panels || []).some(p => p.kind !== 'texels') ? reduction(grid) : '';
    $('panels').replaceChildren(...pairs((pass.panels || []).map(p => figure(p, grid))));
    table($('state'), pass.state || []);
    table($('uniforms'), pass.uniforms || []);
    $('uniformBox').hidden = !(pass.uniforms || []).length;
    $('glslBox').hidden = pass.program < 0;
    $('glsl').textContent = pass.program < 0 ? '' : trace.programs[pass.program];
    for (const [i, a] of document.querySelectorAll('#list a').entries()) {
      if (i !== current) { a.removeAttribute('aria-current'); continue; }
      a.setAttribute('aria-current', 'true');
    }
    fitList();
    reveal();
    if (!kept) spot = null;
    tell();
  }

  const nav = document.querySelector('nav');

  // fitList ends the list above the footer, wherever the page is scrolled to.
  function fitList() {
    const most = `${Math.round($('record').getBoundingClientRect().top - nav.getBoundingClientRect().top)}px`;
    if (nav.style.getPropertyValue('--room') === most) return;
    nav.style.setProperty('--room', most);
    reveal();
  }

  // reveal scrolls the list, not the page, to the pass shown.
  function reveal() {
    const row = nav.querySelector('[aria-current]')?.getBoundingClientRect(), box = nav.getBoundingClientRect();
    if (row && (row.top < box.top || row.bottom > box.bottom)) nav.scrollTop += row.top - box.top - (box.height - row.height) / 2;
  }

  // pairs puts what was before and after side by side.
  function pairs(figures) {
    const groups = [];
    for (const f of figures) {
      const last = groups.at(-1), what = f.panel.title.replace(/ (before|after)$/, '');
      if (last && what !== f.panel.title && last.what === what) {
        last.append(f);
      } else {
        const g = make('div', { className: 'pair' }, f);
        g.what = what;
        groups.push(g);
      }
    }
    return groups;
  }

  function reduction(grid) {
    const order = trace.order && ' ' + trace.order;
    const shape = `A picture has one cell a record, ${grouped(grid.width)} records to a line.${order}`;
    if (grid.step === 1) return shape;
    const n = `${grid.step} × ${grid.step}`;
    return `Reduced: ${grouped(grid.rows)} records, ${grouped(grid.width)} to a line, are ${grid.cols} × ${grid.lines} cells, each a block of ${n} records. ` +
      'Pictures of codes, depth and stencil show the first record of each block; those of bits, bitmaps and passing records how many of the block. Numbers of records are exact.' + order;
  }

  function go(n) {
    n = Math.max(0, Math.min(trace.passes.length - 1, n));
    history.replaceState(null, '', `#pass-${n + 1}`);
    show(n);
  }

  function fromHash() {
    const m = /^#pass-(\d+)$/.exec(location.hash);
    show(m ? m[1] - 1 : current);
  }

  function key(e) {
    if (e.ctrlKey || e.altKey || e.metaKey) return;
    const to = { ArrowLeft: current - 1, ArrowUp: current - 1, ArrowRight: current + 1, ArrowDown: current + 1, Home: 0, End: trace.passes.length - 1 }[e.key];
    if (to === undefined) return;
    e.preventDefault();
    go(to);
  }

  async function start() {
    for (const e of document.querySelectorAll('.number')) e.textContent = groupedText(e.textContent);
    for (const e of document.querySelectorAll('.value')) {
      if (/^(bigint|integer|smallint|numeric|real|double)/.test(e.parentNode.title) && /^-?\d+(\.\d*)?$/.test(e.textContent)) e.textContent = groupedText(e.textContent);
    }
    if (trace.passes.length === 0) {
      $('name').textContent = 'This statement needs no pass: its answer follows from what is known of the columns.';
      document.documentElement.dataset.ready = 'true';
      return;
    }
    if (!window.DecompressionStream) throw new Error('this browser cannot unpack the pictures (DecompressionStream): take a newer one');
    $('name').textContent = 'Unpacking the pictures …';
    for (const id of ['stepper', 'facts', 'record']) $(id).hidden = false;
    images = await Promise.all(trace.images.map(unpack));
    for (const [i, grid] of trace.grids.entries()) {
      grid.chunk = i;
      grid.sizes = Array.from({ length: grid.cols * grid.lines }, (_, i) => blockSize(grid, i));
      grid.cells = grid.sizes.filter(n => n > 0).length;
    }
    readTheme();
    addEventListener('keydown', key);
    addEventListener('hashchange', fromHash);
    addEventListener('scroll', fitList);
    addEventListener('resize', fitList);
    new ResizeObserver(fitList).observe(document.querySelector('header')); // the plan opens
    $('slider').addEventListener('input', e => go(e.target.value - 1));
    $('back').addEventListener('click', () => go(current - 1));
    $('forth').addEventListener('click', () => go(current + 1));
    matchMedia('(prefers-color-scheme: dark)').addEventListener('change', () => { readTheme(); show(current); });
    fromHash();
    document.documentElement.dataset.ready = 'true';
  }

  start().catch(e => {
    $('name').textContent = 'The page could not be shown: ' + e.message;
    $('name').className = 'warn';
    throw e;
  });
})();
