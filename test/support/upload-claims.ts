import { equal, match, ok, rejects } from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { imageAttachment, makePng, type ServerProcess } from '@runwire/test-kit';
import { download, sendForm, sign, type UploadOptions, upload } from './uploads.ts';

export type UploadClaim = (server: ServerProcess, integration: string) => Promise<void>;

const listFiles = (integration: string, query: Record<string, string>) =>
  `/v2/integrations/${integration}/files?${new URLSearchParams(query)}`;

const put = (
  { api }: ServerProcess,
  apiIntegrationId: string,
  bytes: Uint8Array | string,
  options: UploadOptions = {},
) => upload(api, bytes, { apiIntegrationId, ...options });

/** What a caller sees of files, wherever they are kept; each with an integration of its own. */
export const UPLOAD_CLAIMS: Readonly<Record<string, UploadClaim>> = {
  'a file that was signed for and sent is read back, whole and in part': async (server, integration) => {
    const bytes = randomBytes(3_000_000);
    const path = await put(server, integration, bytes, { filename: 'é 1+2.bin', contentType: 'image/png' });
    const whole = await download(server.api, path, integration);
    equal(whole.headers.get('content-type'), 'image/png');
    ok(Buffer.from(await whole.arrayBuffer()).equals(bytes));
    const part = await download(server.api, path, integration, { Range: 'bytes=1000-2000999' });
    equal(part.status, 206);
    ok(Buffer.from(await part.arrayBuffer()).equals(bytes.subarray(1000, 2_001_000)));
    const again = await download(server.api, path, integration, { 'If-None-Match': whole.headers.get('etag') ?? '' });
    equal(again.status, 304);
  },
  '20 971 520 bytes arrive whole, and one more byte does not': async (server, integration) => {
    const bytes = randomBytes(20_971_520);
    const form = await sign(server.api, bytes.length, { apiIntegrationId: integration });
    ok((await sendForm(form, Buffer.concat([bytes, Buffer.from('x')]))) >= 400);
    equal((await server.api.get(listFiles(integration, {}))).body.items.length, 0);
    equal(await sendForm(form, bytes), 204);
    ok(Buffer.from(await (await download(server.api, form.resource, integration)).arrayBuffer()).equals(bytes));
  },
  'a form for another key, type or size is refused, and nothing is stored': async (server, integration) => {
    const form = await sign(server.api, 5, { apiIntegrationId: integration });
    const changed = [{ key: `${form.uploadFields.key}2` }, { 'Content-Type': 'text/html' }];
    for (const fields of changed) {
      const other = { ...form, uploadFields: { ...form.uploadFields, ...fields } };
      equal(await sendForm(other, Buffer.from('hello')), 403);
    }
    for (const text of ['hell', 'hello!']) equal(await sendForm(form, Buffer.from(text)), 400);
    equal((await server.api.get(listFiles(integration, {}))).body.items.length, 0);
  },
  'a later upload of the same name replaces the file': async (server, integration) => {
    const path = await put(server, integration, 'before');
    await put(server, integration, 'after it');
    equal(await (await download(server.api, path, integration)).text(), 'after it');
    const { items } = (await server.api.get(listFiles(integration, { folder: '/app/mnt/u' }))).body;
    equal(items.length, 1);
    equal(items[0].size, 8);
  },
  'a file and a folder of one name are refused at signing': async (server, integration) => {
    await put(server, integration, 'x', { folder: '/app/mnt/a/b', filename: 'c' });
    for (const names of [
      { folder: '/app/mnt/a', filename: 'b' },
      { folder: '/app/mnt/a/b/c', filename: 'd' },
    ]) {
      const signed = sign(server.api, 1, { apiIntegrationId: integration, ...names });
      await rejects(signed, /^Error: Not signed: 409 .*"file_exists_as_folder"/);
    }
  },
  'files are listed by name with size, etag, type and time, page by page': async (server, integration) => {
    for (const filename of ['b', 'a', 'c']) await put(server, integration, filename, { filename });
    const names: string[] = [];
    for (let cursor: string | null = ''; cursor !== null; ) {
      const query = { folder: '/app/mnt/u', limit: '2', ...(cursor === '' ? {} : { cursor }) };
      const { body } = await server.api.get(listFiles(integration, query));
      for (const { name, size, etag, contentType, modifiedAt } of body.items) {
        names.push(name);
        match(`${size} ${etag} ${contentType} ${modifiedAt}`, /^1 "[0-9a-f]{32}" text\/plain \d{4}-\d\d-\d\dT/);
      }
      cursor = body.nextCursor;
    }
    equal(names.join(), 'a,b,c');
  },
  'a deleted file is gone, and a deleted folder with all that is below': async (server, integration) => {
    const path = await put(server, integration, 'x');
    for (const filename of ['1', '2']) await put(server, integration, 'x', { folder: '/app/mnt/f/g', filename });
    equal((await server.api.delete(listFiles(integration, { path }))).status, 204);
    equal((await download(server.api, path, integration)).status, 404);
    equal((await server.api.delete(listFiles(integration, { path: '/app/mnt/f', recursive: 'true' }))).status, 204);
    equal((await server.api.get(listFiles(integration, {}))).body.items.length, 0);
  },
  'no integration sees files of another': async (server, integration) => {
    const path = await put(server, integration, 'mine');
    equal((await download(server.api, path, 'demo')).status, 404);
    equal((await server.api.get(listFiles('demo', {}))).body.items.length, 0);
  },
  'an image is stored once, and is there in later turns': async (server, apiIntegrationId) => {
    const attachments = [imageAttachment(makePng(100_000, 7))];
    for (const message of ['One', 'Two']) {
      const reader = await server.api.complete({ apiIntegrationId, chatId: 'c', message, attachments });
      await reader.whole();
      match(reader.answer, new RegExp(`You said: ${message}`));
    }
  },
};
