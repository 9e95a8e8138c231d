import { type Document, isAlias, isMap, isScalar, isSeq, LineCounter, type Node, parseDocument } from 'yaml';
import { type Faults, type Location, type Path, type Position, positionIn } from './fault.ts';

/** A YAML text as a plain value, with each part's position. */
export interface YamlText {
  readonly value: unknown;
  readonly location: Location;
}

/** Aliases may multiply a document's size: it may not have more values than this. */
const MAX_VALUES = 100_000;

export interface YamlOptions {
  /** The offset of the YAML in its file's text. The text after it that is not YAML must be cut off. */
  readonly startsAt?: number;
  /** True if no fault may repeat a value. */
  readonly isSecret?: boolean;
}

/** Reads YAML. Returns null and adds faults if the text is not valid. */
export function readYaml(
  file: string,
  text: string,
  faults: Faults,
  { startsAt = 0, isSecret = false }: YamlOptions = {},
): YamlText | null {
  const before = faults.count;
  const lines = new LineCounter();
  const yaml = text.slice(startsAt);
  const doc = parseDocument(yaml, { lineCounter: lines, prettyErrors: false, uniqueKeys: true });
  const at = (offset: number): Position => positionIn(text, startsAt + offset);
  for (const error of [...doc.errors, ...doc.warnings]) {
    const sentence = isSecret
      ? secretSentence(error.code, yaml, error.pos[0])
      : toSentence(error.code, error.message, yaml, error.pos[0]);
    faults.addAt(file, at(error.pos[0]), sentence);
    // Errors after the first one are often its consequences.
    if (error.code !== 'DUPLICATE_KEY') break;
  }
  if (faults.count > before) return null;
  let values = 0;
  const visit = (node: unknown, above: readonly unknown[]): void => {
    values += 1;
    if (values > MAX_VALUES || faults.count > before) return;
    if (isAlias(node)) {
      const target = node.resolve(doc);
      if (target === undefined) {
        faults.addAt(file, at(node.range?.[0] ?? 0), isSecret ? SECRET_ALIAS : unknownAlias(node.source));
      } else if (above.includes(target)) {
        const alias = isSecret ? 'This alias' : `The alias \`*${node.source}\``;
        const sentence = `${alias} is inside the value that it repeats; write the value out.`;
        faults.addAt(file, at(node.range?.[0] ?? 0), sentence);
      } else visit(target, above);
    } else if (isMap(node)) {
      for (const { value } of node.items) visit(value, [...above, node]);
    } else if (isSeq(node)) {
      for (const item of node.items) visit(item, [...above, node]);
    }
  };
  visit(doc.contents, []);
  if (values > MAX_VALUES)
    faults.addAt(file, at(0), 'The aliases of this file stand for too many values; write fewer.');
  if (faults.count > before) return null;
  const value: unknown = doc.toJS({ maxAliasCount: -1 });
  return { value, location: yamlLocation(file, doc, { text, startsAt, at }) };
}

function unknownAlias(name: string): string {
  return `\`*${name}\` is an alias in YAML, and nothing is called \`&${name}\`; put the text in quotes.`;
}

function toSentence(code: string, message: string, yaml: string, offset: number): string {
  const line = yaml.slice(offset).split('\n')[0]?.trim() ?? '';
  const before = yaml.slice(yaml.lastIndexOf('\n', offset - 1) + 1, offset);
  switch (code) {
    case 'DUPLICATE_KEY':
      return `\`${line.split(':')[0]}\` is written twice; keep one of them.`;
    case 'TAB_AS_INDENT':
      return 'A tab indents this line; YAML allows only spaces here.';
    case 'BAD_ALIAS':
      return 'A `*` begins an alias in YAML; put the text in quotes, as in `"* => *"`.';
    case 'MULTIPLE_DOCS':
      return 'A second document begins here; write one document per file.';
    case 'TAG_RESOLVE_FAILED':
      return `The tag \`${line.split(' ')[0]}\` is not known; remove it.`;
    case 'BLOCK_AS_IMPLICIT_KEY':
    case 'MULTILINE_IMPLICIT_KEY':
    case 'MISSING_CHAR':
      return `This is not valid YAML (${lowered(message)}); check the indentation of this line and of the lines around it, and put text with \`: \` or \`#\` in quotes.`;
    case 'BAD_SCALAR_START':
      return `This is not valid YAML (${lowered(message)}); put the text in quotes.`;
    default:
      if (/[:-]\s+\{\{/.test(before))
        return 'A `{` begins an object in YAML; put the text in quotes, as in `"{{date}} …"`.';
      return `This is not valid YAML (${lowered(message)}); check the quotes and the indentation of this line and of the lines around it.`;
  }
}

const SECRET_ALIAS = 'A `*` begins an alias in YAML, and there is no such alias; put the text in quotes.';

/** A sentence that repeats no value. The parser's sentences may. */
function secretSentence(code: string, yaml: string, offset: number): string {
  switch (code) {
    case 'DUPLICATE_KEY': {
      const name = /^([\w-]+):/.exec(yaml.slice(offset))?.[1];
      return `${name === undefined ? 'This field' : `\`${name}\``} is written twice; keep one of them.`;
    }
    case 'BAD_ALIAS':
      return SECRET_ALIAS;
    case 'TAG_RESOLVE_FAILED':
      return 'A `!` begins a tag in YAML, and this tag is not known; put the text in quotes.';
    case 'TAB_AS_INDENT':
    case 'MULTIPLE_DOCS':
      return toSentence(code, '', yaml, offset);
    default:
      return 'This is not valid YAML; check the quotes and the indentation of this line and of the lines around it.';
  }
}

const lowered = (message: string) => message.charAt(0).toLowerCase() + message.slice(1).replace(/\.$/, '');

interface FileText {
  readonly text: string;
  readonly startsAt: number;
  readonly at: (offset: number) => Position;
}

interface FoundNode {
  /** Null at the root of the document and in lists. */
  readonly key: Node | null;
  readonly value: Node | null;
}

function yamlLocation(file: string, doc: Document, { text, startsAt, at }: FileText): Location {
  const find = (path: Path): FoundNode => {
    let found: FoundNode = { key: null, value: doc.contents as Node | null };
    for (const step of path) {
      let inner: unknown = found.value;
      if (isAlias(inner)) inner = inner.resolve(doc);
      if (isMap(inner)) {
        const pair = inner.items.find(({ key }) => String(isScalar(key) ? key.value : key) === String(step));
        if (pair === undefined) return found;
        found = { key: pair.key as Node, value: pair.value as Node | null };
      } else if (isSeq(inner) && typeof step === 'number') {
        const item = inner.items[step] as Node | undefined;
        if (item === undefined) return found;
        found = { key: null, value: item };
      } else return found;
    }
    return found;
  };
  return {
    file,
    position(path, part = 'value') {
      const { key, value } = find(path);
      // A value that is left out has a position without a width.
      const isWritten = value?.range != null && value.range[0] < value.range[1];
      const node = part === 'key' || !isWritten ? (key ?? value) : value;
      return { file, ...at(node?.range?.[0] ?? 0) };
    },
    getPosition(path, piece) {
      const range = find(path).value?.range;
      const from = startsAt + (range?.[0] ?? 0);
      const found = text.slice(from, startsAt + (range?.[1] ?? 0)).indexOf(piece);
      return { file, ...positionIn(text, from + Math.max(0, found)) };
    },
  };
}
