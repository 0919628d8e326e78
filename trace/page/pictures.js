// --- Pictures. All of records have one view: the cell at the upper left corner, and how
// many times larger than whole they are.

let view = { x: 0, y: 0, zoom: 1 };
let tinted = true;       // values that pass are tinted
let sorted = false;      // cells lie by their values, not as the rows do
const ranges = new Map(); // the part of a scale that the greys are spread over, where one is chosen

// layOut finds where the cells lie when they are sorted by the first two attributes of their first
// records: the first grows from line to line, the second within a line, NULL comes last.
function layOut(grid) {
  const [first, second] = trace.columns.slice(0, 2).map(c => {
    const { codes, index } = c.chunks[grid.chunk], code = images[codes].map(x => x === '' ? null : BigInt(x));
    const order = (a, b) => a === b ? 0 : b === null || (a !== null && a < b) ? -1 : 1, rank = [];
    [...code.keys()].sort((a, b) => order(code[a], code[b])).forEach((i, at) => { rank[i] = at; });
    return Array.from(images[index], i => rank[i]);
  });
  const by = ranks => (a, b) => (ranks ? ranks[a] - ranks[b] : 0) || a - b;
  const cells = Array.from({ length: grid.cells }, (_, i) => i).sort(by(first));
  for (let at = 0; at < cells.length; at += grid.cols) {
    const line = cells.slice(at, at + grid.cols).sort(by(second));
    cells.splice(at, line.length, ...line);
  }
  grid.cellAt = cells;
  grid.placeOf = [];
  cells.forEach((cell, at) => { grid.placeOf[cell] = at; });
}

// cellAt is the cell at a place of a picture, counted line by line; placeOf is where a cell lies.
const cellAt = (grid, at) => sorted ? grid.cellAt[at] ?? at : at;
const placeOf = (grid, cell) => sorted ? grid.placeOf[cell] ?? cell : cell;

// layout says in words where the records lie.
function layout(grid) {
  const [first, second] = trace.columns;
  if (!sorted) return ` ${trace.order || 'They lie in the order of the rows.'}`;
  return ` They are laid out sorted${grid.step > 1 ? ', each block by its first record' : ''}: ${first.name} grows downwards${second ? `, ${second.name} to the right` : ''}.`;
}

// place is where a number lies on a panel's scale, 0 to 1 where it is on it.
function place(p, v) {
  if (p.hi <= p.lo) return v > p.hi ? 1 : 0;
  if (!p.stops) return (v - p.lo) / (p.hi - p.lo);
  const x = p.kind === 'depth' ? v * p.unit : v, last = p.stops.length - 1;
  const i = Math.max(0, Math.min(last - 1, p.stops.findLastIndex(s => s <= x)));
  return (i + (x - p.stops[i]) / (p.stops[i + 1] - p.stops[i])) / last;
}

const scaleName = p => JSON.stringify([p.kind, p.lo, p.hi, p.ends]);
const rangeOf = p => ranges.get(scaleName(p)) ?? [0, 1];
const isScaled = p => ['codes', 'depth', 'texels'].includes(p.kind);

// spread is the grey of a place of a scale, of which a part may be chosen.
function spread(p, at) {
  const [from, to] = rangeOf(p);
  return colours.value((at - from) / Math.max(to - from, 1e-9));
}

// isNull reports whether a depth stands for a NULL: which one does is the pass's matter.
function isNull(panel, grid, cell) {
  if (!panel.column) return false;
  const part = trace.columns.find(c => c.name === panel.column).chunks[grid.chunk];
  return images[part.codes][images[part.index][cell]] === '';
}

// isDivided reports whether some records pass and some do not, so that a tint tells.
function isDivided(pass, grid) {
  const p = pass.panels.find(p => p.kind === 'share' && !p.plane);
  return pass.fates >= 0 && p && p.total > 0 && p.total < grid.rows;
}

