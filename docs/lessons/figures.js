'use strict';
// What the live figures share: the flights, a graphics pipeline that does a pass texel by
// texel, pictures of its buffers, and controls. A lesson's figure is a file of its own;
// it calls figure().

const grouped = n => n.toLocaleString('en-US');

// Column is an attribute of the flights: codes is its texture, a code a record.
class Column {
  constructor({ name, min, bits, codes }) {
    const bytes = Uint8Array.from(atob(codes), c => c.charCodeAt(0)).buffer;
    this.name = name;
    this.min = min;
    this.bits = bits;
    this.codes = bits > 16 ? new Uint32Array(bytes) : new Uint16Array(bytes);
    this.sorted = this.codes.slice().sort();
    this.distinct = [...new Set(this.sorted)];
  }

  // A code is the value minus the smallest one; that of a float is its bits.
  value(code) { return this.name === 'time' ? new Float32Array(Uint32Array.of(code).buffer)[0] : code + this.min; }
  code(value) { return value - this.min; }

  // The share of the records whose codes are smaller.
  rank(code) {
    let lo = 0, hi = this.sorted.length;
    while (lo < hi) {
      const middle = (lo + hi) >> 1;
      if (this.sorted[middle] < code) lo = middle + 1; else hi = middle;
    }
    return lo / this.sorted.length;
  }

  // The ranks of all records, as shades want them: values are skewed.
  get ranks() {
    if (!this.saved) {
      const of = new Map(this.distinct.map(c => [c, this.rank(c)]));
      this.saved = Float32Array.from(this.codes, c => of.get(c));
    }
    return this.saved;
  }
}

// flights is { rows, width, delay, distance, time }.
const flights = { rows: flightsData.rows, width: flightsData.width };
const sample = `${grouped(flights.rows)} flights, about one in ${Math.round(flightsData.of / flights.rows)}.`;
for (const c of flightsData.columns) flights[c.name] = new Column(c);

// ---- the pipeline

const functions = {
  NEVER: () => false, LESS: (a, b) => a < b, EQUAL: (a, b) => a === b, LEQUAL: (a, b) => a <= b,
  GREATER: (a, b) => a > b, NOTEQUAL: (a, b) => a !== b, GEQUAL: (a, b) => a >= b, ALWAYS: () => true,
};
const operations = {
  KEEP: s => s, ZERO: () => 0, REPLACE: (s, ref) => ref, INCR: s => Math.min(s + 1, 255), DECR: s => Math.max(s - 1, 0), INVERT: s => s ^ 255,
};

// The depth function of an SQL operator: the hardware has the quad on the left.
const mirrored = { '<': 'GREATER', '<=': 'GEQUAL', '=': 'EQUAL', '>=': 'LEQUAL', '>': 'LESS', '<>': 'NOTEQUAL' };

// Target is a depth-stencil buffer over the records; depths are codes, in steps of 2^-24.
class Target {
  constructor() {
    this.depth = new Uint32Array(flights.rows);
    this.stencil = new Uint8Array(flights.rows);
  }

  // run draws a quad over all records and returns how many fragments pass all tests.
  //   clear    the stencil value that all records get before
  //   program  called with the record; returns false to discard, a number as the depth
  //   quad     the depth of the quad
  //   bounds   [lo, hi] for the stored depth
  //   stencil  { func, ref, op }: ref func stored value; op where all tests pass
  //   depth    the depth function: drawn depth func stored depth
  //   write    whether the depth is written
  run({ clear, program, quad = 0, bounds, stencil, depth = 'ALWAYS', write }) {
    if (clear !== undefined) this.stencil.fill(clear);
    const passesStencil = stencil && functions[stencil.func], operate = stencil && operations[stencil.op], passesDepth = functions[depth];
    let count = 0;
    for (let i = 0; i < flights.rows; i++) {
      const out = program ? program(i) : undefined;
      if (out === false) continue;
      const drawn = typeof out === 'number' ? out : quad;
      if (bounds && (this.depth[i] < bounds[0] || this.depth[i] > bounds[1])) continue;
      if (stencil && !passesStencil(stencil.ref, this.stencil[i])) continue;
      if (!passesDepth(drawn, this.depth[i])) continue;
      if (write) this.depth[i] = drawn;
      if (stencil) this.stencil[i] = operate(this.stencil[i], stencil.ref);
      count++;
    }
    return count;
  }

