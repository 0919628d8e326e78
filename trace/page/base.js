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
