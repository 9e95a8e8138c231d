/** The text is not valid JSON at this offset. */
export class NotJson extends Error {
  override readonly name = 'NotJson';
  readonly offset: number;

  constructor(offset: number) {
    super(`The text is not JSON; see offset ${offset}.`);
    this.offset = offset;
  }
}

/** The text is JSON, but an object has two members with this name. The offset is that of the second. */
export class DuplicateMember extends Error {
  override readonly name = 'DuplicateMember';
  readonly member: string;
  readonly offset: number;

  constructor(member: string, offset: number) {
    super(`One object has two members called ${JSON.stringify(member)}.`);
    this.member = member;
    this.offset = offset;
  }
}

const BLANKS = /[ \t\n\r]*/y;
const NUMBER = /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?/y;
const LITERAL = /true|false|null/y;
const LITERALS: Readonly<Record<string, boolean | null>> = { true: true, false: false, null: null };

/**
 * Reads JSON without letting `JSON.parse` make objects. V8 14.6 can give a member another one's name, if the name
 * contains an escape and an earlier object had a similar name (nodejs/node#63785). Only strings are parsed with it.
 * This reader is about four times slower. The caller limits the depth.
 */
export function readJson(text: string): unknown {
  const reader = new Reader(text);
  const value = reader.value();
  reader.end();
  return value;
}

class Reader {
  readonly #text: string;
  #at = 0;

  constructor(text: string) {
    this.#text = text;
  }

  value(): unknown {
    this.#skipBlanks();
    switch (this.#text[this.#at]) {
      case '{':
        return this.#object();
      case '[':
        return this.#array();
      case '"':
        return this.#string();
      case 't':
      case 'f':
      case 'n':
        return LITERALS[this.#match(LITERAL)];
      default:
        return Number(this.#match(NUMBER));
    }
  }

  end(): void {
    this.#skipBlanks();
    if (this.#at < this.#text.length) throw new NotJson(this.#at);
  }

  #object(): Record<string, unknown> {
    const object: Record<string, unknown> = {};
    this.#at += 1;
    if (this.#takes('}')) return object;
    do {
      this.#skipBlanks();
      const nameAt = this.#at;
      const name = this.#string();
      if (Object.hasOwn(object, name)) throw new DuplicateMember(name, nameAt);
      if (!this.#takes(':')) throw new NotJson(this.#at);
      const value = this.value();
      // An assignment would set the prototype.
      if (name === '__proto__') {
        Object.defineProperty(object, name, { value, enumerable: true, configurable: true, writable: true });
      } else object[name] = value;
    } while (this.#takes(','));
    if (!this.#takes('}')) throw new NotJson(this.#at);
    return object;
  }

  #array(): unknown[] {
    const array: unknown[] = [];
    this.#at += 1;
    if (this.#takes(']')) return array;
    do array.push(this.value());
    while (this.#takes(','));
    if (!this.#takes(']')) throw new NotJson(this.#at);
    return array;
  }

  #string(): string {
    const start = this.#at;
    if (this.#text[start] !== '"') throw new NotJson(this.#at);
    let end = this.#text.indexOf('"', start + 1);
    while (end !== -1 && this.#isEscaped(end)) end = this.#text.indexOf('"', end + 1);
    if (end === -1) throw new NotJson(this.#text.length);
    this.#at = end + 1;
    try {
      return JSON.parse(this.#text.slice(start, end + 1)) as string;
    } catch {
      throw new NotJson(start);
    }
  }

  /** True if an odd number of backslashes precedes it. */
  #isEscaped(at: number): boolean {
    let before = at - 1;
    while (this.#text[before] === '\\') before -= 1;
    return (at - before) % 2 === 0;
  }

  #takes(sign: string): boolean {
    this.#skipBlanks();
    if (this.#text[this.#at] !== sign) return false;
    this.#at += 1;
    return true;
  }

  #skipBlanks(): void {
    this.#match(BLANKS);
  }

  #match(pattern: RegExp): string {
    pattern.lastIndex = this.#at;
    const found = pattern.exec(this.#text)?.[0];
    if (found === undefined) throw new NotJson(this.#at);
    this.#at += found.length;
    return found;
  }
}
