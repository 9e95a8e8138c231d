import assert from 'node:assert/strict';
import { test } from 'node:test';
import { assertLinear } from '@runwire/test-kit/growth.ts';
import { textOfHtml } from './text-of-html.ts';

const toText = (html: string) => textOfHtml(html, 1e9).text;
const shows = (html: string, text: string) => assert.equal(toText(html), `${text}\n`);

test('blocks are lines, paragraphs are separated, white space is one space', () => {
  shows('<h1>A  b</h1>\n<p>c <b>d</b>\n e</p><div>f</div><div>g<br>h</div>', 'A b\n\nc d e\n\nf\ng\nh');
  shows('<p>Fish &amp; chips &#8364;5</p>', 'Fish & chips €5');
  shows('<pre>a\n  b\n</pre>c', 'a\n  b\n\nc');
});

test('leaves out scripts, styles and hidden elements', () => {
  shows('<head><title>T</title><style>p{}</style></head><script>if (a < b) x("</p>")</script><p>shown', 'T\n\nshown');
  shows(
    '<p hidden>no</p><div style="color:red; display: none"><p>no</p></div><template>no</template><p>yes</p>',
    'yes',
  );
});

test('lists have dashes or numbers, and lists in them are indented', () => {
  shows('<ul><li>a<ol><li>b<li>c</ol><li><p>d</p></ul>', '- a\n  1. b\n  2. c\n- d');
  shows('<ul><li><table><tr><td>a<td>b</table><li>c</ul>', '- a | b\n- c');
});

test('puts bars between cells, also empty ones; a nested table follows its text', () => {
  shows(
    '<table><tr><th>a</th><th>b</th></tr><tr><td><p>c</p><p>d</p></td><td></td><td>e</td></tr></table>',
    'a | b\nc d |  | e',
  );
  shows('<table><tr><td>a<table><tr><td>b<td>c</table>d</td></tr></table>', 'a\n\nb | c\n\nd');
});

test('a mail in one cell keeps its lines, and so do columns of a page', () => {
  shows(
    '<table><tr><td><p>Dear <b>all</b>,</p> <p>one<br>two</p><ul><li>a<li>b</ul></td></tr><tr><td>foot</td></tr></table>',
    'Dear all,\n\none\ntwo\n\n- a\n- b\n\nfoot',
  );
  const column = (name: string) => `<td>${[1, 2, 3, 4, 5, 6, 7].map((n) => `<div>${name}${n}</div>`).join('')}</td>`;
  shows(
    `<table><tr>${column('a')}<td></td>${column('b')}</tr></table>`,
    'a1\na2\na3\na4\na5\na6\na7\n\nb1\nb2\nb3\nb4\nb5\nb6\nb7',
  );
  shows('<table><tr><td>a<br>b</td><td><ul><li>c<li>d</ul></td></tr></table>', 'a b | - c - d');
});

test('the time grows with the page, in one line and in one cell', () => {
  const mail = '<p>Dear all, this is <b>a sentence</b> &amp; more.</p> ';
  for (const [before, piece] of [
    ['<table><tr><td>', mail],
    ['<p>', '<b> x</b>'],
    ['<table><tr>', '<td>x</td>'],
    ['<pre>', '<b> x</b> &amp; \n'],
  ] as const) {
    assertLinear(`${piece} after ${before}`, (size) => `${before}${piece.repeat(size)}`, toText, 2000);
  }
});

test('a page is read only as far as the text limit needs', () => {
  const html = '<p>😀 &#1; word</p>'.repeat(1_000_000);
  const { text, isWhole } = textOfHtml(html, 1000);
  assert.equal(isWhole, false);
  assert.ok([...text].length > 1000 && text.length < 100_000, String(text.length));
  assert.equal(textOfHtml(html.slice(0, 500), 1000).isWhole, true);
});

test('links show their text, pictures their description', () => {
  shows('<a href="https://example.com/x">the book</a> <img alt=" a heron "><img>', 'the book [Image: a heron]');
});

test('refuses a page that is nested too deeply', () => {
  assert.throws(() => toText('<div>'.repeat(1_000_000)), /nested too deeply/);
});
