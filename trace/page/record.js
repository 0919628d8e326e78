// --- The record under the pointer, or the one that is kept, and its history.

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
const isRecord = grid => spot && !spot.texels && spot.chunk === grid.chunk && spot.cell < grid.cells;

function tell() {
  const box = $('record'), pass = trace.passes[current], grid = trace.grids[pass.chunk];
  $('told').textContent = '';
  marks();
  if (!spot || (!spot.texels && !isRecord(grid))) {
    $('told').append(make('span', { className: 'dim' }, 'Point at a picture to see the record there; click to keep it while you step. The wheel zooms, dragging moves.'));
    showHistory();
    return;
  }
  if (spot.texels) {
    const words = images[spot.texels.image].slice(4 * spot.cell, 4 * spot.cell + 4);
    const x = spot.cell % spot.texels.cols * spot.texels.step, y = Math.floor(spot.cell / spot.texels.cols) * spot.texels.step;
    $('told').append(pair(`texel (${x}, ${y})`, Array.from(words).join(', ')));
    return;
  }
  const row = rowOf(grid, spot.cell), n = grid.sizes[spot.cell];
  const head = make('div', {}, 'row ', make('b', {}, grouped(grid.first + row)), ` of ${grouped(trace.rows)}, counted from 0`);
  if (n > 1) head.append(make('span', { className: 'dim' }, `; the first of the ${grouped(n)} records of its block`));
  if (kept) head.append(make('span', { className: 'dim' }, ' · kept: click a picture to let go'));
  const values = make('div', { className: 'values' });
  for (const c of trace.columns) {
    const part = c.chunks[pass.chunk], i = images[part.index][spot.cell], code = images[part.codes][i];
    const planes = pass.panels.some(p => p.plane === c.name);
    const bits = planes && code !== '' ? ` = ${BigInt(code).toString(2).padStart(part.bits, '0')} in bits` : '';
    values.append(pair(c.name, images[part.values][i] + (code === '' ? '' : ` (code ${BigInt(code).toLocaleString('en-US')}${bits})`)));
  }
  const seen = make('div', { className: 'values' });
  for (const p of pass.panels) if (p.kind !== 'texels' && !p.plane) seen.append(pair(p.title, said(p, grid, spot.cell)));
  $('told').append(head, values, seen);
  showHistory();
}

// marks frames the record's cell in all pictures.
function marks() {
  for (const s of document.querySelectorAll('.spot')) s.remove();
  for (const f of figures()) {
    if (!isOfRecords(f) || !isRecord(f.grid)) continue;
    const at = placeOf(f.grid, spot.cell), x = at % f.grid.cols - view.x, y = Math.floor(at / f.grid.cols) - view.y, w = f.grid.cols / view.zoom, h = f.grid.lines / view.zoom;
    if (x + 1 <= 0 || y + 1 <= 0 || x >= w || y >= h) continue;
    f.querySelector('.picture').append(make('div', { className: 'spot',
      style: `left:${(x + 0.5) / w * 100}%;top:${(y + 0.5) / h * 100}%;width:${100 / w}%;height:${100 / h}%` }));
  }
}

// fateOf is what becomes of a cell's record in a pass: what its buffers hold afterwards, whether
// that is new, and whether it passes.
function fateOf(pass, grid, cell) {
  const fate = { depth: '', stencil: '', changed: [], fate: '', dropped: false };
  for (const of of ['depth', 'stencil']) {
    const [before, after] = ['before', 'after'].map(when => pass.panels.find(p => p.of === of && p.when === when));
    if (!after || after.kind === 'undefined') continue;
    fate[of] = said(after, grid, cell);
    if (before.kind === 'undefined' || images[before.image][cell] !== images[after.image][cell]) fate.changed.push(of);
  }
  if (pass.fates >= 0) {
    const passes = images[pass.fates][cell] === 1;
    fate.dropped = pass.drops && passes;
    fate.fate = pass.drops ? (passes ? 'dropped' : 'stays') : passes ? 'passes' : 'does not pass';
    return fate;
  }
  fate.fate = pass.panels.filter(p => p.kind === 'share' && !p.plane).map(p => `${p.title}: ${said(p, grid, cell)}`).join('; ');
  return fate;
}