function colour(panel, grid, cell, fates, fate) {
  const v = images[panel.image][panel.kind === 'texels' ? 4 * cell : cell];
  const none = panel.kind === 'codes' ? v === 0 : panel.kind === 'depth' && isNull(panel, grid, cell);
  switch (panel.kind) {
    case 'stencil': return colours.stencil(v);
    case 'share': return colours.share(v / grid.sizes[cell], panel.fate ?? 'pass');
  }
  if (none) return colours.named('null');
  const c = spread(panel, place(panel, panel.kind === 'codes' ? v - 1 : v));
  return fates?.[cell] ? colours.tinted(c, fate) : c;
}

// source is a panel's picture, a pixel a cell.
function source(panel, grid, pass) {
  const texels = panel.kind === 'texels';
  const cols = texels ? panel.cols : grid.cols, lines = texels ? panel.lines : grid.lines;
  const cells = texels ? cols * lines : images[panel.image].length;
  const tints = tinted && isScaled(panel) && !texels && isDivided(pass, grid);
  const canvas = new OffscreenCanvas(cols, lines), context = canvas.getContext('2d', { willReadFrequently: true });
  const pixels = context.createImageData(cols, lines);
  for (let i = 0; i < cells; i++) if (!panel.blank || images[panel.image][4 * i] !== 0xffffffff || images[panel.image][4 * i + 3] !== 0xffffffff) pixels.data.set([...colour(panel, grid, texels ? i : cellAt(grid, i), tints && images[pass.fates], pass.drops ? 'dropped' : 'tint'), 255], 4 * i);
  context.putImageData(pixels, 0, 0);
  return canvas;
}

// paint draws the part of a picture that a view has, and numbers where cells are large.
function paint(canvas, panel, grid, from, at) {
  const w = canvas.width, h = canvas.height, size = w * at.zoom / from.width; // pixels a cell
  const context = canvas.getContext('2d');
  context.imageSmoothingEnabled = false;
  context.clearRect(0, 0, w, h);
  context.drawImage(from, at.x, at.y, from.width / at.zoom, from.height / at.zoom, 0, 0, w, h);
  const dots = devicePixelRatio;
  if (panel.kind === 'texels' || size < 34 * dots) return;
  context.font = `${Math.min(12 * dots, size / 4)}px ui-monospace, monospace`;
  context.textAlign = 'center';
  context.textBaseline = 'middle';
  for (let y = Math.max(0, Math.floor(at.y)); y < Math.min(grid.lines, at.y + from.height / at.zoom); y++) {
    for (let x = Math.max(0, Math.floor(at.x)); x < Math.min(grid.cols, at.x + from.width / at.zoom); x++) {
      if (y * grid.cols + x >= grid.cells) break;
      const c = from.getContext('2d').getImageData(x, y, 1, 1).data;
      context.fillStyle = 0.3 * c[0] + 0.59 * c[1] + 0.11 * c[2] > 140 ? '#000' : '#fff';
      context.fillText(numberOf(panel, grid, cellAt(grid, y * grid.cols + x)), (x + 0.5 - at.x) * size, (y + 0.5 - at.y) * size, size - 4);
    }
  }
}

// numberOf is what a texel holds: a code, the integer of a depth, a stencil value, how many records.
function numberOf(panel, grid, cell) {
  const v = images[panel.image][cell];
  if (panel.kind === 'codes') return v === 0 ? 'NULL' : String(v - 1);
  return panel.kind === 'depth' ? String(Math.round(v * panel.unit)) : String(v);
}

const figures = () => [...document.querySelectorAll('#panels figure')].filter(f => f.source);
const isOfRecords = f => f.panel.kind !== 'texels' && f.panel.kind !== 'undefined';

