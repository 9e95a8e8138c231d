import {
  AgencyFile,
  agencyPatternSentences,
  EvalFile,
  evalPatternSentences,
  ProvidersFile,
  providersPatternSentences,
} from '@runwire/contract/schemas';
import { comparedFields, nearestField } from '../domain/unknown-fields.ts';
import { type Faults, inWords, type Location, type Path } from './fault.ts';
import { ownModel, ownWord } from './foreign-words.ts';

/** A JSON Schema with the keywords that `AgencyFile`, `EvalFile` and `ProvidersFile` use. */
interface Schema {
  readonly $ref?: string;
  readonly type?: string;
  readonly enum?: readonly unknown[];
  readonly anyOf?: readonly Schema[];
  readonly oneOf?: readonly unknown[];
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly required?: readonly string[];
  readonly additionalProperties?: boolean | Schema;
  readonly propertyNames?: Schema;
  readonly items?: Schema;
  readonly minItems?: number;
  readonly maxItems?: number;
  readonly uniqueItems?: boolean;
  readonly minLength?: number;
  readonly maxLength?: number;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly pattern?: string;
}

interface RootSchema extends Schema {
  readonly definitions: Readonly<Record<string, Schema>>;
}

const agencySchema = AgencyFile as unknown as RootSchema;
const providersSchema = ProvidersFile as unknown as RootSchema;
const evalSchema = EvalFile as unknown as RootSchema;
const patternSentences = { ...agencyPatternSentences, ...providersPatternSentences, ...evalPatternSentences };

/** Checks a value against the schema of `agency.yaml`. */
export function checkAgencyShape(value: unknown, location: Location, faults: Faults): value is AgencyFile {
  return new ShapeCheck(agencySchema, location, faults).check(agencySchema, value, [], 'agency');
}

/** Checks a value against the schema of `providers.yaml`. */
export function checkProvidersShape(value: unknown, location: Location, faults: Faults): boolean {
  return new ShapeCheck(providersSchema, location, faults, true).check(providersSchema, value, [], 'providers');
}

/** Checks a value against the schema of `evals/*.yaml`. */
export function checkEvalShape(value: unknown, location: Location, faults: Faults): value is EvalFile {
  return new ShapeCheck(evalSchema, location, faults).check(evalSchema, value, [], 'evals');
}

/** Checks one agent's fields. `path` is where the agent is in `location`. */
export function checkAgentShape(value: unknown, location: Location, path: Path, faults: Faults): boolean {
  return new ShapeCheck(agencySchema, location, faults).check({ $ref: '#/definitions/agent' }, value, path, 'agent');
}

const KINDS: Readonly<Record<string, string>> = {
  string: 'text',
  array: 'a list',
  object: 'an object with fields',
  boolean: '`true` or `false`',
  integer: 'a whole number',
  number: 'a number',
};

const PARTS: Readonly<Record<string, string>> = {
  agency: 'an agency',
  agent: 'an agent',
  flow: 'a flow',
  server: 'an MCP server',
  provider: 'a provider',
  traits: 'a model',
  evals: 'an eval file',
  case: 'a case',
  answer: 'what a tool returns',
  turn: 'an item of `history`',
};

/** What is missing, and what to write. */
const MISSING: Readonly<Record<string, string>> = {
  'agency name': 'The agency has no `name`; add a line such as `name: Support`.',
  'agent name': 'This agent has no `name`; add one, such as `name: Billing`.',
  'agent instructions': 'This agent has no `instructions`; write a text, or the path of a file such as `./billing.md`.',
  'flow from': 'This flow has no `from`; write the name of the agent that asks or hands over.',
  'flow to': 'This flow has no `to`; write the name of the agent that is asked or continues.',
  'evals name': 'The file has no `name`; add a line such as `name: Refunds`.',
  'evals cases': 'The file has no `cases`; add at least one.',
  'case name': 'This case has no `name`; add one, such as `name: asks before it refunds`.',
  'case expect': 'This case has no `expect`; write what must be true of its run.',
  'files below': '`files` has no `below`; write `true`, `false` or `{ below: … }`.',
};

/** One fault per value: the checks after the first failed one would only repeat it. */
class ShapeCheck {
  readonly #root: RootSchema;
  readonly #location: Location;
  readonly #faults: Faults;
  readonly #isSecret: boolean;

  /** If `isSecret` is true, no fault repeats a text of the file. */
  constructor(root: RootSchema, location: Location, faults: Faults, isSecret = false) {
    this.#root = root;
    this.#location = location;
    this.#faults = faults;
    this.#isSecret = isSecret;
  }

