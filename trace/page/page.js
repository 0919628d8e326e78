// --- A pass.

// table lists what is set; what the pass before has not set so is marked.
function table(target, rows, before) {
  target.textContent = '';
  const was = new Map(before);
  for (const [k, v] of rows) {
    const changed = before && was.get(k) !== v;
    target.append(make('tr', { className: changed ? 'changed' : '', title: changed ? `before: ${was.get(k) ?? 'not set'}` : '' }, make('th', {}, k), make('td', {}, v)));
  }
}

// samples says how many samples passed, in parentheses if only the trace has counted.
function samples(pass) {
  if (pass.counted) return `${count(pass.samples, 'sample')} passed, `;
  if (pass.drops) return `(${count(pass.passed, 'record')} dropped, counted for this page), `;
  return pass.passed === undefined ? '' : `(${count(pass.passed, 'sample')} passed, counted for this page), `;
}

// glsl writes a program with its comments, words and numbers in colours.
function glsl(text) {
  const kinds = [['comment', /\/\/[^\n]*|\/\*[\s\S]*?\*\//], ['directive', /^[ \t]*#[^\n]*/], ['number', /\b(?:0x[\da-fA-F]+|\d+\.?\d*(?:[eE][-+]?\d+)?)[uf]?\b/],
    ['word', /\b(?:layout|uniform|in|out|inout|const|flat|if|else|for|while|return|discard|switch|case|default|break|continue|struct|buffer|readonly|writeonly|shared|restrict|coherent)\b/],
    ['type', /\b(?:void|bool|int|uint|float|double|[biud]?vec[234]|mat[234]|[iu]?(?:sampler|image)\w+|u?int64_t)\b/]];
  const any = new RegExp(kinds.map(([kind, r]) => `(?<${kind}>${r.source})`).join('|'), 'gm');
  const parts = [];
  let end = 0;
  for (const m of text.matchAll(any)) {
    const kind = Object.keys(m.groups).find(k => m.groups[k] !== undefined);
    parts.push(text.slice(end, m.index), make('span', { className: kind }, m[0]));
    end = m.index + m[0].length;
  }
  return [...parts, text.slice(end)];
}

function show(n) {
  current = Math.max(0, Math.min(trace.passes.length - 1, n));
  const pass = trace.passes[current], grid = trace.grids[pass.chunk], before = trace.passes[current - 1];
  $('slider').value = current + 1;
  $('where').textContent = `pass ${current + 1} of ${trace.passes.length}`;
  $('name').textContent = pass.name;
  $('counts').textContent = pass.counts ? `counts: ${pass.counts}` : '';
  const chunk = trace.grids.length > 1 ? `, chunk ${pass.chunk + 1} of ${trace.grids.length}` : '';
  $('chunk').value = pass.chunk;
  $('numbers').textContent = samples(pass) + `${pass.ms.toFixed(3)} ms` + chunk;
  $('results').replaceChildren(...[...pass.results, ...(pass.selection ? ['here are the very records that the WHERE clause selects'] : [])].map(r => make('li', {}, r)));
  showSearch(pass);
  showSum(pass);
  const pictures = pass.panels.some(p => p.kind !== 'texels');
  $('reduced').textContent = pictures ? reduction(grid) : '';
  $('tools').hidden = !pictures;
  $('tintBox').hidden = !isDivided(pass, grid);
  look(view.x, view.y, view.zoom); // another chunk may be smaller
  arrange(pass, grid);
  table($('state'), pass.state, before?.state);
  table($('uniforms'), pass.uniforms, before?.uniforms);
  $('uniformBox').hidden = pass.uniforms.length === 0;
  $('glslBox').hidden = pass.program < 0;
  $('glsl').replaceChildren(...(pass.program < 0 ? [] : glsl(trace.programs[pass.program])));
  for (const e of document.querySelectorAll('#list a, #chart rect')) e.removeAttribute('aria-current');
  document.querySelectorAll('#list a')[current].setAttribute('aria-current', 'true');
  document.querySelectorAll('#chart rect')[current].setAttribute('aria-current', 'true');
  fitList();
  reveal();
  if (!kept) spot = null;
  fit();
  tell();
}

// chart draws the time of every pass as a bar; a click goes to it.
function chart() {
  const most = Math.max(...trace.passes.map(p => p.ms)), n = trace.passes.length, all = trace.passes.reduce((sum, p) => sum + p.ms, 0);
  const bars = trace.passes.map((p, i) => {
    const high = Math.max(0.6, 20 * p.ms / most);
    const bar = svg('rect', { x: i + 0.05, y: 20 - high, width: 0.9, height: high }, svg('title', {}, `pass ${i + 1}: ${p.name}, ${p.ms.toFixed(3)} ms`));
    bar.addEventListener('click', () => go(i));
    return bar;
  });
  $('chart').append(svg('svg', { viewBox: `0 0 ${n} 20`, preserveAspectRatio: 'none', role: 'img', 'aria-label': 'time of each pass' }, ...bars));
  $('times').textContent = `${all.toFixed(all < 10 ? 3 : 1)} ms in all, ${most.toFixed(all < 10 ? 3 : 1)} ms the longest`;
}

const nav = document.querySelector('nav');

// seek leaves in the list the passes whose name, state, uniforms or program have a text.
function seek(text) {
  const rows = document.querySelectorAll('#list li'), what = text.toLowerCase();
  let found = 0;
  for (const [i, p] of trace.passes.entries()) {
    const all = [p.name, p.counts, ...p.results, ...[...p.state, ...p.uniforms].map(kv => kv.join(' ')), trace.programs[p.program] ?? ''];
    rows[i].hidden = !all.some(s => s.toLowerCase().includes(what));
    if (!rows[i].hidden) found++;
  }
  $('found').textContent = text ? count(found, 'pass').replace(/passs$/, 'passes') : '';
}

// nextFound goes to the next pass that the list has left.
function nextFound() {
  const rows = [...document.querySelectorAll('#list li')], n = rows.length;
  for (let i = 1; i <= n; i++) if (!rows[(current + i) % n].hidden) { go((current + i) % n); return; }
}

// page goes to the same place among the passes of another chunk: the next pass over it.
function page(chunk) {
  const n = trace.passes.length;
  for (let i = 0; i < n; i++) if (trace.passes[(current + i) % n].chunk === chunk) { go((current + i) % n); return; }
}

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

function reduction(grid) {
  const lines = grid.line === grid.width ? '' : ` (of the texture ${grouped(grid.line)})`;
  const shape = `A picture has one cell a record, ${grouped(grid.width)} records to a line${lines}.${layout(grid)}`;
  if (grid.step === 1) return shape;
  const n = `${grid.step} × ${grid.step}`;
  return `Reduced: ${grouped(grid.rows)} records, ${grouped(grid.width)} to a line${lines}, are ${grid.cols} × ${grid.lines} cells, each a block of ${n} records. ` +
    'Pictures of codes, depth and stencil show the first record of each block; those of bits, bitmaps and passing records how many of the block. Numbers of records are exact.' + layout(grid);
}

// sort lays the records out sorted, or as the rows are.
function sort(on) {
  $('sorted').checked = sorted = on;
  show(current);
  reach();
}

// sortBoth does so in a trace beside this one, too.
function sortBoth(on) {
  sort(on);
  if (window !== top) parent.together?.(window, w => w.sort(on));
}

function go(n) {
  n = Math.max(0, Math.min(trace.passes.length - 1, n));
  if (window === top) window.history.replaceState(null, '', `#pass-${n + 1}`); // beside another trace the address is not this page's
  show(n);
}

function fromHash() {
  const m = /^#pass-(\d+)$/.exec(location.hash);
  show(m ? m[1] - 1 : current);
}

function key(e) {
  if (e.ctrlKey || e.altKey || e.metaKey || e.target.matches?.('input:not([type=range]):not([type=checkbox]), select')) return;
  const to = { ArrowLeft: current - 1, ArrowUp: current - 1, ArrowRight: current + 1, ArrowDown: current + 1, Home: 0, End: trace.passes.length - 1 }[e.key];
  const act = { '+': () => closer(1.5), '-': () => closer(1 / 1.5), 0: () => look(0, 0, 1), n: nextChange, s: trace.columns.length > 0 && (() => sortBoth(!sorted)) }[e.key];
  if (to === undefined && !act) return;
  e.preventDefault();
  if (act) act(); else go(to);
}

function listenToPage() {
  addEventListener('keydown', key);
  addEventListener('hashchange', fromHash);
  addEventListener('click', e => { // beside another trace a link would leave the page
    const link = e.target.closest?.('a[href^="#pass-"]');
    if (!link) return;
    e.preventDefault();
    go(Number(link.hash.slice(6)) - 1);
  });
  addEventListener('scroll', fitList);
  addEventListener('resize', () => { fitList(); fit(); });
  new ResizeObserver(fitList).observe(document.querySelector('header')); // the plan opens
  new ResizeObserver(fitList).observe($('record'));
  $('slider').addEventListener('input', e => go(e.target.value - 1));
  for (const [id, act] of Object.entries({ back: () => go(current - 1), forth: () => go(current + 1), closer: () => closer(1.5), farther: () => closer(1 / 1.5),
    whole: () => look(0, 0, 1), nextChange })) $(id).addEventListener('click', act);
  $('tint').addEventListener('change', e => { tinted = e.target.checked; show(current); });
  $('sorted').addEventListener('change', e => sortBoth(e.target.checked));
  $('seek').addEventListener('input', e => seek(e.target.value));
  $('seekForm').addEventListener('submit', e => { e.preventDefault(); nextFound(); });
  $('findForm').addEventListener('submit', e => { e.preventDefault(); $('notFound').textContent = find($('find').value); });
  $('history').addEventListener('toggle', showHistory);
  $('chunk').addEventListener('change', e => page(Number(e.target.value)));
  matchMedia('(prefers-color-scheme: dark)').addEventListener('change', () => { colours.read(); show(current); });
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
  images = await Promise.all(trace.images.map(unpack));
  for (const [i, grid] of trace.grids.entries()) {
    grid.chunk = i;
    grid.sizes = Array.from({ length: grid.cols * grid.lines }, (_, i) => blockSize(grid, i));
    grid.cells = grid.sizes.filter(n => n > 0).length;
    layOut(grid);
    $('chunk').append(make('option', { value: i }, `chunk ${i + 1} of ${trace.grids.length}`));
  }
  for (const id of ['stepper', 'chart', 'facts', 'record']) $(id).hidden = false;
  $('chunk').hidden = trace.grids.length === 1;
  sorted = trace.columns.length > 0 && !trace.order;
  $('sorted').checked = sorted;
  $('sortedBox').hidden = trace.columns.length === 0;
  $('by').textContent = trace.columns.slice(0, 2).map(c => c.name).join(', ');
  colours.read();
  chart();
  listenToPage();
  fromHash();
  document.documentElement.dataset.ready = 'true';
}

start().catch(e => {
  $('name').textContent = 'The page could not be shown: ' + e.message;
  $('name').className = 'warn';
  throw e;
});
