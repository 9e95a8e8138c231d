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
  /** The contents of strings, the literal parts of templates except `sql` templates, and the text between the tags of JSX. */
  readonly strings: readonly Span[];
}

export function maskCode(text: string): string {
  return scanCode(text).mask;
}

/** `hasJsx` is true for `.tsx`: elsewhere `<` never begins an element. */
export function scanCode(text: string, hasJsx = false): ScannedCode {
  const out = text.split('');
  const comments: Span[] = [];
  const strings: Span[] = [];
  const blank = (from: number, to: number) => {
    for (let at = from; at < to; at += 1) if (out[at] !== '\n') out[at] = ' ';
  };
  // One entry per open brace of `${` and of JSX. `resume` continues after the brace that closes it.
  const embedded: { openBraces: number; readonly resume: () => void }[] = [];
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
  const skipLiteral = (from: number, to: number) => {
    blank(from, to);
    if (to > from) strings.push({ from, to });
  };
  const embed = (brace: number, resume: () => void) => {
    embedded.push({ openBraces: 0, resume });
    lastCode = '{';
    word = '';
    at = brace + 1;
  };
  // From after a backtick, or after the brace that closes `${`, to the next `${` or the closing backtick.
  const skipTemplate = (from: number, isSql: boolean) => {
    let end = from;
    while (end < text.length && text[end] !== '`' && !(text[end] === '$' && text[end + 1] === '{')) {
      end += text[end] === '\\' ? 2 : 1;
    }
    blank(from, Math.min(end, text.length));
    if (!isSql) strings.push({ from, to: Math.min(end, text.length) });
    if (text[end] === '$') return embed(end + 1, () => skipTemplate(at + 1, isSql));
    lastCode = '`';
    at = end + 1;
  };
  // From inside a tag to its end. `depth` counts the elements that are open around it.
  const scanTag = (from: number, depth: number, isClosing: boolean) => {
    at = from;
    // A component's type arguments have brackets too.
    let openBrackets = 0;
    while (at < text.length && (text[at] !== '>' || openBrackets > 0)) {
      const char = text[at];
      if (char === '<') openBrackets += 1;
      if (char === '>') openBrackets -= 1;
      if (char === '{') return embed(at, () => scanTag(at + 1, depth, isClosing));
      if (char === '"' || char === "'") {
        const end = text.indexOf(char, at + 1);
        skipLiteral(at + 1, end < 0 ? text.length : end);
        at = end < 0 ? text.length : end + 1;
      } else if (!skipAnyComment()) at += 1;
    }
    if (at >= text.length) return;
    const opened = isClosing ? -1 : text[at - 1] === '/' ? 0 : 1;
    if (depth + opened > 0) return scanChildren(at + 1, depth + opened);
    lastCode = ')';
    word = '';
    at += 1;
  };
  // From after a tag, or after the brace that closes `{…}`, through the text to the next tag or brace.
  const scanChildren = (from: number, depth: number) => {
    let end = from;
    while (end < text.length && text[end] !== '<' && text[end] !== '{') end += 1;
    skipLiteral(from, end);
    if (text[end] === '{') return embed(end, () => scanChildren(at + 1, depth));
    at = end;
    if (end >= text.length) return;
    const isClosing = text[end + 1] === '/';
    scanTag(end + (isClosing ? 2 : 1), depth, isClosing);
  };
  const skipAnyComment = (): boolean => {
    if (text[at] !== '/' || (text[at + 1] !== '/' && text[at + 1] !== '*')) return false;
    const isLine = text[at + 1] === '/';
    const end = isLine ? text.indexOf('\n', at) : text.indexOf('*/', at + 2);
    skipComment(end < 0 ? text.length : isLine ? end : end + 2);
    return true;
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
    if (skipAnyComment()) continue;
    if (char === "'" || char === '"') {
      skipQuoted(char);
      lastCode = char;
      word = '';
    } else if (char === '`') {
      skipTemplate(at + 1, /\bsql(?:<[^`]*>)?$/.test(text.slice(Math.max(0, at - 80), at)));
      word = '';
    } else if (char === '}' && embedded.at(-1)?.openBraces === 0) {
      embedded.pop()?.resume();
      word = '';
    } else if (hasJsx && char === '<' && startsRegex(lastCode, word) && startsElement(text.slice(at, at + 80))) {
      scanTag(at + 1, 0, false);
    } else if (char === '/' && startsRegex(lastCode, word)) {
      skipRegex();
      lastCode = '/';
      word = '';
    } else {
      const around = embedded.at(-1);
      if (around !== undefined && char === '{') around.openBraces += 1;
      if (around !== undefined && char === '}') around.openBraces -= 1;
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

/** An arrow function's type parameters, `<T,>` or `<T extends …>`, also follow an operator. */
function startsElement(text: string): boolean {
  return /^<(?:>|[A-Za-z_$])/.test(text) && !/^<(?:const\s+)?[\w$]+\s*(?:,|extends\b|=)/.test(text);
}