  check(given: Schema, value: unknown, path: Path, part: string): boolean {
    const before = this.#faults.count;
    const { schema, name } = this.#resolve(given, value, part);
    if (!this.#checkKind(schema, value, path)) return false;
    if (typeof value === 'string') this.#checkText(schema, value, path);
    else if (typeof value === 'number') this.#checkNumber(schema, value, path);
    else if (Array.isArray(value)) this.#checkList(schema, value, path);
    else if (isObject(value)) this.#checkObject(schema, value, path, name);
    return this.#faults.count === before;
  }

  /** Follows references, and chooses the variant that has the kind of the value. */
  #resolve(given: Schema, value: unknown, part: string): { readonly schema: Schema; readonly name: string } {
    if (given.$ref !== undefined) {
      const name = given.$ref.replace('#/definitions/', '');
      const target = this.#root.definitions[name] ?? {};
      return this.#resolve(target, value, PARTS[name] === undefined ? (name === 'mcp' ? 'server' : part) : name);
    }
    for (const variant of given.anyOf ?? []) {
      const resolved = this.#resolve(variant, value, part);
      if (hasKind(resolved.schema, value)) return resolved;
    }
    return { schema: given, name: part };
  }

  #checkKind(schema: Schema, value: unknown, path: Path): boolean {
    const variants = (schema.anyOf ?? [schema]).map((variant) => this.#resolve(variant, undefined, '').schema);
    if (variants.some((variant) => hasKind(variant, value))) return true;
    const label = toLabel(path);
    const wanted = variants.map(({ type, enum: values }) =>
      values === undefined ? (KINDS[type ?? ''] ?? 'a value') : inWords(values.map(String)),
    );
    const words = wanted.join(' or ');
    if (value === null || value === undefined) this.#add(path, `${label} has no value; write ${words}.`);
    else if (wanted.includes('text') && ['number', 'boolean'].includes(typeof value)) {
      this.#add(path, `${label} must be text, but this is ${getKind(value)}; put it in quotes.`);
    } else {
      const advice = wanted.length === 1 && variants[0]?.type === 'array' ? listAdvice(value, path.at(-1)) : '';
      this.#add(path, `${label} must be ${words}, not ${getKind(value)}${advice}.`);
    }
    return false;
  }

  #checkText(schema: Schema, text: string, path: Path): void {
    const label = toLabel(path);
    const length = [...text].length;
    const wrong = `${label} ${this.#isSecret ? 'has a wrong value' : `is \`${shortened(text)}\``}`;
    if (schema.enum !== undefined && !schema.enum.includes(text)) {
      this.#add(path, `${wrong}; write ${inWords(schema.enum.map(String))}.`);
    } else if (length < (schema.minLength ?? 0)) this.#add(path, `${label} is empty; write at least one character.`);
    else if (length > (schema.maxLength ?? Number.POSITIVE_INFINITY)) {
      this.#add(path, `${label} has ${length} characters; write at most ${schema.maxLength}.`);
    } else if (schema.pattern !== undefined && !new RegExp(schema.pattern, 'u').test(text)) {
      const isModel = path.at(-1) === 'model' || path.at(-2) === 'fallback';
      const advice = (isModel ? ownModel(text) : null) ?? patternSentences[schema.pattern] ?? '';
      this.#add(path, `${wrong}; ${advice}.`);
    }
  }

  #checkNumber(schema: Schema, value: number, path: Path): void {
    const { minimum, maximum } = schema;
    if (value >= (minimum ?? value) && value <= (maximum ?? value)) return;
    const range = maximum === undefined ? `${minimum} or more` : `a number from ${minimum} to ${maximum}`;
    this.#add(path, `${toLabel(path)} is ${value}; write ${range}.`);
  }

  #checkList(schema: Schema, list: readonly unknown[], path: Path): void {
    const label = toLabel(path);
    const { minItems = 0, maxItems = Number.POSITIVE_INFINITY, items = {} } = schema;
    if (list.length < minItems) this.#add(path, `${label} is empty; list at least one, or remove the field.`);
    if (list.length > maxItems) this.#add(path, `${label} has ${list.length} items; write at most ${maxItems}.`);
    for (const [index, item] of list.entries()) {
      if (schema.uniqueItems === true && list.indexOf(item) !== index) {
        this.#add([...path, index], `${label} lists \`${String(item)}\` twice; keep one of them.`);
      } else this.check(items, item, [...path, index], '');
    }
  }

  #checkObject(schema: Schema, value: Readonly<Record<string, unknown>>, path: Path, part: string): void {
    const { properties = {}, additionalProperties, propertyNames, required = [] } = schema;
    for (const [field, inner] of Object.entries(value)) {
      const at = [...path, field];
      const known = Object.hasOwn(properties, field) ? properties[field] : undefined;
      if (known !== undefined) this.check(known, inner, at, field);
      else if (additionalProperties === false) {
        this.#add(at, unknownField(part, field, Object.keys(properties)), 'key');
      } else if (typeof additionalProperties === 'object') {
        if (propertyNames?.pattern !== undefined && !new RegExp(propertyNames.pattern, 'u').test(field)) {
          this.#add(at, `\`${field}\` cannot be a name; ${patternSentences[propertyNames.pattern] ?? ''}.`, 'key');
        } else this.check(additionalProperties, inner, at, field);
      }
    }
    for (const field of required) {
      if (Object.hasOwn(value, field)) continue;
      this.#add(path, MISSING[`${part} ${field}`] ?? `${toLabel(path)} has no \`${field}\`; add it.`);
    }
    if (part === 'server') this.#checkServer(value, path);
  }

  /** An MCP server has `url` or `command`, and only the fields that belong to it. */
  #checkServer(value: Readonly<Record<string, unknown>>, path: Path): void {
    const label = toLabel(path);
    const has = (field: string) => Object.hasOwn(value, field);
    const wrong = has('url') ? ['command', 'args', 'env', 'cwd'].find(has) : ['headers'].find(has);
    if (!has('url') && !has('command'))
      this.#add(path, `${label} has no address; write \`url\` or \`command\`.`, 'key');
    else if (wrong !== undefined) {
      const one = has('url') ? 'url' : 'command';
      this.#add([...path, wrong], `A server with \`${one}\` has no \`${wrong}\`; remove one of them.`, 'key');
    }
  }

  #add(path: Path, message: string, part?: 'key'): void {
    this.#faults.add(this.#location, path, message, part);
  }
}

