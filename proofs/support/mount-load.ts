import { hash } from 'node:crypto';
import { filesOf, type MountStore, openTestMount, putFile } from '@runwire/test-kit';
import { expectAtLeast, expectEqual, Shortfall } from '@runwire/test-kit/shortfall.ts';

export const INTEGRATION = 'house';
const OTHER = 'demo';
const FIXED = 10;
const TYPES = ['text/plain', 'text/csv', 'application/pdf'];
/** More than one piece of a read. */
const LARGE_BYTES = 300_000;

/** Of files that every version can be told by: their bytes say which they are, from the first to the last. */
const version = (number: number) => Buffer.alloc(LARGE_BYTES, `version ${number} `);
const sum = (bytes: Uint8Array) => hash('sha256', bytes);

/** Files of an installation: some stay as they are, one is replaced all the time, some come and go during the backup. */
export class MountLoad {
  readonly #mount: MountStore;
  /** What must be there, by integration and path: type and hash. */
  readonly #kept = new Map<string, readonly [string, string]>();
  readonly #versions = new Set<string>();
  #replacing: Promise<void> = Promise.resolve();
  #stopped = false;

  private constructor(mount: MountStore) {
    this.#mount = mount;
  }

  static async start(dataDir: string): Promise<MountLoad> {
    const load = new MountLoad(await openTestMount(dataDir));
    for (let n = 0; n < FIXED; n += 1) {
      await load.#keep(INTEGRATION, `fixed/${n % 3}/ä ${n}`, Buffer.alloc(n * 10_000, `number ${n} `));
    }
    // The same name, and the same bytes, in another integration.
    await load.#keep(OTHER, 'fixed/0/ä 0', Buffer.from('of another integration'));
    await load.#keep(OTHER, 'fixed/1/ä 1', Buffer.alloc(10_000, 'number 1 '));
    await putFile(load.#mount, INTEGRATION, 'deleted', 'deleted');
    await load.#replace(0);
    load.#replacing = load.#replaceAllTheTime();
    return load;
  }

  async #keep(integration: string, path: string, bytes: Buffer): Promise<void> {
    const type = TYPES[this.#kept.size % TYPES.length] ?? '';
    await putFile(this.#mount, integration, path, bytes, type);
    this.#kept.set(`${integration}: ${path}`, [type, sum(bytes)]);
  }

  async #replace(number: number): Promise<void> {
    const bytes = version(number);
    this.#versions.add(sum(bytes));
    await putFile(this.#mount, INTEGRATION, 'replaced', bytes);
  }

  async #replaceAllTheTime(): Promise<void> {
    for (let number = 1; !this.#stopped; number += 1) await this.#replace(number);
  }

  /** While the backup is taken, and before it comes to the files. */
  async change(): Promise<void> {
    if (this.#kept.has(`${INTEGRATION}: during`)) return;
    await this.#mount.delete(INTEGRATION, 'deleted');
    await this.#keep(INTEGRATION, 'during', Buffer.from('came during the backup'));
  }

  async stop(): Promise<void> {
    this.#stopped = true;
    await this.#replacing;
  }

  /** Every file of the restored place is whole and where it belongs, and none is missing; resolves to how many. */
  async check(dataDir: string): Promise<number> {
    const mount = await openTestMount(dataDir);
    const found = new Map<string, readonly [string, string]>();
    for (const integration of [INTEGRATION, OTHER]) {
      for (const [path, { contentType, bytes }] of await filesOf(mount, integration)) {
        found.set(`${integration}: ${path}`, [contentType, sum(bytes)]);
      }
    }
    const count = found.size;
    expectAtLeast('versions of the file that was replaced', this.#versions.size, 2);
    const replaced = found.get(`${INTEGRATION}: replaced`)?.[1] ?? '';
    if (!this.#versions.has(replaced)) throw new Shortfall('whole files that were replaced: expected 1, found 0.');
    found.delete(`${INTEGRATION}: replaced`);
    expectEqual('files', [...found].toSorted(), [...this.#kept].toSorted());
    return count;
  }
}