// showHistory lists what each pass over the record's chunk does to it.
function showHistory() {
  const grid = trace.grids[trace.passes[current].chunk], body = $('passes');
  $('nextChange').disabled = !isRecord(grid);
  body.textContent = '';
  $('dropper').textContent = '';
  if (!$('history').open || !isRecord(grid)) return;
  for (const [i, pass] of trace.passes.entries()) {
    if (pass.chunk !== spot.chunk) continue;
    const fate = fateOf(pass, grid, spot.cell);
    const cell = of => make('td', { className: fate.changed.includes(of) ? 'changed' : '' }, fate[of]);
    body.append(make('tr', { className: (i === current ? 'now' : '') + (fate.dropped ? ' dropped' : '') },
      make('td', {}, make('a', { href: `#pass-${i + 1}` }, `${i + 1} ${pass.name}`)), cell('depth'), cell('stencil'), make('td', {}, fate.fate)));
    if (fate.dropped) $('dropper').textContent = `Pass ${i + 1} dropped it: ${pass.name}.`;
  }
}

// nextChange goes to the next pass that changes the record, from the first again after the last.
function nextChange() {
  const grid = trace.grids[trace.passes[current].chunk], n = trace.passes.length;
  if (!isRecord(grid)) return;
  for (let i = 1; i < n; i++) {
    const at = (current + i) % n, pass = trace.passes[at];
    if (pass.chunk === spot.chunk && fateOf(pass, grid, spot.cell).changed.length > 0) { go(at); return; }
  }
}

// find keeps the record of a row number, or the next one that has a value: 'delay = 12'.
function find(text) {
  const row = /^\s*[\d,]+\s*$/.test(text) ? Number(text.replace(/[,\s]/g, '')) : -1;
  const [, name, value] = /^\s*(.+?)\s*=\s*(.*?)\s*$/.exec(text) ?? [];
  if (row >= 0) {
    const grid = trace.grids.find(g => row >= g.first && row < g.first + g.rows);
    if (!grid) return `there are rows 0 to ${grouped(trace.rows - 1)}`;
    const at = row - grid.first;
    keep(grid, Math.floor(at / grid.width / grid.step) * grid.cols + Math.floor(at % grid.width / grid.step));
    return rowOf(grid, spot.cell) === at ? '' : 'the first record of its block';
  }
  const column = trace.columns.find(c => c.name === name);
  if (!column) return `write a row number, or a value: ${trace.columns[0]?.name ?? 'column'} = 12`;
  const here = trace.passes[current].chunk, from = isRecord(trace.grids[here]) ? spot.cell : -1;
  const grids = [...trace.grids.slice(here), ...trace.grids.slice(0, here + 1)];
  for (const [i, grid] of grids.entries()) {
    const part = column.chunks[grid.chunk], index = images[part.index];
    for (let cell = i === 0 ? from + 1 : 0; cell < grid.cells; cell++) {
      if (images[part.values][index[cell]] === value) { keep(grid, cell); return ''; }
    }
  }
  return `no record that is shown has ${name} = ${value}`;
}

// reach moves the view to the record that is kept.
function reach() {
  const grid = trace.grids[trace.passes[current].chunk];
  if (view.zoom === 1 || !kept || !isRecord(grid)) return;
  const at = placeOf(grid, spot.cell);
  look(at % grid.cols - grid.cols / view.zoom / 2, Math.floor(at / grid.cols) - grid.lines / view.zoom / 2, view.zoom);
}

// keep chooses a cell, in a pass over its chunk.
function keep(grid, cell) {
  if (trace.passes[current].chunk !== grid.chunk) page(grid.chunk);
  spot = { cell, texels: null, chunk: grid.chunk };
  kept = true;
  reach();
  tell();
}
