import { hash } from 'node:crypto';
import type { ApiClient } from '@runwire/test-kit';
import { expectAtLeast, expectEqual, Shortfall } from '@runwire/test-kit/shortfall.ts';
import { at, downloadAll, upload } from './uploads.ts';

export const INTEGRATION = 'house';
const OTHER = 'demo';
const FIXED = 10;
const TYPES = ['text/plain', 'text/csv', 'application/pdf'];
/** More than one piece of a read. */
const LARGE_BYTES = 300_000;

/** The bytes of a version show its number, from the first to the last. */
const version = (number: number) => Buffer.alloc(LARGE_BYTES, `version ${number} `);
const sum = (bytes: Uint8Array) => hash('sha256', bytes);
const put = (api: ApiClient, apiIntegrationId: string, path: string, bytes: Buffer, contentType = 'text/plain') =>
  upload(api, bytes, { apiIntegrationId, ...at(path), contentType });

/** An installation's files: some stay as they are, one is replaced all the time, some change before the backup. */
export class FileLoad {
  readonly #api: ApiClient;
  /** The type and the hash of each file that must exist, by integration and path. */
  readonly #kept = new Map<string, readonly [string, string]>();
  readonly #versions = new Set<string>();
  #replacing: Promise<void> = Promise.resolve();
  #stopped = false;

  private constructor(api: ApiClient) {
    this.#api = api;
  }

  static async start(api: ApiClient): Promise<FileLoad> {
    const load = new FileLoad(api);
    for (let n = 1; n <= FIXED; n += 1) {
      await load.#keep(INTEGRATION, `/app/mnt/fixed/${n % 3}/ä ${n}`, Buffer.alloc(n * 10_000, `number ${n} `));
    }
    // The same name, and the same bytes, in another integration.
    await load.#keep(OTHER, '/app/mnt/fixed/0/ä 3', Buffer.from('of another integration'));
    await load.#keep(OTHER, '/app/mnt/fixed/1/ä 1', Buffer.alloc(10_000, 'number 1 '));
    const deleted = await put(api, INTEGRATION, '/app/mnt/u/deleted', Buffer.from('deleted'));
    const query = new URLSearchParams({ path: deleted });
    const { status } = await api.delete(`/v2/integrations/${INTEGRATION}/files?${query}`);
    expectEqual('status of a deletion', status, 204);
    await load.#replace(0);
    load.#replacing = load.#replaceAllTheTime();
    return load;
  }

  async #keep(integration: string, path: string, bytes: Buffer): Promise<void> {
    const type = TYPES[this.#kept.size % TYPES.length] ?? '';
    await put(this.#api, integration, path, bytes, type);
    this.#kept.set(`${integration}: ${path}`, [type, sum(bytes)]);
  }

  async #replace(number: number): Promise<void> {
    const bytes = version(number);
    this.#versions.add(sum(bytes));
    await put(this.#api, INTEGRATION, '/app/mnt/u/replaced', bytes);
  }

  async #replaceAllTheTime(): Promise<void> {
    for (let number = 1; !this.#stopped; number += 1) await this.#replace(number);
  }

  /** Uploads a file after the moment of the backup. */
  later(): Promise<string> {
    return put(this.#api, INTEGRATION, '/app/mnt/u/later', Buffer.from('uploaded during the backup'));
  }

  async stop(): Promise<void> {
    this.#stopped = true;
    await this.#replacing;
  }

  /** Checks that exactly the files of the backup's moment are restored, each complete. Resolves to their number. */
  async check(api: ApiClient): Promise<number> {
    const found = new Map<string, readonly [string, string]>();
    for (const integration of [INTEGRATION, OTHER]) {
      for (const [path, { contentType, bytes }] of await downloadAll(api, integration)) {
        found.set(`${integration}: ${path}`, [contentType, sum(bytes)]);
      }
    }
    const count = found.size;
    expectAtLeast('versions of the file that was replaced', this.#versions.size, 2);
    const replaced = found.get(`${INTEGRATION}: /app/mnt/u/replaced`)?.[1] ?? '';
    if (!this.#versions.has(replaced)) throw new Shortfall('whole files that were replaced: expected 1, found 0.');
    found.delete(`${INTEGRATION}: /app/mnt/u/replaced`);
    expectEqual('files', [...found].toSorted(), [...this.#kept].toSorted());
    return count;
  }
}
