import { memberName } from '@runwire/lib/member-name.ts';
import { Refusal } from '../../domain/refusal.ts';

/**
 * A JSON object of a foreign API's body. Each read checks one field and names it in its refusal. null counts as absent, as
 * in the clients of these APIs. Fields that were not read can be listed.
 */
export class Fields {
  readonly #value: Readonly<Record<string, unknown>>;
  readonly #path: string;
  readonly #read = new Set<string>();
  readonly #objects = new Map<string, Fields>();

  private constructor(value: Readonly<Record<string, unknown>>, path: string) {
    this.#value = value;
    this.#path = path;
  }

  /** `path` is the field's name in refusals; empty for the body. */
  static of(value: unknown, path = ''): Fields {
    if (value !== null && typeof value === 'object' && !Array.isArray(value)) {
      return new Fields(value as Record<string, unknown>, path);
    }
    throw path === ''
      ? new Refusal('invalid_request', 'The body must be a JSON object.')
      : refused(path, 'must be an object');
  }

  /** The object as it was sent. */
  get value(): Readonly<Record<string, unknown>> {
    return this.#value;
  }

  /**
   * The names of the fields that were sent, are not null and were not read, in the order sent. Objects that were
   * read as such contribute their own, with a dot.
   */
  get unread(): string[] {
    return Object.keys(this.#value).flatMap((name) => {
      if (this.#value[name] === null) return [];
      if (!this.#read.has(name)) return [memberName(this.nameOf(name))];
      return this.#objects.get(name)?.unread ?? [];
    });
  }

  /** The names of all fields that were sent and are not null. */
  get names(): string[] {
    return Object.keys(this.#value).filter((name) => this.#value[name] !== null);
  }

  /** The names in the order in which their fields were sent. */
  inOrder(names: Iterable<string>): string[] {
    const positions = new Map(Object.keys(this.#value).map((name, index) => [name, index]));
    const position = (name: string) => positions.get(/^[^.[]*/.exec(name)?.[0] ?? '') ?? -1;
    return [...names].sort((one, other) => position(one) - position(other));
  }

  has(name: string): boolean {
    return (this.#value[name] ?? null) !== null;
  }

  /** Any value; null if the field is absent. */
  any(name: string): unknown {
    this.#read.add(name);
    return Object.hasOwn(this.#value, name) ? (this.#value[name] ?? null) : null;
  }

  text(name: string): string | null {
    const value = this.any(name);
    if (value === null || typeof value === 'string') return value;
    throw refused(this.nameOf(name), 'must be a text');
  }

  requiredText(name: string): string {
    const value = this.text(name);
    if (value === null) throw refused(this.nameOf(name), 'is missing');
    return value;
  }

  flag(name: string): boolean | null {
    const value = this.any(name);
    if (value === null || typeof value === 'boolean') return value;
    throw refused(this.nameOf(name), 'must be true or false');
  }

  number(name: string): number | null {
    const value = this.any(name);
    if (value === null || typeof value === 'number') return value;
    throw refused(this.nameOf(name), 'must be a number');
  }

  object(name: string): Fields | null {
    const value = this.any(name);
    if (value === null) return null;
    const known = this.#objects.get(name) ?? Fields.of(value, this.nameOf(name));
    this.#objects.set(name, known);
    return known;
  }

  list(name: string): readonly unknown[] | null {
    const value = this.any(name);
    if (value === null || Array.isArray(value)) return value;
    throw refused(this.nameOf(name), 'must be a list');
  }

  /** The objects of a list; empty if the list is absent. */
  objects(name: string): Fields[] {
    return (this.list(name) ?? []).map((item, index) => Fields.of(item, `${this.nameOf(name)}[${index}]`));
  }

  /** The field's name from the body on. */
  nameOf(name: string): string {
    return this.#path === '' ? name : `${this.#path}.${name}`;
  }

  /** A refusal that names this field. */
  refusal(name: string, problem: string): Refusal {
    return refused(this.nameOf(name), problem);
  }
}

const refused = (path: string, problem: string) =>
  new Refusal('invalid_request', `\`${memberName(path)}\` ${problem}.`);
