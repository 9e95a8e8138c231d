import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { announce, readSettings } from '../server-process.ts';

/** Answers one message in a new chat. Calls `say` with each token. Resolves when the framework has stored the chat. */
export type PeerAnswer = (message: string, chatId: string, say: (token: string) => void) => Promise<void>;

/** What a peer gets: the base URL of the scripted provider, and a folder for its database. */
export interface PeerSettings {
  readonly providerUrl: string;
  readonly dataDir: string;
}

export function readPeerSettings(): PeerSettings {
  const { dataDir, providerPort } = readSettings();
  return { dataDir, providerUrl: `http://127.0.0.1:${providerPort}/v1` };
}

/**
 * Serves a framework with bare `node:http` and the floor's frames, so that the figures contain the cost of the
 * framework and no server of its own.
 */
export function serve(answer: PeerAnswer): void {
  let chats = 0;
  const server = createServer({ keepAliveTimeout: 75_000 }, async (request, response) => {
    const { message } = JSON.parse(await readText(request)) as { message: string };
    chats += 1;
    const chatId = `chat-${process.pid}-${chats}`;
    response.writeHead(200, { 'content-type': 'text/event-stream; charset=utf-8', 'x-chat-id': chatId });
    let id = 0;
    let frames = '';
    const flush = () => {
      if (frames === '') return;
      response.write(frames);
      frames = '';
    };
    await answer(message, chatId, (token) => {
      id += 1;
      if (frames === '') process.nextTick(flush);
      const data = { type: 'response.output_text.delta', item_id: chatId, delta: token, sequence_number: id };
      frames += `id: ${id}\ndata: ${JSON.stringify({ data: { type: 'raw_response_event', data } })}\n\n`;
    });
    flush();
    response.end(`id: ${id + 1}\nevent: end\ndata: [DONE]\n\n`);
  });
  server.listen({ host: '127.0.0.1', port: 0, backlog: 4096 }, () => {
    announce({ port: (server.address() as AddressInfo).port, apiKey: null });
  });
}

async function readText(request: IncomingMessage): Promise<string> {
  const parts: Buffer[] = [];
  for await (const part of request) parts.push(part as Buffer);
  return Buffer.concat(parts).toString('utf8');
}
