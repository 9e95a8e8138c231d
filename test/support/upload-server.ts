import { deepEqual, equal } from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { readdirSync } from 'node:fs';
import { join, relative } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { rotateUploads } from '@runwire/server';
import type { MountPath } from '@runwire/server/src/domain/file/mount-path.ts';
import {
  computeSignature,
  type FormAnswer,
  type FormPart,
  type FormTerms,
  postForm,
  type RawForm,
  type SigningKey,
  signForm,
  startTestServer,
  storedPath,
  storeEnvironment,
  type TestServer,
  type TestServerOptions,
  toParts,
  uploadKey,
} from '@runwire/test-kit';
import { askStore } from './ask-store.ts';
import { eventually } from './eventually.ts';
import { says } from './upload-answers.ts';
import { download } from './uploads.ts';

const SECRET = 'a-secret-for-tests-0123456789-0123456789';
export const FILE = Buffer.from('the bytes of a file');

/** A server whose forms the test signs itself, with the server's own secret. */
export class UploadServer implements AsyncDisposable {
  readonly server: TestServer;
  /** The secret in use; a rotation changes it. */
  key: SigningKey;
  readonly #isEmbedded: boolean;
  #inserted: Promise<unknown> = Promise.resolve();

  private constructor(server: TestServer, key: SigningKey, isEmbedded: boolean) {
    this.server = server;
    this.key = key;
    this.#isEmbedded = isEmbedded;
  }

  static async start(options: TestServerOptions = {}): Promise<UploadServer> {
    const server = await startTestServer({ ...options, env: { RUNWIRE_SECRET: SECRET, ...options.env } });
    const started = new UploadServer(server, uploadKey(SECRET, 0), options.store !== 'postgres');
    await started.rotate();
    return started;
  }

  get environment(): Promise<Record<string, string>> {
    const { dataDir } = this.server;
    return storeEnvironment(dataDir).then((store) => ({ RUNWIRE_DATA_DIR: dataDir, RUNWIRE_SECRET: SECRET, ...store }));
  }

  async rotate(): Promise<void> {
    this.use(await rotateUploads(await this.environment));
  }

  /** Uses the new secret. Its number is in the command's output. */
  use(said: string): void {
    this.key = uploadKey(SECRET, Number(/number (\d+)/.exec(said)?.[1]));
  }

  url(integrationId = 'demo'): string {
    return `${this.server.url}/uploads/${integrationId}`;
  }

  fields(terms: Partial<FormTerms> = {}, key = this.key): Record<string, string> {
    const now = Date.now();
    const base = { bucket: 'demo', key: 'pictures/cat.png', contentType: 'image/png', sizeBytes: FILE.length };
    const all = { ...base, signedAt: now, expiresAt: now + 900_000, ...terms };
    this.#insertForm(all);
    return signForm(all, key);
  }

  /** As a signing does: a form without a row is closed. On PostgreSQL `post` waits for the row. */
  #insertForm({ bucket, key, expiresAt }: FormTerms): void {
    // PostgreSQL stores no such text, and no form with it is valid.
    if (key.includes('\0')) return;
    const columns = 'integration_id, form_id, path, content_type, size_bytes, signed_at, expires_at';
    const path = storedPath(key as MountPath).replaceAll("'", "''");
    const values = `'${bucket}', 'form_${randomUUID()}', '${path}', '', 0, ${Date.now()}, ${expiresAt}`;
    const insert = `insert into upload_forms (${columns}) values (${values})`;
    if (!this.#isEmbedded) {
      this.#inserted = Promise.all([this.#inserted, askStore(this.server.dataDir, insert)]);
      return;
    }
    const database = new DatabaseSync(join(this.server.dataDir, 'runwire.db'), { timeout: 5000 });
    database.exec(insert);
    database.close();
  }

  /** Returns the parts of a form whose policy also covers these fields. */
  covering(more: Readonly<Record<string, string>>, terms: Partial<FormTerms> = {}): FormPart[] {
    const fields = this.fields(terms);
    const { expiration, conditions } = JSON.parse(Buffer.from(fields.policy ?? '', 'base64').toString());
    const wider = {
      expiration,
      conditions: [...conditions, ...Object.entries(more).map(([name, text]) => ({ [name]: text }))],
    };
    const policy = Buffer.from(JSON.stringify(wider)).toString('base64');
    const { secretAccessKey, region } = this.key;
    const signature = computeSignature(policy, secretAccessKey, fields['x-amz-date'] ?? '', region);
    const all = { ...fields, ...more, policy, 'x-amz-signature': signature };
    return [...toParts(all), { name: 'file', filename: 'cat.png', value: FILE }];
  }

  /** The fields, followed by the file. */
  parts(terms: Partial<FormTerms> = {}, file: string | Buffer = FILE): FormPart[] {
    return [...toParts(this.fields(terms)), { name: 'file', filename: 'cat.png', value: file }];
  }

  async post(
    parts: readonly FormPart[],
    form: Omit<RawForm, 'parts'> = {},
    integrationId?: string,
  ): Promise<FormAnswer> {
    await this.#inserted;
    return postForm(this.url(integrationId), { ...form, parts });
  }

  /** Checks that an upload is refused and that nothing of it is stored: no file, no blob and no draft. */
  async refuses(status: number, code: string, ...upload: Parameters<UploadServer['post']>): Promise<FormAnswer> {
    const [before, paths] = [this.stored(), await this.paths()];
    const answer = await this.post(...upload);
    says(answer, status, code);
    await eventually('no draft is left', async () => JSON.stringify(this.stored()) === JSON.stringify(before));
    deepEqual(await this.paths(), paths);
    return answer;
  }

  /** Lists the blobs and drafts on the disk. */
  stored(): string[] {
    const blobs = join(this.server.dataDir, 'blobs');
    return readdirSync(blobs, { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile() && entry.name !== 'installation')
      .map((entry) => relative(blobs, join(entry.parentPath, entry.name)))
      .sort();
  }

  /** Lists the files of all integrations by their paths below the mount, also after the server has stopped. */
  async paths(): Promise<string[]> {
    const rows = await askStore(this.server.dataDir, 'select path from files where freed_at is null order by path');
    return rows.map(({ path }) => String(path).slice(1).replaceAll('\u0001', '/'));
  }

  /** `path` is below the mount. */
  async read(path: string): Promise<Buffer> {
    const answer = await download(this.server.api, `/app/mnt/${path}`);
    equal(answer.status, 200);
    return Buffer.from(await answer.bytes());
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.server[Symbol.asyncDispose]();
  }
}
