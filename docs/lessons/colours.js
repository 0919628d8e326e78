'use strict';
// The colours that all pages share, each as [red, green, blue], from the variables of the
// style sheet (draw.CSS). Call read() first, and again when the theme changes.
const colours = (() => {
  let theme;
  const rgb = hex => [1, 3, 5].map(i => parseInt(hex.slice(i, i + 2), 16));
  const mix = (a, b, t) => a.map((v, i) => Math.round(v + (b[i] - v) * t));
  function read() {
    const style = getComputedStyle(document.documentElement);
    theme = {};
    for (const name of ['null', 'pass', 'tint', 'dropped', 'quad', 'none', 'values', 'stencil']) {
      theme[name] = style.getPropertyValue('--' + name).trim().split(/\s+/).map(rgb);
    }
  }
  // value is the grey of a value at place t of its scale, 0 to 1.
  function value(t) {
    const at = Math.max(0, Math.min(1, t)) * (theme.values.length - 1), i = Math.min(theme.values.length - 2, Math.floor(at));
    return mix(theme.values[i], theme.values[i + 1], at - i);
  }
  const named = name => theme[name][0];
  return {
    read, value, named,
    css: c => `rgb(${c.join(' ')})`,
    // tinted is a value's colour that passes the test or, with 'dropped', that the pass drops.
    tinted: (c, fate = 'tint') => mix(c, named(fate), 0.5),
    // share is the colour of a cell of whose records a share has a fate, 'pass' or 'dropped'.
    share: (t, fate) => t === 0 ? named('none') : mix(named('none'), named(fate), 0.3 + 0.7 * t),
    // stencil is the colour of a stencil value: beyond 7 they come again, darker.
    stencil(v) {
      const n = theme.stencil.length, shade = 0.8 ** Math.min(3, Math.floor(v / n));
      return theme.stencil[v % n].map(x => Math.round(x * shade));
    },
  };
})();