  // The paper's CopyToDepth; drop is how many of the lowest bits get lost.
  copy(column, drop = 0) {
    this.run({ program: i => column.codes[i] >>> drop << drop, write: true });
    return this;
  }

  // The paper's Compare, over the column in the depth buffer.
  compare(column, op, value, stencil, clear) { return this.run({ quad: column.code(value), depth: mirrored[op], stencil, clear }); }

  // mark sets the stencil value 1 where the comparison holds, 0 elsewhere.
  mark(column, op, value) { return this.copy(column).compare(column, op, value, { func: 'ALWAYS', ref: 1, op: 'REPLACE' }, 0); }

  // histogram counts the records that hold 0, 1, 2.
  histogram() {
    const h = [0, 0, 0];
    for (const s of this.stencil) h[s]++;
    return h;
  }
}
const marked = { func: 'EQUAL', ref: 1, op: 'KEEP' };
const everyone = { func: 'ALWAYS', ref: 0, op: 'KEEP' };

// ---- pictures

function el(tag, className, ...children) {
  const e = document.createElement(tag);
  if (className) e.className = className;
  e.append(...children);
  return e;
}

// shades are the greys of values by their rank, and those of values that pass; all colours
// are [red, green, blue].
const shades = { value: [], tinted: [] };
function readColours() {
  colours.read();
  for (let i = 0; i < 256; i++) {
    shades.value[i] = colours.value(i / 255);
    shades.tinted[i] = colours.tinted(shades.value[i]);
  }
}
const shade = (rank, passes) => (passes ? shades.tinted : shades.value)[Math.min(255, Math.floor(rank * 256))];
const packed = ([r, g, b]) => (255 << 24 | b << 16 | g << 8 | r) >>> 0; // as the pixels of a canvas
const mix = (a, b, x) => a.map((v, i) => v + (b[i] - v) * x);
const ink = name => getComputedStyle(document.documentElement).getPropertyValue('--' + name); // of the page's own colours

// picture adds a figure of a canvas with words below, and returns the canvas; say sets
// the words.
function picture(host, width, height, label) {
  const canvas = el('canvas'), words = el('figcaption');
  canvas.width = width;
  canvas.height = height;
  canvas.setAttribute('role', 'img');
  canvas.setAttribute('aria-label', label);
  host.append(el('figure', '', canvas, words));
  canvas.say = text => { words.textContent = text; };
  return canvas;
}

// field adds a picture of the records, a texel each, and returns what paints it: with a
// colour for each record and words. Pointing at a texel tells(record).
function field(host, label, tells) {
  const canvas = picture(host, flights.width, flights.rows / flights.width, label);
  canvas.className = 'field';
  const context = canvas.getContext('2d'), image = context.createImageData(canvas.width, canvas.height), pixels = new Uint32Array(image.data.buffer);
  canvas.addEventListener('pointermove', e => {
    const box = canvas.getBoundingClientRect();
    const x = Math.floor((e.clientX - box.left) / box.width * canvas.width), y = Math.floor((e.clientY - box.top) / box.height * canvas.height);
    if (x >= 0 && y >= 0 && x < canvas.width && y < canvas.height) tells?.(y * canvas.width + x);
  });
  return (colour, words) => {
    for (let i = 0; i < flights.rows; i++) pixels[i] = packed(colour(i));
    context.putImageData(image, 0, 0);
    canvas.say(words);
  };
}

