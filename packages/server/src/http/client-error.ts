import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { errorXml, S3Error } from '../files/post-policy/s3-error.ts';
import { COMPLETION_PATH, isUpload, pathOf } from './paths.ts';

const SENTENCES: Readonly<Record<string, string>> = {
  HPE_HEADER_OVERFLOW: 'The request’s headers are too large.',
  ERR_HTTP_REQUEST_TIMEOUT: 'The request did not come whole in time.',
  HPE_INVALID_EOF_STATE: 'The request did not come whole.',
};

/** For what is not HTTP, from its first byte on or in the middle of a body: answered on the bare socket. */
export class ClientErrors {
  /** The newest on each connection, while it is under way: its request holds the caller's key. */
  readonly #answers = new WeakMap<Socket, ServerResponse>();
  /** Connections on which the newest request had its answer before its body came whole. */
  readonly #answeredEarly = new WeakSet<Socket>();

  watch(server: Server): void {
    server.on('request', ({ socket }: IncomingMessage, answer: ServerResponse) => {
      this.#answers.set(socket, answer);
      this.#answeredEarly.delete(socket);
      answer.once('close', () => {
        if (this.#answers.get(socket) !== answer) return;
        this.#answers.delete(socket);
        if (!answer.req.complete) this.#answeredEarly.add(socket);
      });
    });
  }

  handle(error: NodeJS.ErrnoException, socket: Socket, requestId: string): void {
    const answer = this.#answers.get(socket);
    if (answer === undefined && this.#answeredEarly.has(socket)) {
      socket.destroy();
      return;
    }
    if (answer?.req.complete === true && !answer.writableFinished && isUpload(answer.req.url)) {
      // A form that is longer than it said: what follows is no request, and the form's own answer says what is wrong.
      socket.pause();
      answer.once('close', () => socket.destroySoon());
      return;
    }
    // Broken in the middle of its body, or behind a whole request.
    const broken = answer !== undefined && !answer.req.complete ? answer : null;
    // Nothing may be written into an answer that is under way, nor before one that is still to come: a whole request may
    // have been admitted. One with a broken body was not: a run is reserved after its body is read.
    const mayAnswer =
      broken === null ? (answer?.writableFinished ?? true) : !broken.headersSent && broken.socket !== null;
    if (socket.writable && mayAnswer) socket.write(bytes(error.code ?? '', requestId, broken?.req.url ?? null));
    socket.destroy();
  }
}

/** `url`: null where not even that was read. */
function bytes(problem: string, requestId: string, url: string | null): string {
  const status = problem === 'HPE_HEADER_OVERFLOW' ? '431 Request Header Fields Too Large' : '400 Bad Request';
  const sentence = SENTENCES[problem] ?? 'The request is not valid HTTP.';
  const isForm = isUpload(url ?? undefined);
  const body = isForm
    ? errorXml(new S3Error('IncompleteBody'), requestId, requestId)
    : JSON.stringify({ error: sentence, code: 'invalid_request' });
  return [
    `HTTP/1.1 ${status}`,
    ...(isForm
      ? ['content-type: application/xml', 'access-control-allow-origin: *']
      : ['content-type: application/json; charset=utf-8']),
    `x-request-id: ${requestId}`,
    'x-content-type-options: nosniff',
    // Whatever it was, it was not read to its end, so it reserved nothing.
    ...(url === null || pathOf(url) === COMPLETION_PATH ? ['x-agent-run-admitted: false'] : []),
    `content-length: ${Buffer.byteLength(body)}`,
    'connection: close',
    '',
    body,
  ].join('\r\n');
}