function repaint() {
  for (const f of figures()) {
    const canvas = f.querySelector('canvas'), box = canvas.getBoundingClientRect();
    if (box.width === 0) continue; // folded away
    canvas.width = Math.round(box.width * devicePixelRatio);
    canvas.height = Math.round(box.width * devicePixelRatio * f.source.height / f.source.width);
    paint(canvas, f.panel, f.grid, f.source, isOfRecords(f) ? view : { x: 0, y: 0, zoom: 1 });
  }
  $('whole').disabled = view.zoom === 1;
  $('zoom').textContent = view.zoom === 1 ? '' : `× ${view.zoom.toFixed(1)}`;
  marks();
}

// look goes to a view, with the pictures' edges in it.
function look(x, y, zoom) {
  const grid = trace.grids[trace.passes[current].chunk];
  zoom = Math.max(1, Math.min(zoom, Math.max(grid.cols, grid.lines) / 4));
  const within = (v, n) => Math.max(0, Math.min(v, n - n / zoom));
  view = { x: within(x, grid.cols), y: within(y, grid.lines), zoom };
  repaint();
  if (window !== top) parent.together?.(window, w => w.look(view.x, view.y, view.zoom));
}

// closer zooms by a factor with one cell staying where it is; without one, the middle.
function closer(factor, x, y) {
  const grid = trace.grids[trace.passes[current].chunk];
  x ??= view.x + grid.cols / view.zoom / 2;
  y ??= view.y + grid.lines / view.zoom / 2;
  const zoom = Math.max(1, view.zoom * factor), by = view.zoom / Math.min(zoom, Math.max(1, Math.max(grid.cols, grid.lines) / 4));
  look(x - (x - view.x) * by, y - (y - view.y) * by, zoom);
}

// --- Panels.

const patch = (c, text) => make('span', {}, make('i', { style: `background:${colours.css(c)}` }), text);

function legend(panel, grid) {
  const box = make('div', { className: 'legend' });
  if (panel.kind === 'stencil') {
    for (const l of panel.legend) box.append(patch(colours.stencil(l.value), `${l.value}: ${count(l.records, 'record')}`), ' ');
  } else if (panel.kind === 'share') {
    box.append(patch(colours.named(panel.fate ?? 'pass'), count(panel.total, 'record')));
  } else {
    const marked = panel.quads ?? [];
    if (panel.ends[0] === panel.ends[1]) {
      box.append(patch(colours.value(0), panel.ends[0]), ...marked.map(quad => make('div', { className: 'quad' }, quad.text)));
    } else {
      box.append(...scaled(panel, grid, marked));
    }
    const none = { codes: v => v === 0, depth: (_, cell) => isNull(panel, grid, cell) }[panel.kind];
    if (none && images[panel.image].some(none)) box.append(patch(colours.named('null'), 'NULL'));
  }
  if (panel.note) box.append(make('div', { className: 'note' }, panel.note));
  return box;
}

// scaled returns the colours from one end of a panel's numbers to the other with a
// histogram of the records shown above them, and marks; dragging over it chooses a range.
function scaled(panel, grid, marked) {
  const stops = range(8, 0).reverse().map(i => colours.css(spread(panel, i / 8))).join(',');
  const scale = make('div', { className: 'scale', style: `background:linear-gradient(90deg,${stops})` },
    ...marked.map(quad => make('b', { style: `left:${100 * Math.max(0, Math.min(1, place(panel, quad.at)))}%` })));
  const bins = new Array(64).fill(0);
  images[panel.image].forEach((v, i) => {
    if (panel.kind === 'texels' ? i % 4 || panel.blank && v === 0xffffffff : panel.kind === 'codes' ? v === 0 : isNull(panel, grid, i)) return;
    bins[Math.max(0, Math.min(63, Math.floor(64 * place(panel, panel.kind === 'codes' ? v - 1 : v))))]++;
  });
  const most = Math.max(...bins), [from, to] = rangeOf(panel);
  const bars = svg('svg', { viewBox: '0 0 64 20', preserveAspectRatio: 'none', class: 'histogram', role: 'img', 'aria-label': 'histogram' },
    ...bins.map((n, i) => svg('rect', { x: i, y: 20 - 20 * n / most, width: 0.9, height: 20 * n / most, class: i / 64 >= from - 1e-9 && i / 64 < to ? '' : 'out' })));
  bars.append(svg('title', {}, 'how many records lie where on the scale; drag to spread the greys over a part of it, click for all'));
  bars.addEventListener('pointerdown', e => {
    const box = bars.getBoundingClientRect(), at = e => Math.max(0, Math.min(1, (e.clientX - box.left) / box.width)), begin = at(e);
    bars.setPointerCapture(e.pointerId);
    bars.addEventListener('pointerup', e => chooseRange(panel, begin, at(e)), { once: true });
  });
  return [bars, scale, make('div', { className: 'ends' }, ...panel.ends.map(e => make('span', {}, e))),
    panel.stops && panel.stops.length > 2 ? make('div', {}, 'shades go by rank') : '',
    ...marked.map(quad => make('div', { className: 'quad' }, quad.text))];
}

