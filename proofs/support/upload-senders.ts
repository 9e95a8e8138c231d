import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { CURL } from '../../test/support/services.ts';
import type { Browser } from './browser.ts';
import type { SignedForm } from './signed-form.ts';

const run = promisify(execFile);

/** Sends a file by a form; resolves to the status, or null where the sender cannot tell. A refusal has come by then. */
export interface Sender {
  readonly name: string;
  send(form: SignedForm, bytes: Uint8Array, isRefused: boolean): Promise<number | null>;
}

const byCurl: Sender = {
  name: 'curl',
  async send({ uploadUrl, uploadFields }, bytes) {
    const folder = mkdtempSync(join(tmpdir(), 'runwire-curl-'));
    try {
      writeFileSync(join(folder, 'file'), bytes);
      const fields = Object.entries(uploadFields).flatMap(([name, value]) => ['--form-string', `${name}=${value}`]);
      const told = ['-sS', '-o', '/dev/null', '-w', '%{http_code}', '--max-time', '60'];
      const { stdout } = await run(CURL, [...told, ...fields, '-F', `file=@${join(folder, 'file')}`, uploadUrl]);
      return Number(stdout);
    } finally {
      rmSync(folder, { recursive: true, force: true });
    }
  },
};

const byFetch: Sender = {
  name: 'fetch',
  async send({ uploadUrl, uploadFields }, bytes) {
    const form = new FormData();
    for (const [name, value] of Object.entries(uploadFields)) form.append(name, value);
    form.append('file', new Blob([bytes as Uint8Array<ArrayBuffer>]));
    const answer = await fetch(uploadUrl, { method: 'POST', body: form });
    await answer.body?.cancel();
    return answer.status;
  },
};

/** Curl, Node, and a page of another origin in a real browser: by `fetch`, and by a form as HTML has it. */
export function senders(browser: Browser): Sender[] {
  return [
    byCurl,
    byFetch,
    { name: 'browser fetch', send: (form, bytes, refused) => browser.upload('fetch', form, bytes, refused) },
    { name: 'browser form', send: (form, bytes, refused) => browser.upload('form', form, bytes, refused) },
  ];
}
