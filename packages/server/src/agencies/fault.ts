/** A mistake in an agency's files, its position, and what to write instead. */
export interface Fault {
  /** The path from the agency's folder. */
  readonly file: string;
  /** From 1. Null if the fault is not in the file's text. */
  readonly line: number | null;
  readonly column: number | null;
  readonly message: string;
}

export interface AgencyError {
  /** The first fault in one line. */
  readonly message: string;
  readonly faults: readonly Fault[];
}

/** The agency cannot be used. */
export class AgencyBroken extends Error {
  override readonly name = 'AgencyBroken';
  readonly faults: readonly Fault[];

  constructor(faults: readonly Fault[]) {
    super(faults.map(faultLine).join('\n'));
    this.faults = faults;
  }
}

export function agencyError({ faults }: AgencyBroken): AgencyError {
  const [first] = faults;
  const others = faults.length === 1 ? '' : ` (${faults.length - 1} more)`;
  return { message: first === undefined ? '' : `${faultLine(first)}${others}`, faults };
}

/** `agency.yaml:3:5: …`, as compilers write it. */
export function faultLine({ file, line, column, message }: Fault): string {
  return `${line === null ? file : `${file}:${line}:${column}`}: ${message}`;
}

export type Path = readonly (string | number)[];

/** Finds an agency's values in their file's text. */
export interface Location {
  /** The file that contains the values. */
  readonly file: string;
  /** The position of the value, or of its key. The position of the nearest part around it if it is not written. */
  position(path: Path, part?: 'key' | 'value'): FilePosition;
  /** The position of a piece of the text of the value at this path. */
  getPosition(path: Path, piece: string): FilePosition;
}

export type FilePosition = Omit<Fault, 'message'>;

export interface Position {
  readonly line: number | null;
  readonly column: number | null;
}

/** Collects faults, so that an author sees all of them. */
export class Faults {
  readonly #faults: Fault[] = [];

  get count(): number {
    return this.#faults.length;
  }

  add(location: Location, path: Path, message: string, part?: 'key' | 'value'): void {
    this.#faults.push({ ...location.position(path, part), message });
  }

  addPiece(location: Location, path: Path, piece: string, message: string): void {
    this.#faults.push({ ...location.getPosition(path, piece), message });
  }

  addAt(file: string, position: Position, message: string): void {
    this.#faults.push({ file, ...position, message });
  }

  /** Sorted by their position in each file. */
  get sorted(): readonly Fault[] {
    const files = [...new Set(this.#faults.map(({ file }) => file))];
    return this.#faults.toSorted(
      (a, b) =>
        files.indexOf(a.file) - files.indexOf(b.file) ||
        (a.line ?? 0) - (b.line ?? 0) ||
        (a.column ?? 0) - (b.column ?? 0),
    );
  }

  /** Throws if there is a fault. */
  throwIfAny(): void {
    if (this.#faults.length > 0) throw new AgencyBroken(this.sorted);
  }
}

export const NO_POSITION: Position = { line: null, column: null };
export const FILE_START: Position = { line: 1, column: 1 };

/** Returns the position of an offset in a text. */
export function positionIn(text: string, offset: number): Position {
  const before = text.slice(0, offset);
  const line = before.split('\n').length;
  return { line, column: offset - before.lastIndexOf('\n') };
}

/** `a`, `b` or `c` */
export function inWords(names: readonly string[]): string {
  const quoted = names.map((name) => `\`${name}\``);
  return quoted.length < 2 ? quoted.join('') : `${quoted.slice(0, -1).join(', ')} or ${quoted.at(-1)}`;
}