// relief adds a picture of the depth buffer as a landscape, height by rank, that a quad
// cuts; passes says which records are coloured. Dragging it moves the quad.
function relief(host, label, drag) {
  const lines = flights.rows / flights.width, step = 5, slant = 2, rise = 2, high = 210;
  const width = flights.width * step + lines * slant + 8, height = Math.ceil(lines * rise + high + 12);
  const canvas = picture(host, Math.ceil(width), height, label), context = canvas.getContext('2d');
  canvas.className = 'relief';
  if (drag) {
    const move = e => {
      const box = canvas.getBoundingClientRect(), y = (e.clientY - box.top) / box.height * height;
      drag(Math.max(0, Math.min(1, (height - 6 - lines * rise / 2 - y) / high)));
    };
    canvas.addEventListener('pointerdown', e => { canvas.setPointerCapture(e.pointerId); move(e); });
    canvas.addEventListener('pointermove', e => { if (canvas.hasPointerCapture(e.pointerId)) move(e); });
  }
  return (ranks, quads, passes, words) => {
    const image = context.createImageData(canvas.width, height), pixels = new Uint32Array(image.data.buffer), w = canvas.width;
    const plane = colours.named('quad');
    const blend = (at, alpha) => {
      const under = pixels[at] ? [pixels[at] & 255, pixels[at] >> 8 & 255, pixels[at] >> 16 & 255] : colours.named('none');
      pixels[at] = packed(mix(under, plane, alpha));
    };
    for (let line = lines - 1; line >= 0; line--) { // from the back to the front
      const floor = height - 6 - line * rise, left = 4 + line * slant;
      for (let x = 0; x < flights.width; x++) {
        const i = line * flights.width + x, colour = shade(ranks[i], passes(i)), light = packed(colour), dark = packed(mix(colour, [0, 0, 0], 0.3));
        const from = Math.round(left + x * step), top = Math.round(floor - ranks[i] * high);
        for (let y = top; y <= floor; y++) pixels.fill(y < top + 3 ? light : dark, y * w + from, y * w + from + step);
        for (const q of quads) {
          if (ranks[i] > q) continue;
          const y = Math.round(floor - q * high), edge = line === lines - 1 || line === 0 || x === 0 || x === flights.width - 1;
          for (let v = y; v < y + rise; v++) for (let u = from; u < from + step; u++) blend(v * w + u, edge ? 0.95 : 0.3);
        }
      }
    }
    context.putImageData(image, 0, 0);
    canvas.say(words);
  };
}

// bars writes rows of a label, a bar and a text; mark is a place on the bar's axis.
function bars(host, rows) {
  const most = Math.max(1, ...rows.map(r => r.to));
  const part = v => `${100 * v / most}%`;
  host.replaceChildren(...rows.map(r => {
    const bar = el('i'), track = el('span', 'track', bar);
    bar.style.left = part(r.from ?? 0);
    bar.style.width = `max(2px, ${part(r.to - (r.from ?? 0))})`;
    if (r.mark !== undefined) {
      const mark = el('b');
      mark.style.left = part(r.mark);
      track.append(mark);
    }
    return el('div', r.chosen ? 'bar chosen' : 'bar', el('span', 'label', r.label), track, el('span', 'text', r.text));
  }));
  host.className = 'bars';
}

// tell says what a record is, in words.
const tell = i => `record ${grouped(i)} at (${i % flights.width}, ${Math.floor(i / flights.width)}): delay ${flights.delay.value(flights.delay.codes[i])}, distance ${flights.distance.value(flights.distance.codes[i])}`;

// ---- controls: each adds itself to a host, and returns what shows the settings.