function chooseRange(panel, a, b) {
  if (Math.abs(a - b) < 0.02) ranges.delete(scaleName(panel));
  else ranges.set(scaleName(panel), [Math.min(a, b), Math.max(a, b)]);
  show(current);
}

function figure(panel, grid, pass) {
  const unchanged = panel.when === 'before' && pass.panels.some(p => p.same && p.of === panel.of);
  const caption = make('figcaption', {}, unchanged ? panel.of : panel.title);
  if (panel.same || unchanged) caption.append(make('span', { className: 'same' }, unchanged ? ', not changed' : ' (same)'));
  if (panel.kind === 'undefined') { // of what holds nothing yet
    const f = make('figure', {}, caption, make('div', { className: 'empty', style: `aspect-ratio:${grid.cols} / ${grid.lines}` }, panel.note));
    f.panel = panel;
    return f;
  }
  const from = source(panel, grid, pass);
  const canvas = make('canvas', { role: 'img', ariaLabel: panel.title, style: `aspect-ratio:${from.width} / ${from.height}` });
  const picture = make('div', { className: 'picture' }, canvas);
  if (panel.kind === 'texels') picture.style.width = `min(100%, ${100 * panel.cols / panel.lines}%, ${panel.cols}rem)`;
  const f = make('figure', { className: panel.plane ? 'small' : '' }, caption, picture, legend(panel, grid));
  Object.assign(f, { panel, grid, source: from });
  listen(f, canvas);
  return f;
}

// listen lets the pointer choose, move and zoom.
function listen(f, canvas) {
  let held = null; // where the pointer went down, and the view then
  canvas.addEventListener('pointerdown', e => { held = { x: e.clientX, y: e.clientY, view, moved: false }; });
  canvas.addEventListener('pointermove', e => {
    if (held && e.buttons && isOfRecords(f)) {
      const size = canvas.getBoundingClientRect().width * held.view.zoom / f.source.width;
      held.moved ||= Math.hypot(e.clientX - held.x, e.clientY - held.y) > 4;
      if (held.moved) look(held.view.x - (e.clientX - held.x) / size, held.view.y - (e.clientY - held.y) / size, held.view.zoom);
    }
    if (!kept) point(f, e);
    magnify(f, e);
  });
  canvas.addEventListener('pointerleave', () => {
    held = null;
    $('magnifier').hidden = true;
    if (!kept) { spot = null; tell(); }
  });
  canvas.addEventListener('click', e => {
    const moved = held?.moved;
    held = null;
    if (moved) return;
    kept = !kept;
    if (kept) point(f, e);
    tell();
  });
  canvas.addEventListener('wheel', e => {
    if (!isOfRecords(f)) return;
    e.preventDefault();
    const at = under(f, e);
    closer(e.deltaY < 0 ? 1.25 : 0.8, at.x, at.y);
    point(f, e);
  }, { passive: false });
}

