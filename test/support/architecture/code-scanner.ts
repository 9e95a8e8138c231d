/**
 * The text with comments and the contents of strings, templates and regular expressions blanked, offsets kept, so that
 * a search finds code alone. Code inside `${…}` stays.
 */
export function maskCode(text: string): string {
  const out = text.split('');
  const blank = (from: number, to: number) => {
    for (let at = from; at < to; at += 1) if (out[at] !== '\n') out[at] = ' ';
  };
  // One entry per open `${`: how many `{` were opened inside it.
  const templates: number[] = [];
  let lastCode = '';
  let word = '';
  let at = 0;

  const skipQuoted = (quote: string) => {
    let end = at + 1;
    while (end < text.length && text[end] !== quote && text[end] !== '\n') end += text[end] === '\\' ? 2 : 1;
    blank(at + 1, Math.min(end, text.length));
    at = end + 1;
  };
  // From after a backtick, or after the brace that closes `${`, to the next `${` or the closing backtick.
  const skipTemplate = (from: number) => {
    let end = from;
    while (end < text.length && text[end] !== '`' && !(text[end] === '$' && text[end + 1] === '{')) {
      end += text[end] === '\\' ? 2 : 1;
    }
    blank(from, Math.min(end, text.length));
    if (text[end] === '$') {
      templates.push(0);
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
      blank(at, end < 0 ? text.length : end);
      at = end < 0 ? text.length : end;
    } else if (char === '/' && next === '*') {
      const end = text.indexOf('*/', at + 2);
      blank(at, end < 0 ? text.length : end + 2);
      at = end < 0 ? text.length : end + 2;
    } else if (char === "'" || char === '"') {
      skipQuoted(char);
      lastCode = char;
      word = '';
    } else if (char === '`') {
      skipTemplate(at + 1);
      word = '';
    } else if (char === '}' && templates.at(-1) === 0) {
      templates.pop();
      skipTemplate(at + 1);
      word = '';
    } else if (char === '/' && startsRegex(lastCode, word)) {
      skipRegex();
      lastCode = '/';
      word = '';
    } else {
      const depth = templates.length - 1;
      if (depth >= 0 && char === '{') templates[depth] = (templates[depth] as number) + 1;
      if (depth >= 0 && char === '}') templates[depth] = (templates[depth] as number) - 1;
      if (/\S/.test(char)) {
        const goesOn = /[\w$]/.test(char) && at > 0 && /[\w$]/.test(text[at - 1] as string);
        word = /[\w$]/.test(char) ? (goesOn ? word + char : char) : '';
        lastCode = char;
      }
      at += 1;
    }
  }
  return out.join('');
}

const wordsBeforeRegex = new Set(['return', 'typeof', 'case', 'in', 'of', 'void', 'throw', 'else', 'do', 'await']);

// A slash divides after a value and begins a regular expression anywhere else.
function startsRegex(lastCode: string, word: string): boolean {
  if (word !== '') return wordsBeforeRegex.has(word);
  return lastCode === '' || !/[\w$)\]}'"`/]/.test(lastCode);
}
