import type { MountPath } from '../domain/mount-path.ts';
import { promisedBytes } from '../store/queries/upload-forms.ts';
import type { Reads } from '../store/store.ts';
import type { MountStore } from './mount-store.ts';

/** What the files of an integration took when they were walked through. */
export interface MeasuredMount {
  /** What is promised since then is not in it; in milliseconds since 1970. */
  readonly beganAt: number;
  /** A form that expired after this moment counts beside it: what it brings may have arrived since the walk began. */
  readonly countsFrom: number;
  readonly bytes: number;
  /** Of those paths alone that were asked for, or promised before; 0: there was no file. */
  readonly sizes: ReadonlyMap<MountPath, number>;
}

/** Files only grow by forms, and those are counted: an older measurement counts too much, never too little. */
const GOOD_FOR_MS = 10_000;
const MAX_KEPT = 1000;

interface Walk {
  readonly paths: Set<MountPath>;
  readonly measured: Promise<MeasuredMount>;
}

/** Measures mounts; whoever asks at once shares a walk. */
export class MountUsage {
  readonly #mount: Pick<MountStore, 'walk'>;
  readonly #reads: Reads;
  readonly #graceMs: number;
  readonly #kept = new Map<string, MeasuredMount>();
  /** Those that have begun, and those that wait for their end. */
  readonly #underWay = new Map<string, Promise<unknown>>();
  readonly #next = new Map<string, Walk>();

  constructor(mount: Pick<MountStore, 'walk'>, reads: Reads, graceMs: number) {
    this.#mount = mount;
    this.#reads = reads;
    this.#graceMs = graceMs;
  }

  /** One of a moment ago; null: there is none. */
  recent(integrationId: string): MeasuredMount | null {
    const kept = this.#kept.get(integrationId);
    return kept !== undefined && Date.now() - kept.beganAt < GOOD_FOR_MS ? kept : null;
  }

  /** By a walk that begins after this call, and that notes the sizes of these paths. */
  measure(integrationId: string, paths: Iterable<MountPath>): Promise<MeasuredMount> {
    const walk = this.#next.get(integrationId) ?? this.#plan(integrationId);
    for (const path of paths) walk.paths.add(path);
    return walk.measured;
  }

  #plan(integrationId: string): Walk {
    const paths = new Set<MountPath>();
    const before = this.#underWay.get(integrationId) ?? Promise.resolve();
    const measured = before.then(() => {
      this.#next.delete(integrationId);
      const walked = this.#walk(integrationId, paths);
      const ended = walked.then(
        () => {},
        () => {},
      );
      this.#underWay.set(integrationId, ended);
      void ended.then(() => {
        if (this.#underWay.get(integrationId) === ended) this.#underWay.delete(integrationId);
      });
      return walked;
    });
    const walk = { paths, measured };
    this.#next.set(integrationId, walk);
    return walk;
  }

  async #walk(integrationId: string, paths: ReadonlySet<MountPath>): Promise<MeasuredMount> {
    const beganAt = Date.now();
    const countsFrom = beganAt - this.#graceMs;
    const promised = await this.#reads.all(promisedBytes, { integrationId, since: countsFrom });
    const noted = [...paths, ...promised.map(({ path }) => path)];
    const sizes = new Map<MountPath, number>(noted.map((path) => [path, 0]));
    let bytes = 0;
    for await (const { path, size } of this.#mount.walk(integrationId, '')) {
      bytes += size;
      if (sizes.has(path)) sizes.set(path, size);
    }
    const measured = { beganAt, countsFrom, bytes, sizes };
    this.#kept.delete(integrationId);
    this.#kept.set(integrationId, measured);
    const [oldest] = this.#kept.keys();
    if (this.#kept.size > MAX_KEPT && oldest !== undefined) this.#kept.delete(oldest);
    return measured;
  }
}