/** How to write a value as a list. */
function listAdvice(value: unknown, field: string | number | undefined): string {
  const before = field === 'toolFiles' && typeof value === 'string' && !value.startsWith('.') ? './' : '';
  if (typeof value === 'string') return `; write \`[${before}${shortened(value)}]\``;
  return isObject(value) ? '; begin each item with `- `' : '';
}

function unknownField(part: string, field: string, known: readonly string[]): string {
  const name = shortened(field);
  const where = PARTS[part] ?? `\`${part}\``;
  const own = ownWord(part, field);
  if (own !== null) return `\`${name}\` is not a field of ${where}; ${own}.`;
  const near = nearestField(field, comparedFields(known));
  if (near !== null) return `\`${name}\` is not a field of ${where}; did you mean \`${near}\`?`;
  return `\`${name}\` is not a field of ${where}; its fields are ${known.join(', ')}.`;
}

/** Returns "Item 1 of `tools`" for `agents.2.tools.0`. */
function toLabel(path: Path): string {
  const last = path.at(-1);
  if (last === undefined) return 'The file';
  if (typeof last === 'string') return `\`${shortened(last)}\``;
  const list = path.findLast((step) => typeof step === 'string');
  return list === undefined ? `Item ${last + 1}` : `Item ${last + 1} of \`${list}\``;
}

function hasKind({ type, enum: values }: Schema, value: unknown): boolean {
  if (type === undefined && values !== undefined) return typeof value === 'string';
  switch (type) {
    case 'array':
      return Array.isArray(value);
    case 'object':
      return isObject(value);
    case 'integer':
      return Number.isInteger(value);
    case 'number':
      return typeof value === 'number' && Number.isFinite(value);
    case undefined:
      return true;
    default:
      return typeof value === type;
  }
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function getKind(value: unknown): string {
  if (Array.isArray(value)) return 'a list';
  if (typeof value === 'number') return 'a number';
  if (typeof value === 'boolean') return `\`${value}\``;
  if (typeof value === 'function') return 'a function';
  return typeof value === 'string' ? 'text' : 'an object';
}

const MAX_SHOWN = 60;

/** A value of the author's file, short enough for one line. */
export function shortened(text: string): string {
  const line = text.replaceAll(/\s+/g, ' ');
  return line.length > MAX_SHOWN ? `${line.slice(0, MAX_SHOWN)}…` : line;
}
