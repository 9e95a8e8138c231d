import assert from 'node:assert/strict';
import { test } from 'node:test';
import { textOfHtml } from './text-of-html.ts';

const shows = (html: string, text: string) => assert.equal(textOfHtml(html), `${text}\n`);

test('blocks are lines, paragraphs are set apart, and white space is one space', () => {
  shows('<h1>A  b</h1>\n<p>c <b>d</b>\n e</p><div>f</div><div>g<br>h</div>', 'A b\n\nc d e\n\nf\ng\nh');
  shows('<p>Fish &amp; chips &#8364;5</p>', 'Fish & chips €5');
  shows('<pre>a\n  b\n</pre>c', 'a\n  b\n\nc');
});

test('scripts, styles and what is hidden are left out', () => {
  shows('<head><title>T</title><style>p{}</style></head><script>if (a < b) x("</p>")</script><p>shown', 'T\n\nshown');
  shows(
    '<p hidden>no</p><div style="color:red; display: none"><p>no</p></div><template>no</template><p>yes</p>',
    'yes',
  );
});

test('lists have dashes or numbers, and lists in them are indented', () => {
  shows('<ul><li>a<ol><li>b<li>c</ol><li><p>d</p></ul>', '- a\n  1. b\n  2. c\n- d');
});

test('cells of a row stand between bars, empty ones too; a table in a cell is shown after what stood before it', () => {
  shows(
    '<table><tr><th>a</th><th>b</th></tr><tr><td><p>c</p><p>d</p></td><td></td><td>e</td></tr></table>',
    'a | b\nc d |  | e',
  );
  shows('<table><tr><td>a<table><tr><td>b<td>c</table>d</td></tr></table>', 'a\n\nb | c\n\nd');
});

test('links show their text, pictures their description', () => {
  shows('<a href="https://example.com/x">the book</a> <img alt=" a heron "><img>', 'the book [Image: a heron]');
});

test('a page that is nested without end is refused, not followed', () => {
  assert.throws(() => textOfHtml('<div>'.repeat(1_000_000)), /nested too deeply/);
});
