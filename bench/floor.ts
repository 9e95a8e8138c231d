import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import type { PromptItem } from '../packages/server/src/agent/ports.ts';
import { bareProvider } from './floor-provider.ts';
import { benchModel, NOTE } from './model.ts';
import { announce, readSettings } from './server-process.ts';

/*
 * The floors: the cost of a server that does nothing else. Bare `node:http`, without key, body check, member, allowance,
 * log or replay. They send one frame per token with the shape and size of ours, and all frames of one turn in one write.
 * They call the benchmark's tool, and send one frame for the call and one for its output.
 *
 * The storing floor stores the chat (its row, the question, the answer) before it sends `end`. The durable floor stores
 * what a restart needs: the chat, the question and a run before its first byte, the answer and the end of the run before
 * `end`. Both use SQLite in WAL mode, and each commit is synced. All writes of one turn of the event loop share a commit.
 */

const { dataDir, providerPort, isDurable } = readSettings();
const model = providerPort === null ? benchModel : bareProvider(providerPort);
const database = new DatabaseSync(join(dataDir, 'floor.db'));
database.exec(`pragma journal_mode = wal; pragma synchronous = full;
  create table chats (chat_id text primary key, created_at integer not null);
  create table messages (chat_id text not null, position integer not null, role text not null, content text not null,
    created_at integer not null, primary key (chat_id, position));
  create table runs (chat_id text primary key, status text not null, started_at integer not null, ended_at integer);`);
const begin = database.prepare('begin immediate');
const commit = database.prepare('commit');
const insertChat = database.prepare('insert into chats values (?, ?)');
const insertMessage = database.prepare('insert into messages values (?, ?, ?, ?, ?)');
const insertRun = database.prepare("insert into runs values (?, 'running', ?, null)");
const endRun = database.prepare("update runs set status = 'ended', ended_at = ? where chat_id = ?");

interface Write {
  readonly write: (now: number) => void;
  readonly stored: () => void;
}

let waiting: Write[] = [];

/** Resolves when `write` is synced to the disk. */
function store(write: Write['write']): Promise<void> {
  return new Promise((stored) => {
    waiting.push({ write, stored });
    if (waiting.length === 1) setImmediate(commitWaiting);
  });
}

function commitWaiting(): void {
  const batch = waiting;
  waiting = [];
  const now = Date.now();
  begin.run();
  for (const { write } of batch) write(now);
  commit.run();
  for (const { stored } of batch) stored();
}

const boot = Date.now().toString(36).padStart(10, '0');
let chats = 0;

async function answer(question: string, response: ServerResponse): Promise<void> {
  chats += 1;
  const chatId = `chat_${boot}${chats.toString(36).padStart(16, '0')}`;
  const storeQuestion = (now: number) => {
    insertChat.run(chatId, now);
    insertMessage.run(chatId, 1, 'user', question, now);
  };
  if (isDurable) {
    await store((now) => {
      storeQuestion(now);
      insertRun.run(chatId, now);
    });
  }
  response.writeHead(200, { 'content-type': 'text/event-stream; charset=utf-8', 'x-chat-id': chatId });
  const head =
    '\ndata: {"data":{"type":"raw_response_event","agent":"Concierge","callerAgent":null,"data":{"type":' +
    `"response.output_text.delta","item_id":"msg_${chatId.slice(5)}","output_index":0,"content_index":0,"delta":`;
  let id = 0;
  let answer = '';
  let frames = '';
  const write = () => {
    response.write(frames);
    frames = '';
  };
  const text = (token: string) => {
    id += 1;
    answer += token;
    if (frames === '') process.nextTick(write);
    frames += `id: ${id}${head}${JSON.stringify(token)},"sequence_number":${id}}}}\n\n`;
  };
  const request = {
    runId: chatId,
    step: 1,
    attempt: 1,
    instructions: '',
    prompt: [{ kind: 'user', text: question }] as PromptItem[],
    tools: [],
  };
  const never = () => {};
  let isCalling = false;
  const toolCall = (callId: string, name: string, given: string) => {
    isCalling = true;
    for (const item of [
      { kind: 'tool_call' as const, callId, name, arguments: given },
      { kind: 'tool_output' as const, callId, output: JSON.parse(given).text === '' ? '' : NOTE.output },
    ]) {
      id += 1;
      if (frames === '') process.nextTick(write);
      frames += `id: ${id}\ndata: ${JSON.stringify({ data: { type: 'run_item_stream_event', item } })}\n\n`;
      request.prompt.push(item);
    }
  };
  const output = {
    text,
    reasoning: never,
    toolCall,
    argumentsPiece: never,
    replay: never,
    inputUsage: never,
    begun: never,
    usage: never,
    isFull: false,
    onceRoom: never,
  };
  do {
    isCalling = false;
    await model.call(request, output, new AbortController().signal);
  } while (isCalling);
  await store((now) => {
    if (!isDurable) storeQuestion(now);
    insertMessage.run(chatId, 2, 'assistant', answer, now);
    if (isDurable) endRun.run(now, chatId);
  });
  response.end(`id: ${id + 1}\nevent: end\ndata: [DONE]\n\n`);
}

function readBody(request: IncomingMessage, then: (body: { message: string }) => void): void {
  const parts: Buffer[] = [];
  request.on('data', (part: Buffer) => parts.push(part));
  request.on('end', () => then(JSON.parse(Buffer.concat(parts).toString('utf8'))));
}

const server = createServer({ keepAliveTimeout: 75_000 }, (request, response) => {
  readBody(request, (body) => void answer(body.message, response));
});
server.listen({ host: '127.0.0.1', port: 0, backlog: 4096 }, () => {
  announce({ port: (server.address() as AddressInfo).port, apiKey: null });
});
