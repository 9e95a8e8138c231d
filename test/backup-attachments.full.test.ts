import assert from 'node:assert/strict';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { type ApiClient, FileServer, freshDatabase, imageAttachment, makePng, TEST_API_KEY } from '@runwire/test-kit';
import { fileAt } from './support/attachment-rig.ts';
import { CliServer, getFolder, runwire } from './support/cli-process.ts';
import { messagesFrame } from './support/scripted-server.ts';
import { missingService } from './support/services.ts';

const skip = (await missingService('postgres')) ?? false;

type Env = Readonly<Record<string, string>>;

async function done(args: readonly string[], env: Env): Promise<void> {
  const { code, stderr } = await runwire(args, { env });
  assert.equal(code, 0, stderr);
}

async function say(api: ApiClient, fields: Readonly<Record<string, unknown>>): Promise<void> {
  const reader = await api.complete(fields);
  assert.equal(reader.status, 200, reader.text);
  await reader.whole();
  assert.equal(messagesFrame(reader).status, 'completed', reader.text);
}

const messages = async (api: ApiClient, integration: string) =>
  (await api.get(`/v2/integrations/${integration}/chats/c/messages`)).body;

/** A backup of an installation with a chat of each kind, taken while its server runs. */
async function backedUp(t: TestContext, files: FileServer) {
  const env = { ...files.env, RUNWIRE_DATA_DIR: getFolder(t), RUNWIRE_API_KEY: TEST_API_KEY };
  const backup = join(getFolder(t), 'backup');
  const url = files.serve('/notes.txt', 'The harbour opens at six.', 'text/plain');
  await using server = await CliServer.start({ env });
  const api = server.api(TEST_API_KEY);
  const made = await api.post('/v2/integrations', { apiIntegrationId: 'forgetful', keepAttachments: false });
  assert.equal(made.status, 201);
  const attachments = [fileAt(`${url}?sig=1`, { filename: 'Notizen.txt' }), imageAttachment(makePng(500))];
  for (const apiIntegrationId of ['demo', 'forgetful']) await say(api, { apiIntegrationId, chatId: 'c', attachments });
  await done(['backup', '--to', backup], env);
  const seen = [await messages(api, 'demo'), await messages(api, 'forgetful')];
  return { env, backup, seen };
}

async function checkChatContinues(env: Env, files: FileServer, seen: readonly unknown[]): Promise<void> {
  await using server = await CliServer.start({ env });
  const api = server.api(TEST_API_KEY);
  assert.deepEqual([await messages(api, 'demo'), await messages(api, 'forgetful')], seen);
  const before = files.asked('/notes.txt').length;
  await say(api, { chatId: 'c', message: 'And?' });
  assert.equal(files.asked('/notes.txt').length, before, 'its copy came along');
  await say(api, { apiIntegrationId: 'forgetful', chatId: 'c', message: 'And?' });
  assert.deepEqual(files.asked('/notes.txt').at(-1)?.query, '?sig=1', 'by the link that came along');
  assert.equal(files.asked('/notes.txt').length, before + 1);
}

test('chats with attachments by URL continue after a restore, on either store', { skip }, async (t) => {
  await using files = await FileServer.start();
  const { env, backup, seen } = await backedUp(t, files);
  const embedded = { ...env, RUNWIRE_DATA_DIR: getFolder(t), DATABASE_URL: '' };
  await done(['restore', '--from', backup], embedded);
  await checkChatContinues(embedded, files, seen);
  await using database = await freshDatabase();
  const postgres = { ...env, RUNWIRE_DATA_DIR: getFolder(t), DATABASE_URL: database.url };
  await done(['restore', '--from', backup], postgres);
  await checkChatContinues(postgres, files, seen);
});
