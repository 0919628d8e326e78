'use strict';
// Exercises are judged in the page, and what is solved is kept in the browser.

// solved is, lesson by lesson, the numbers of the exercises that are solved.
const progress = {
  read() {
    try { return JSON.parse(localStorage.getItem('stencildb-exercises')) ?? {}; } catch { return {}; }
  },
  add(lesson, number) {
    const solved = this.read();
    solved[lesson] = [...new Set([...solved[lesson] ?? [], number])].sort();
    try { localStorage.setItem('stencildb-exercises', JSON.stringify(solved)); } catch { /* a browser that keeps nothing */ }
    this.show();
  },
  // show writes how many are solved beside each lesson's name.
  show() {
    const solved = this.read();
    for (const a of document.querySelectorAll('nav a[data-exercises]')) {
      const n = (solved[lessonOf(a.pathname)] ?? []).length, all = +a.dataset.exercises;
      a.dataset.solved = n === 0 ? '' : n === all ? '✓' : `${n} of ${all}`;
    }
    for (const f of document.querySelectorAll('form.exercise')) f.classList.toggle('solved', (solved[lessonOf(location.pathname)] ?? []).includes(+f.dataset.number));
  },
};
const lessonOf = path => path.split('/').at(-1).replace('.html', '');

// judge says whether an answer is right, unless it is none, and what is to be said about it.
function judge(key, answer) {
  answer = answer.trim();
  if (!key.choices) {
    if (!/^[+-]?([0-9]{1,3}(,[0-9]{3})+|[0-9]+(_[0-9]+)*)$/.test(answer)) return { say: 'Give a whole number.' };
    answer = String(BigInt(answer.replace(/[,_+]/g, '')));
  } else if (!answer) {
    return { say: 'Choose one.' };
  }
  if (answer === key.answer) return { right: true, say: key.why };
  const size = () => BigInt(answer) < BigInt(key.answer) ? 'It is too small.' : 'It is too large.';
  return { right: false, say: key.hints?.[answer] ?? size() };
}

document.addEventListener('DOMContentLoaded', () => {
  for (const form of document.querySelectorAll('form.exercise')) {
    const key = JSON.parse(form.querySelector('script').textContent), output = form.querySelector('output');
    form.addEventListener('submit', e => {
      e.preventDefault();
      const { right, say } = judge(key, new FormData(form).get('answer') ?? '');
      output.textContent = right === undefined ? say : right ? 'Right. ' + say : 'No. ' + say;
      output.className = right ? 'right' : 'wrong';
      if (right) progress.add(lessonOf(location.pathname), +form.dataset.number);
    });
  }
  progress.show();
});
