/** Metrics in the text format of Prometheus (0.0.4): only the parts that this server needs. */
export interface Metric {
  lines(): string[];
}

type Labels = Readonly<Record<string, string>>;

const SPECIAL = /[\\"\n]/;

function escaped(value: string): string {
  if (!SPECIAL.test(value)) return value;
  return value.replace(/[\\"\n]/g, (found) => (found === '\n' ? '\\n' : `\\${found}`));
}

function labelText(labels: Labels): string {
  const pairs = Object.entries(labels).map(([name, value]) => `${name}="${escaped(value)}"`);
  return pairs.length === 0 ? '' : `{${pairs.join(',')}}`;
}

interface Branch<T> {
  series: T | undefined;
  readonly next: Map<string, Branch<T>>;
}

/**
 * The series of a metric by the values of their labels. The labels of a metric have always the same order. A series is
 * looked up several times per run, so the lookup makes no text.
 */
class SeriesByLabels<T> {
  readonly #root: Branch<T> = { series: undefined, next: new Map() };
  readonly #all: T[] = [];
  readonly #make: (labels: Labels) => T;

  constructor(make: (labels: Labels) => T) {
    this.#make = make;
  }

  of(labels: Labels): T {
    let branch = this.#root;
    for (const name in labels) {
      const value = labels[name] as string;
      let next = branch.next.get(value);
      if (next === undefined) {
        next = { series: undefined, next: new Map() };
        branch.next.set(value, next);
      }
      branch = next;
    }
    if (branch.series === undefined) {
      branch.series = this.#make(labels);
      this.#all.push(branch.series);
    }
    return branch.series;
  }

  /** In the order in which they were made. */
  get all(): readonly T[] {
    return this.#all;
  }
}

function head(name: string, type: string, help: string): string[] {
  return [`# HELP ${name} ${help.replace(/[\\\n]/g, ' ')}`, `# TYPE ${name} ${type}`];
}

/** A counter, by its labels. */
export class Counter implements Metric {
  readonly #name: string;
  readonly #help: string;
  readonly #series = new SeriesByLabels((labels) => ({ labels, text: labelText(labels), value: 0 }));

  /**
   * Series in `known` are shown from the start as 0, because Prometheus does not see the first step of a new series.
   */
  constructor(name: string, help: string, ...known: readonly Labels[]) {
    this.#name = name;
    this.#help = help;
    for (const labels of known) this.#series.of(labels);
  }

  add(labels: Labels, by = 1): void {
    this.#series.of(labels).value += by;
  }

  get values(): readonly LabelledValue[] {
    return this.#series.all;
  }

  lines(): string[] {
    return [
      ...head(this.#name, 'counter', this.#help),
      ...this.#series.all.map(({ text, value }) => `${this.#name}${text} ${value}`),
    ];
  }
}

/** A gauge that is read when the metrics are shown. */
export class Reading implements Metric {
  readonly #type: 'gauge' | 'counter';
  readonly #name: string;
  readonly #help: string;
  readonly #read: () => number;

  constructor(type: 'gauge' | 'counter', name: string, help: string, read: () => number) {
    this.#type = type;
    this.#name = name;
    this.#help = help;
    this.#read = read;
  }

  lines(): string[] {
    return [...head(this.#name, this.#type, this.#help), `${this.#name} ${this.#read()}`];
  }
}

export interface LabelledValue {
  readonly labels: Labels;
  readonly value: number;
}

/** A gauge with labels that is read when the metrics are shown. */
export class LabelledReading implements Metric {
  readonly #name: string;
  readonly #help: string;
  readonly #read: () => readonly LabelledValue[];

  constructor(name: string, help: string, read: () => readonly LabelledValue[]) {
    this.#name = name;
    this.#help = help;
    this.#read = read;
  }

  lines(): string[] {
    const series = this.#read().map(({ labels, value }) => `${this.#name}${labelText(labels)} ${value}`);
    return [...head(this.#name, 'gauge', this.#help), ...series];
  }
}

/** A metric that is always 1; its labels carry the information. */
export class Info implements Metric {
  readonly #name: string;
  readonly #help: string;
  readonly #labels: Labels;

  constructor(name: string, help: string, labels: Labels) {
    this.#name = name;
    this.#help = help;
    this.#labels = labels;
  }

  lines(): string[] {
    return [...head(this.#name, 'gauge', this.#help), `${this.#name}${labelText(this.#labels)} 1`];
  }
}

/** A histogram. Durations are observed in milliseconds and shown in seconds, the unit of Prometheus. */
export class Histogram implements Metric {
  readonly #name: string;
  readonly #help: string;
  readonly #bounds: readonly number[];
  /** The factor by which observed values are larger than shown ones. */
  readonly #perUnit: number;
  readonly #series = new SeriesByLabels((labels) => ({
    labels,
    counts: new Array<number>(this.#bounds.length + 1).fill(0),
    sum: 0,
  }));

  constructor(name: string, help: string, bounds: readonly number[], perUnit = 1000) {
    this.#name = name;
    this.#help = help;
    this.#bounds = bounds;
    this.#perUnit = perUnit;
  }

  observe(value: number, labels: Labels = {}): void {
    const series = this.#series.of(labels);
    const found = this.#bounds.findIndex((bound) => value <= bound);
    const index = found === -1 ? this.#bounds.length : found;
    series.counts[index] = (series.counts[index] ?? 0) + 1;
    series.sum += value;
  }

  lines(): string[] {
    const lines = head(this.#name, 'histogram', this.#help);
    for (const { labels, counts, sum } of this.#series.all) {
      const key = labelText(labels);
      let total = 0;
      for (const [index, count] of counts.entries()) {
        total += count;
        const bound = this.#bounds[index];
        const le = bound === undefined ? '+Inf' : String(bound / this.#perUnit);
        lines.push(`${this.#name}_bucket${labelText({ ...labels, le })} ${total}`);
      }
      lines.push(`${this.#name}_sum${key} ${sum / this.#perUnit}`, `${this.#name}_count${key} ${total}`);
    }
    return lines;
  }
}

export function exposition(metrics: readonly Metric[]): string {
  return `${metrics.flatMap((metric) => metric.lines()).join('\n')}\n`;
}
