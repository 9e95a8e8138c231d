import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { setTimeout as sleep } from 'node:timers/promises';
import {
  type FileServer,
  imageAttachment,
  type ModelCall,
  makePng,
  type Rig,
  type ServerProcess,
} from '@runwire/test-kit';
import { expectEqual, until, WAIT_MS, within } from '@runwire/test-kit/shortfall.ts';
import { sign, upload } from './uploads.ts';

const METERED = { unit: 'tokens', limit: 1_000_000_000, period: 'lifetime' };

/** A PNG whose bytes contain the text. */
export function pngWith(text: string): Buffer {
  const bytes = makePng(2000);
  bytes.write(text, 100);
  return bytes;
}

/** Answers every call with a text that names the person, in the way that the last message asks for. */
export function answerAbout(call: ModelCall): void {
  const said = call.request.prompt.flatMap((item) => (item.kind === 'user' ? [item.text] : []));
  const message = said.at(-1) ?? '';
  const [mark = ''] = /Plant\S*/.exec(message) ?? [];
  const hasOutput = call.request.prompt.some((item) => item.kind === 'tool_output');
  void (async () => {
    if (message.includes('fail')) return call.fail('model_error', `${mark} of the provider`);
    if (message.includes('command') && !hasOutput) {
      const command = `for n in $(seq 200); do echo '${mark} by a command' > f$n; done`;
      await call.toolCall('call_3', 'run_command', JSON.stringify({ command }));
      return call.end();
    }
    if (message.includes('tool') && !hasOutput) {
      await call.toolCall('call_1', 'echo', JSON.stringify({ note: `${mark} argument` }));
      return call.end();
    }
    if (message.includes('ask') && !hasOutput) {
      await call.toolCall('call_2', 'pick', JSON.stringify({ note: `${mark} question` }));
      return call.end();
    }
    await call.text(`${mark} answer ${'with many words '.repeat(message.includes('long') ? 4000 : 1)}`);
    if (!message.includes('hold')) await call.end();
  })().catch(() => {});
}

/** A person, with a text of their own in every field that a caller can set for a member. */
export class PlantedPerson {
  readonly #rig: Rig;
  readonly #files: FileServer;
  /** ASCII, and not. */
  readonly marks: readonly [string, string];
  readonly integration: string;
  readonly consumerId: string;
  #folder = '';

  constructor(rig: Rig, files: FileServer, number: number) {
    this.#rig = rig;
    this.#files = files;
    this.marks = [`PlantA${number}z`, `PlantÜñ漢${number}z`];
    this.integration = `erase-${number}`;
    this.consumerId = `${this.marks.join(' ')} 1`;
  }

