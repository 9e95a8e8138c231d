import { type Faults, FILE_START, type Location, positionIn } from './fault.ts';
import { readYaml } from './yaml-text.ts';

/** A Markdown file: its front matter has an agent's fields, its body is the agent's instructions. */
export interface MarkdownAgent {
  /** The fields, with the body as `instructions`. Not checked yet. */
  readonly value: unknown;
  readonly location: Location;
}

const BEGINS = /^---[ \t]*\r?\n/;
const ENDS = /^---[ \t]*\r?$/m;

/** Returns null and adds faults if the file has no valid front matter. */
export function readMarkdownAgent(file: string, text: string, faults: Faults): MarkdownAgent | null {
  const [begin] = BEGINS.exec(text) ?? [];
  if (begin === undefined) {
    faults.addAt(
      file,
      FILE_START,
      'The file has no front matter; begin it with `---`, the fields such as `name`, and `---`.',
    );
    return null;
  }
  const end = ENDS.exec(text.slice(begin.length));
  if (end === null) {
    faults.addAt(file, FILE_START, 'The front matter has no end; write a line `---` after its fields.');
    return null;
  }
  const bodyAt = begin.length + end.index + end[0].length;
  const yaml = readYaml(file, text.slice(0, begin.length + end.index), faults, { startsAt: begin.length });
  if (yaml === null) return null;
  const fields = asFields(yaml.value ?? {});
  if (fields === null) return { value: yaml.value, location: yaml.location };
  const body = text.slice(bodyAt);
  if (body.trim() === '') return { value: fields, location: yaml.location };
  if (Object.hasOwn(fields, 'instructions')) {
    const sentence = 'The instructions are written twice; keep the text below the front matter, or this field.';
    faults.add(yaml.location, ['instructions'], sentence, 'key');
    return null;
  }
  return { value: { ...fields, instructions: body }, location: withBody(yaml.location, text, bodyAt) };
}

/** Accepts what agent files of Claude write: tools in one line, and `model: inherit`. Returns null if it is no object. */
function asFields(value: unknown): Record<string, unknown> | null {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return null;
  const { ...fields } = value as Record<string, unknown>;
  if (fields.model === 'inherit') delete fields.model;
  if (typeof fields.tools === 'string') {
    fields.tools = fields.tools.split(',').flatMap((name) => (name.trim() === '' ? [] : [name.trim()]));
  }
  return fields;
}

function withBody(location: Location, text: string, bodyAt: number): Location {
  const start = text.length - text.slice(bodyAt).trimStart().length;
  const { file } = location;
  return {
    file,
    position: (path, part) =>
      path[0] === 'instructions' ? { file, ...positionIn(text, start) } : location.position(path, part),
    getPosition: (path, piece) => {
      if (path[0] !== 'instructions') return location.getPosition(path, piece);
      const found = text.indexOf(piece, start);
      return { file, ...positionIn(text, found === -1 ? start : found) };
    },
  };
}