// under is the place in a picture under the pointer, in cells.
function under(f, e) {
  const box = f.querySelector('canvas').getBoundingClientRect(), at = isOfRecords(f) ? view : { x: 0, y: 0, zoom: 1 };
  const within = (v, n) => Math.max(0, Math.min(v, n - 1e-6));
  return { x: within(at.x + (e.clientX - box.left) / box.width * f.source.width / at.zoom, f.source.width),
    y: within(at.y + (e.clientY - box.top) / box.height * f.source.height / at.zoom, f.source.height) };
}

// point takes the cell under the pointer.
function point(f, e) {
  const at = under(f, e), texels = f.panel.kind === 'texels' ? f.panel : null;
  const there = Math.floor(at.y) * f.source.width + Math.floor(at.x);
  spot = { cell: texels ? there : cellAt(f.grid, there), texels, chunk: trace.passes[current].chunk };
  tell();
}

// magnify shows the texels around the pointer with their numbers.
function magnify(f, e) {
  const glass = $('magnifier'), on = $('glass').checked && isOfRecords(f);
  glass.hidden = !on;
  if (!on) return;
  const at = under(f, e), cells = 7, side = 280;
  Object.assign(glass, { width: side * devicePixelRatio, height: side * devicePixelRatio });
  glass.style.left = `${e.clientX + (e.clientX + side + 40 > innerWidth ? -side - 20 : 20)}px`;
  glass.style.top = `${Math.max(4, Math.min(e.clientY - side / 2, innerHeight - side - 8))}px`;
  // A square of cells is a view of the picture whose height is taken as its width.
  const square = new OffscreenCanvas(f.source.width, f.source.width);
  square.getContext('2d', { willReadFrequently: true }).drawImage(f.source, 0, 0);
  paint(glass, f.panel, f.grid, square, { x: Math.floor(at.x) - 3, y: Math.floor(at.y) - 3, zoom: square.width / cells });
}

// arrange puts the picture that decides first, and folds away what has not changed.
function arrange(pass, grid) {
  const decides = p => p.kind === 'share' && !p.plane && p.total > 0 && p.total < grid.rows ? 3 : p.when === 'after' && !p.same ? 2 : p.plane ? -1 : 0;
  const folded = p => p.same || p.copied || (p.kind === 'share' && !p.plane && p.total === grid.rows && pass.fates >= 0);
  const list = pass.panels.filter(p => !folded(p)), rest = pass.panels.filter(folded);
  list.sort((a, b) => decides(b) - decides(a));
  const all = list.map(p => figure(p, grid, pass)), hidden = rest.map(p => figure(p, grid, pass));
  $('panels').replaceChildren(...all);
  if (hidden.length === 0) return;
  const box = make('details', { id: 'folded', open: unfolded }, make('summary', {}, `${count(hidden.length, 'picture')} that ${hidden.length === 1 ? 'shows' : 'show'} nothing new: ${rest.map(p => p.title).join(', ')}`),
    make('div', { className: 'row' }, ...hidden));
  box.addEventListener('toggle', () => { unfolded = box.open; repaint(); });
  $('panels').append(box);
}
let unfolded = false;

// fit makes the pictures as large as the window has room for.
function fit() {
  const shown = [...$('panels').children].filter(f => f.matches('figure:not(.small)')), n = Math.max(1, shown.length);
  const grid = trace.grids[trace.passes[current].chunk], gap = 18, about = 118; // of what is written with a picture
  const wide = $('panels').clientWidth, high = innerHeight - $('stepper').offsetHeight - $('record').offsetHeight - 60;
  let side = 150;
  for (let k = 1; k <= n; k++) {
    const w = (wide - (k - 1) * gap) / k - 1, h = (high / Math.ceil(n / k) - about) * grid.cols / grid.lines;
    side = Math.max(side, Math.min(w, h));
  }
  $('panels').style.setProperty('--side', `${Math.floor(Math.min(side, wide))}px`);
  repaint();
}
