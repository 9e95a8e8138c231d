import type { Requirement } from './requirement.ts';

export interface ParsedPage {
  readonly requirements: readonly Requirement[];
  /** Each begins with page and line. */
  readonly problems: readonly string[];
}

interface Block {
  /** A line that follows an item without an empty line belongs to it in Markdown, so it must be indented. */
  readonly kind: 'item' | 'row' | 'unindented' | 'other';
  readonly line: number;
  text: string;
}

const DECLARED_ID = /`\[((?:spec|contract|agents|clients|compatible)-[^\]`]*)\]`/g;
const BULLET = /^(?:[-*+]|\d+[.)])(?: |$)/;
const ID = /^(?:spec|contract|agents|clients|compatible)-[0-9.]+(?:-[a-z0-9]+)+$/;

/**
 * Reads a page of the contract. Each top-level list item and each table row is one requirement and names its id once, as
 * `` `[contract-4-busy]` `` at the end of a line or in a cell. Lines that are indented below an item belong to it, so
 * that it can contain a sample or a list. Everything else is explanation and has no id.
 */
export function parsePage(page: string, text: string): ParsedPage {
  const requirements: Requirement[] = [];
  const problems: string[] = [];
  for (const { kind, line, text: block } of splitIntoBlocks(text)) {
    const report = (problem: string) => problems.push(`${page}:${line}: ${problem}`);
    const ids = [...block.matchAll(DECLARED_ID)].map(([, id = '']) => id);
    const [id] = ids;
    if (kind === 'unindented') report('indent this line: it continues the list item above it');
    if (kind === 'unindented' || kind === 'other') {
      if (id !== undefined) report(`"${id}" is neither in a list item nor in a table row`);
      continue;
    }
    const name = kind === 'item' ? 'list item' : 'table row';
    if (id === undefined) report(`this ${name} has no id such as \`[contract-4-busy]\``);
    else if (ids.length > 1) report(`this ${name} has more than one id: ${ids.join(', ')}`);
    else if (!ID.test(id)) report(`"${id}" is no id: write the document, the section and a short name`);
    else {
      const sentence = kind === 'item' ? readItem(block, id) : readRow(block);
      if (sentence === null) report(`"${id}" must end its line`);
      else if (sentence === '') report(`"${id}" has no sentence`);
      else requirements.push({ id, text: sentence, page, line });
    }
  }
  return { requirements, problems };
}

/** Returns null if words follow the id. They would look like a second sentence without an id. */
function readItem(block: string, id: string): string | null {
  const atEnd = new RegExp(`\`\\[${RegExp.escape(id)}\\]\`$`, 'm');
  return atEnd.test(block) ? fold(block.replace(atEnd, '').replace(BULLET, '')) : null;
}

const readRow = (block: string): string =>
  block
    .split(/(?<!\\)\|/)
    .map((cell) => fold(cell.replace(DECLARED_ID, '')))
    .filter((cell) => cell !== '')
    .join(' | ');

const fold = (text: string): string => text.replace(/\s+/g, ' ').trim();

function splitIntoBlocks(text: string): Block[] {
  const blocks: Block[] = [];
  let open: Block | null = null;
  let isFenced = false;
  let tableRows = 0;
  for (const [index, content] of text.split('\n').entries()) {
    if (/^```/.test(content)) isFenced = !isFenced;
    tableRows = !isFenced && content.startsWith('|') ? tableRows + 1 : 0;
    if (open !== null && (content === '' || content.startsWith('  '))) {
      open.text += `\n${content}`;
      continue;
    }
    const isItem = !isFenced && BULLET.test(content);
    const follows = open !== null && !open.text.endsWith('\n');
    // The first two rows of a table are its head and the line below it.
    const kind = isItem ? 'item' : tableRows > 2 ? 'row' : follows ? 'unindented' : 'other';
    const block: Block = { kind, line: index + 1, text: content };
    blocks.push(block);
    open = isItem ? block : null;
  }
  return blocks;
}
