import { Parser } from 'htmlparser2';
import { BlockText } from './block-text.ts';
import { cleanText } from './gathered-text.ts';
import { Unreadable } from './unreadable.ts';

/** Elements whose content is not shown. */
const DROPPED = new Set(['script', 'style', 'noscript', 'template', 'svg', 'math', 'iframe', 'object', 'canvas']);
const HIDDEN_STYLE = /(?:display\s*:\s*none|visibility\s*:\s*hidden)/i;
/**
 * Browsers stop at 512. Pages with unclosed tags are deeper. The time of the parser grows with the depth's square.
 */
const MAX_DEPTH = 5000;
const names = (text: string) => new Set(text.split(' '));
const BLOCKS = names(
  'address aside body caption center dd details dialog div dt fieldset figcaption footer form header html legend main menu nav summary tbody tfoot thead',
);
/** Separated by an empty line. */
const PARAGRAPHS = names('article blockquote dl figure h1 h2 h3 h4 h5 h6 hr p pre section title');

const CHUNK_UNITS = 64 * 1024;

export interface PageText {
  readonly text: string;
  /** False if the page was not read to its end because the text is long enough. */
  readonly isWhole: boolean;
}

/**
 * Converts a page to the text that a reader sees: one line per block, list items with a dash or number, cells of a row
 * between bars. If it has more than `maxCharacters`, the rest is not read.
 */
export function textOfHtml(html: string, maxCharacters: number): PageText {
  const page = new BlockText();
  let hiddenDepth = 0;
  let depth = 0;
  const parser = new Parser({
    onopentag(name, attributes) {
      depth += 1;
      if (depth > MAX_DEPTH) throw new Unreadable('is too complex: it is nested too deeply');
      if (hiddenDepth > 0 || isHidden(name, attributes)) hiddenDepth += 1;
      else open(page, name, attributes);
    },
    onclosetag(name) {
      depth -= 1;
      if (hiddenDepth > 0) hiddenDepth -= 1;
      else close(page, name);
    },
    ontext(text) {
      if (hiddenDepth === 0) page.text(text);
    },
  });
  const source = cleanText(html);
  let at = 0;
  // A character has at most two code units.
  for (; at < source.length && page.units <= 2 * maxCharacters; at += CHUNK_UNITS) {
    parser.write(source.slice(at, at + CHUNK_UNITS));
  }
  const isWhole = at >= source.length;
  if (isWhole) parser.end();
  return { text: page.end(), isWhole };
}

const isHidden = (name: string, attributes: Readonly<Record<string, string>>) =>
  DROPPED.has(name) || attributes.hidden !== undefined || HIDDEN_STYLE.test(attributes.style ?? '');

function open(page: BlockText, name: string, attributes: Readonly<Record<string, string>>): void {
  if (name === 'br') page.newLine();
  else if (name === 'img') page.text(attributes.alt?.trim() ? ` [Image: ${attributes.alt.trim()}] ` : '');
  else if (name === 'table') page.openTable();
  else if (name === 'tr') page.openRow();
  else if (name === 'td' || name === 'th') page.openCell();
  else if (name === 'ul' || name === 'ol') page.openList(name === 'ol');
  else if (name === 'li') page.openItem();
  else if (PARAGRAPHS.has(name)) page.paragraph();
  else if (BLOCKS.has(name)) page.block();
  if (name === 'pre') page.keepSpaces(true);
}

function close(page: BlockText, name: string): void {
  if (name === 'pre') page.keepSpaces(false);
  if (name === 'table') page.closeTable();
  else if (name === 'tr') page.closeRow();
  else if (name === 'ul' || name === 'ol') page.closeList();
  else if (PARAGRAPHS.has(name)) page.paragraph();
  else if (BLOCKS.has(name) || name === 'li') page.block();
}