const control = {
  // choice: one of options, [value, words] or a value; also has other settings that a value
  // brings with it.
  choice({ name, label, options, also }, set) {
    const select = el('select', '', ...options.map(o => new Option(...(Array.isArray(o) ? [o[1], o[0]] : [o, o]))));
    select.addEventListener('input', () => set({ [name]: select.value, ...also?.[select.value] }));
    return [el('label', '', label + ' ', select), s => { select.value = s[name]; }];
  },
  // value: a value of a column (its name, or the setting that has it), by a slider over
  // the values that occur, or typed.
  value({ name, label, column }, set, s) {
    const of = () => flights[s[column] ?? column];
    const slider = el('input'), number = el('input');
    slider.type = 'range';
    number.type = 'number';
    slider.addEventListener('input', () => set({ [name]: of().value(of().distinct[slider.value]) }));
    number.addEventListener('change', () => set({ [name]: Math.max(of().min, Math.min(of().value(of().distinct.at(-1)), Math.round(number.valueAsNumber || 0))) }));
    slider.setAttribute('aria-label', label);
    return [el('label', 'wide', label + ' ', slider, number), () => {
      const code = of().code(s[name]), at = of().distinct.findIndex(c => c >= code);
      slider.max = of().distinct.length - 1;
      slider.value = at < 0 ? slider.max : at;
      number.value = s[name];
    }];
  },
  // range: a whole number from lo to hi.
  range({ name, label, lo, hi }, set, s) {
    const slider = el('input'), shown = el('output');
    slider.type = 'range';
    slider.addEventListener('input', () => set({ [name]: slider.valueAsNumber }));
    return [el('label', 'wide', label + ' ', slider, shown), () => {
      slider.min = lo;
      slider.max = typeof hi === 'function' ? hi(s) : hi;
      slider.value = s[name];
      shown.textContent = s[name];
    }];
  },
  // number: a whole number, typed.
  number({ name, label }, set) {
    const input = el('input');
    input.type = 'number';
    input.addEventListener('change', () => set({ [name]: Math.round(input.valueAsNumber || 0) }));
    return [el('label', '', label + ' ', input), s => { input.value = s[name]; }];
  },
  // buttons: [words, what they set, given the settings].
  buttons({ list }, set, s) {
    return [el('span', 'buttons', ...list.map(([words, change]) => {
      const b = el('button', '', words);
      b.type = 'button';
      b.addEventListener('click', () => set(change(s)));
      return b;
    })), () => {}];
  },
};

// figures has what was given to figure(), by name: about (what to do), start (the
// settings), controls, numbers(settings) and build(host, set, settings, tells), which
// returns paint(settings, numbers); that returns what the numbers say, in words.
const figures = {};
const figure = (name, spec) => { figures[name] = spec; };

function mount(host) {
  const spec = figures[host.dataset.figure], s = { ...spec.start };
  const pictures = el('div', 'pictures'), said = el('p', 'said'), below = el('p', 'record', 'Point at a texel to see its record.');
  let paint = () => {}, waiting = false;
  const shows = [];
  const draw = () => {
    waiting = false;
    const n = spec.numbers(s);
    for (const show of shows) show(s);
    said.textContent = paint(s, n) ?? '';
  };
  const set = change => {
    Object.assign(s, change);
    if (!waiting) requestAnimationFrame(draw);
    waiting = true;
  };
  const controls = el('div', 'controls', ...spec.controls.map(c => {
    const [e, show] = control[c.kind](c, set, s);
    shows.push(show);
    return e;
  }));
  said.setAttribute('aria-live', 'polite');
  host.append(el('p', '', spec.about, ' ', el('span', 'sample', sample)), controls, pictures, said, below);
  paint = spec.build(pictures, set, s, i => { below.textContent = (spec.tell ?? tell)(i); });
  matchMedia('(prefers-color-scheme: dark)').addEventListener('change', () => { readColours(); draw(); });
  draw();
}

document.addEventListener('DOMContentLoaded', () => {
  readColours();
  document.querySelectorAll('[data-figure]').forEach(mount);
});