  get #path(): string {
    return `/v2/integrations/${this.integration}`;
  }

  get #member(): string {
    return `${this.#path}/members/${encodeURIComponent(this.consumerId)}`;
  }

  text(what: string): string {
    return `${this.marks.join(' ')} ${what}`;
  }

  /** A request in a chat of its own; `more` tells requests in the same chat apart. */
  body(what: string, more = '') {
    return {
      apiIntegrationId: this.integration,
      consumerId: this.consumerId,
      usageRequestId: this.text(`request ${what}${more}`),
      chatId: this.text(`chat ${what}`),
      message: this.text(what),
      user_context: { note: this.text('context') },
    };
  }

  async #run(api: ServerProcess['api'], what: string, more: object = {}): Promise<void> {
    const reader = await api.complete({ ...this.body(what), ...more });
    await within('end of a run', WAIT_MS, reader.over);
    expectEqual(`status of a run (${what})`, reader.status, 200);
  }

  /** Ends a run with a question, and answers it if `what` wants it. */
  async #ask(api: ServerProcess['api'], what: string): Promise<void> {
    const tool = { name: 'pick', description: this.text('tool'), inputSchema: { type: 'object' } };
    await this.#run(api, what, { clientTools: [tool] });
    const { body } = await api.get(`${this.#path}/chats/${encodeURIComponent(this.text(`chat ${what}`))}`);
    expectEqual('open questions', body.pending.length, 1);
    if (!what.includes('answer')) return;
    const answers = [{ questionId: body.pending[0].questionId, output: this.text('output') }];
    await this.#run(api, what, { message: '', answers, usageRequestId: this.text('request of the answer') });
  }

  /** A file in the person's folder, as a request to sign a form names it. */
  file(filename: string) {
    return { apiIntegrationId: this.integration, folder: this.#folder, filename };
  }

  /** Makes the integration and the member. */
  async register({ api }: ServerProcess, more: object = {}): Promise<void> {
    const fields = { apiIntegrationId: this.integration, agency: 'test', allowances: METERED, clientTools: true };
    const integration = await api.post('/v2/integrations', { ...fields, ...more });
    expectEqual('status of the integration', integration.status, 201);
    const member = { name: this.text('name'), metadata: { note: this.text('metadata') } };
    const { status, body } = await api.put(this.#member, member);
    expectEqual('status of the member', status, 201);
    this.#folder = body.folder;
  }

  /** Starts a run, and resolves when it has ended in any way. */
  async start(api: ServerProcess['api'], what: string): Promise<void> {
    const reader = await api.complete(this.body(what));
    await reader.over.catch(() => {});
  }

  /** Registers the person and lets runs, chats, files and adjustments come about. Everything has ended then. */
  async live(server: ServerProcess): Promise<void> {
    const { api } = server;
    const expect = async (what: string, answer: ReturnType<typeof api.post>, status: number) => {
      const { status: found, body } = await answer;
      expectEqual(`status of ${what}`, found, status);
      return body;
    };
    await this.register(server);
    const file = { apiIntegrationId: this.integration, folder: `${this.#folder}/${this.text('folder')}` };
    const path = await upload(api, this.text('first content'), { ...file, filename: this.text('file.txt') });
    await upload(api, this.text('second content'), { ...file, filename: this.text('file.txt') });
    await sign(api, 10, { ...file, filename: this.text('never sent.txt'), contentType: 'text/x-planted' });
    const url = this.#files.serve(`/${this.marks[0]}.txt`, this.text('attached'), 'text/plain');
    await this.#run(api, 'tool', {
      aliasChatId: this.text('alias'),
      attachments: [
        { type: 'input_file', file_url: `${url}?note=${this.marks[0]}`, filename: this.text('attached.txt') },
        imageAttachment(pngWith(this.text('image'))),
      ],
      sandboxFiles: [{ name: this.text('file.txt'), path }],
    });
    await this.#run(api, 'long');
    await this.#run(api, 'fail');
    await this.#ask(api, 'ask and answer');
    await this.#ask(api, 'ask and leave open');
    await this.#run(api, 'deleted', { attachments: [imageAttachment(pngWith(this.text('deleted image')))] });
    const chat = (what: string) => `${this.#path}/chats/${encodeURIComponent(this.text(`chat ${what}`))}`;
    const title = { title: this.text('title'), metadata: { note: this.text('chat metadata') } };
    await expect('a title', api.patch(chat('tool'), title), 200);
    await expect('a deletion', api.delete(chat('deleted')), 204);
    const empty = { chatId: this.text('empty'), consumerId: this.consumerId };
    await expect('an empty chat', api.post(`${this.#path}/chats`, empty), 201);
    const adjustment = { amount: 7, unit: 'tokens', reason: this.text('reason'), idempotencyKey: this.text('key') };
    await expect('an adjustment', api.post(`${this.#member}/adjustments`, adjustment), 201);
  }

  /** Starts a run that waits in the middle of its answer, if `what` has the word `hold`. */
  async begin({ api }: ServerProcess, what = 'hold', isWithFile = false): Promise<void> {
    const url = this.#files.serve(`/${this.marks[0]}-late.txt`, this.text('attached late'), 'text/plain');
    const attachments = isWithFile ? [{ type: 'input_file', file_url: url, filename: 'late.txt' }] : [];
    const request = { ...this.body(what), ...(isWithFile ? { attachments } : {}) };
    let reader = await api.complete(request);
    // With their short leases, nodes on a busy machine lose their identity for a moment.
    for (let tries = 1; reader.status === 503 && tries < 20; tries += 1) {
      await sleep(500);
      reader = await api.complete(request);
    }
    expectEqual('status of the open run', reader.status, 200);
    const hasText = () => reader.text.includes(this.marks[0]) && reader.text.includes('answer');
    await until('first text of the open run', hasText);
    void reader.over;
  }

  /** Resolves to the status code, or to 0 if the server died before it answered. */
  async erase({ api }: ServerProcess): Promise<number> {
    return (await api.delete(`${this.#member}?erase=true`).catch(() => ({ status: 0 }))).status;
  }

  async isErased({ api }: ServerProcess): Promise<boolean> {
    return (await api.get(`${this.#member}/erasure`).catch(() => null))?.body.status === 'erased';
  }

  /** The ended runs' usage, by run. */
  async usage({ api }: ServerProcess): Promise<Record<string, unknown>> {
    const { items } = (await api.get(`${this.#path}/usage?limit=200`)).body;
    const ended = (items as Record<string, unknown>[]).filter(
      ({ kind, status }) => kind === 'run' && status !== 'running',
    );
    return Object.fromEntries(ended.map(({ runId, usage, charged }) => [String(runId), { usage, charged }]));
  }

  /** Runs one query on the servers' database. */
  async #query(text: string): Promise<Record<string, unknown>[]> {
    if (this.#rig.isEmbedded) {
      const database = new DatabaseSync(join(this.#rig.dataDir, 'runwire.db'), { readOnly: true });
      try {
        return database.prepare(text).all();
      } finally {
        database.close();
      }
    }
    return this.#rig.query(text);
  }

  /** Checks that the sums by day are those of the runs and adjustments. */
  async checkSums(): Promise<void> {
    const where = `where integration_id = '${this.integration}'`;
    const [found] = await this.#query(`select
      cast((select sum(tokens) from usage_days ${where}) as integer) as days,
      cast((select sum(charged_tokens) from runs ${where}) as integer) as charged,
      cast((select sum(cast(applied_json as integer)) from adjustments ${where}) as integer) as applied,
      cast((select count(*) from usage_days ${where} and consumer_id not like 'erased~_%' escape '~') as integer) as named`);
    const { days, charged, applied, named } = found as Record<string, number>;
    expectEqual('tokens of the days', days, Number(charged) - Number(applied));
    expectEqual('adjusted tokens', applied, 7);
    expectEqual('days under the id of the person', named, 0);
  }

  /** Returns the places that contain a text of the person: bytes of the data folder, and rows. */
  async places(): Promise<string[]> {
    const texts = [...this.marks, encodeURIComponent(this.marks[1]), this.integration === '' ? '' : this.#folder];
    const needles = texts.filter((text) => text !== '');
    const { dataDir } = this.#rig;
    const places: string[] = [];
    for (const entry of readdirSync(dataDir, { recursive: true, withFileTypes: true })) {
      if (!entry.isFile()) continue;
      const bytes = readFileSync(join(entry.parentPath, entry.name));
      const found = needles.filter((text) => entry.name.includes(text) || bytes.includes(text));
      places.push(...found.map((text) => `${entry.name}: ${text}`));
    }
    if (this.#rig.isEmbedded) return places;
    for (const { name } of await this.#query("select tablename as name from pg_tables where schemaname = 'public'")) {
      for (const { row } of await this.#query(`select t::text as row from ${name} t`)) {
        places.push(...needles.filter((text) => String(row).includes(text)).map((text) => `table ${name}: ${text}`));
      }
    }
    return places;
  }
}
