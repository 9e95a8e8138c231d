/** A part of a file, by offsets. */
export interface Span {
  readonly from: number;
  readonly to: number;
}

export interface ScannedCode {
  /**
   * The text with comments and the contents of strings, templates and regular expressions blanked. Offsets are kept, and
   * code inside `${…}` stays, so that a search finds only code.
   */
  readonly mask: string;
  readonly comments: readonly Span[];
  /** The contents of strings and the literal parts of templates, except those of `sql` templates. */
  readonly strings: readonly Span[];
}

export function maskCode(text: string): string {
  return scanCode(text).mask;
}

export function scanCode(text: string): ScannedCode {
  const out = text.split('');
  const comments: Span[] = [];
  const strings: Span[] = [];
  const blank = (from: number, to: number) => {
    for (let at = from; at < to; at += 1) if (out[at] !== '\n') out[at] = ' ';
  };
  // One entry per open `${`.
  const templates: { openBraces: number; readonly isSql: boolean }[] = [];
  let lastCode = '';
  let word = '';
  let at = 0;

  const skipQuoted = (quote: string) => {
    let end = at + 1;
    while (end < text.length && text[end] !== quote && text[end] !== '\n') end += text[end] === '\\' ? 2 : 1;
    blank(at + 1, Math.min(end, text.length));
    strings.push({ from: at + 1, to: Math.min(end, text.length) });
    at = end + 1;
  };
  const skipComment = (to: number) => {
    blank(at, to);
    comments.push({ from: at, to });
    at = to;
  };
  // From after a backtick, or after the brace that closes `${`, to the next `${` or the closing backtick.
  const skipTemplate = (from: number, isSql: boolean) => {
    let end = from;
    while (end < text.length && text[end] !== '`' && !(text[end] === '$' && text[end + 1] === '{')) {
      end += text[end] === '\\' ? 2 : 1;
    }
    blank(from, Math.min(end, text.length));
    if (!isSql) strings.push({ from, to: Math.min(end, text.length) });
    if (text[end] === '$') {
      templates.push({ openBraces: 0, isSql });
      lastCode = '{';
      at = end + 2;
    } else {
      lastCode = '`';
      at = end + 1;
    }
  };
  const skipRegex = () => {
    let end = at + 1;
    let inClass = false;
    while (end < text.length && text[end] !== '\n' && (inClass || text[end] !== '/')) {
      if (text[end] === '[') inClass = true;
      if (text[end] === ']') inClass = false;
      end += text[end] === '\\' ? 2 : 1;
    }
    blank(at + 1, Math.min(end, text.length));
    at = end + 1;
  };

  while (at < text.length) {
    const char = text[at] as string;
    const next = text[at + 1];
    if (char === '/' && next === '/') {
      const end = text.indexOf('\n', at);
      skipComment(end < 0 ? text.length : end);
    } else if (char === '/' && next === '*') {
      const end = text.indexOf('*/', at + 2);
      skipComment(end < 0 ? text.length : end + 2);
    } else if (char === "'" || char === '"') {
      skipQuoted(char);
      lastCode = char;
      word = '';
    } else if (char === '`') {
      skipTemplate(at + 1, /\bsql(?:<[^`]*>)?$/.test(text.slice(Math.max(0, at - 80), at)));
      word = '';
    } else if (char === '}' && templates.at(-1)?.openBraces === 0) {
      skipTemplate(at + 1, templates.pop()?.isSql === true);
      word = '';
    } else if (char === '/' && startsRegex(lastCode, word)) {
      skipRegex();
      lastCode = '/';
      word = '';
    } else {
      const template = templates.at(-1);
      if (template !== undefined && char === '{') template.openBraces += 1;
      if (template !== undefined && char === '}') template.openBraces -= 1;
      if (/\S/.test(char)) {
        const continuesWord = /[\w$]/.test(char) && at > 0 && /[\w$]/.test(text[at - 1] as string);
        word = /[\w$]/.test(char) ? (continuesWord ? word + char : char) : '';
        lastCode = char;
      }
      at += 1;
    }
  }
  return { mask: out.join(''), comments, strings };
}

const wordsBeforeRegex = new Set(['return', 'typeof', 'case', 'in', 'of', 'void', 'throw', 'else', 'do', 'await']);

// A slash divides after a value and begins a regular expression anywhere else.
function startsRegex(lastCode: string, word: string): boolean {
  if (word !== '') return wordsBeforeRegex.has(word);
  return lastCode === '' || !/[\w$)\]}'"`/]/.test(lastCode);
}
