import type { ApiClient } from '@runwire/test-kit';
import { type SignedForm, sendForm, signing, type UploadOptions } from '../../test/support/uploads.ts';
import { folderOf, nameOf } from './bad-paths.ts';
import { differences } from './database-dump.ts';
import { expectEqual, expectNumber, Shortfall } from './proof.ts';
import { storedState } from './stored-state.ts';

type Answer = Awaited<ReturnType<ApiClient['post']>>;

/** Asks a server for paths, and sees what it makes of them. */
export class PathChecks {
  readonly #api: ApiClient;
  readonly #dataDir: string;
  #chats = 0;
  /** As it was behind the last refusal; null: something was taken since. */
  #state: readonly string[] | null = null;

  constructor(api: ApiClient, dataDir: string) {
    this.#api = api;
    this.#dataDir = dataDir;
  }

  sign(fields: Readonly<Record<string, unknown>>): Promise<Answer> {
    return this.#api.post('/create_agency_upload', { ...signing(3), ...fields });
  }

  raw(body: Buffer): Promise<Response> {
    const headers = { ...this.#api.authorization, 'content-type': 'application/json' };
    return fetch(`${this.#api.url}/create_agency_upload`, { method: 'POST', headers, body: new Uint8Array(body) });
  }

  /** Whatever is asked is refused with 400, and every row and file is as it was. */
  async refused(what: string, ask: () => Promise<{ readonly status: number }>): Promise<void> {
    const before = this.#state ?? (await storedState(this.#dataDir));
    expectNumber(`status of ${what}`, (await ask()).status, 400);
    const after = await storedState(this.#dataDir);
    expectEqual(`stored for ${what}`, differences(before, after), []);
    this.#state = after;
  }

  /** A form that was signed brings a file that is listed and read under exactly this path. */
  async roundTrip(what: string, path: string, answer: Answer, integration = 'demo'): Promise<void> {
    expectNumber(`status of ${what}`, answer.status, 200);
    this.#state = null;
    const form = answer.body as SignedForm;
    expectEqual(`resource of ${what}`, form.resource, path);
    await this.send(what, form, 'abc');
    expectEqual(`listed for ${what}`, (await this.names(folderOf(path), integration)).includes(nameOf(path)), true);
    expectEqual(`bytes of ${what}`, await this.read(path, integration), 'abc');
  }

  async send(what: string, form: SignedForm, bytes: string): Promise<void> {
    expectNumber(`status of the upload of ${what}`, await sendForm(form, Buffer.from(bytes)), 204);
  }

  async upload(what: string, path: string, options: UploadOptions = {}): Promise<void> {
    const answer = await this.sign({ folder: folderOf(path), filename: nameOf(path), ...options });
    await this.roundTrip(what, path, answer, options.apiIntegrationId);
  }

  async names(folder: string, integration: string): Promise<string[]> {
    const query = new URLSearchParams({ folder, limit: '200' });
    const { status, body } = await this.#api.get(`/v2/integrations/${integration}/files?${query}`);
    expectNumber(`status of the list of ${folder}`, status, 200);
    return body.items.map(({ name }: { name: string }) => name);
  }

  async read(path: string, integration: string): Promise<string> {
    const query = new URLSearchParams({ path });
    const url = `${this.#api.url}/v2/integrations/${integration}/files/content?${query}`;
    return await (await fetch(url, { headers: this.#api.authorization })).text();
  }

  /** A completion that names something is refused before it reserves anything. */
  async completionRefused(what: string, fields: Readonly<Record<string, unknown>>): Promise<void> {
    await this.refused(what, async () => {
      const answer = await this.#api.post('/get_completion_v2', { apiIntegrationId: 'demo', message: 'Hi', ...fields });
      expectEqual(`X-Agent-Run-Admitted for ${what}`, answer.headers.get('x-agent-run-admitted'), 'false');
      return answer;
    });
  }

  /** A completion with a file is run, and its message shows name and path as they were given. */
  async completionTaken(what: string, file: { readonly name: string; readonly path: string }): Promise<void> {
    const sent = await this.#sent(what, { sandboxFiles: [file] });
    expectEqual(`sandbox files of ${what}`, sent.sandboxFiles, [file]);
  }

  /** A completion with an attachment is admitted, and its message shows the name as it was given. */
  async attachmentTaken(what: string, attachment: Readonly<Record<string, unknown>>): Promise<void> {
    const sent = await this.#sent(what, { attachments: [attachment] });
    expectEqual(`attachments of ${what}`, sent.attachments, [attachment]);
  }

  async isTaken(fields: Readonly<Record<string, unknown>>): Promise<boolean> {
    this.#state = null;
    const reader = await this.#api.complete(fields);
    if (reader.status === 200) await reader.whole();
    else await reader.over;
    return reader.status === 200;
  }

  async #sent(what: string, fields: Readonly<Record<string, unknown>>) {
    this.#chats += 1;
    this.#state = null;
    const chatId = `paths-${this.#chats}`;
    const reader = await this.#api.complete({ chatId, ...fields });
    expectNumber(`status of ${what}`, reader.status, 200);
    await reader.whole();
    const { body } = await this.#api.get(`/v2/integrations/demo/chats/${chatId}/messages`);
    const sent = body.items.find(({ role }: { role: string }) => role === 'user');
    if (sent === undefined) throw new Shortfall(`message of ${what}: expected one, found none.`);
    return sent;
  }
}
