import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { type ErrorCode, errors } from '@runwire/contract';
import { errorXml, S3Error } from '../files/post-policy/s3-error.ts';
import type { Logger } from '../telemetry/logger.ts';
import { COMPLETION_PATH, getPath, isUpload } from './paths.ts';
import { type RequestIds, toTrace } from './request-id.ts';

/** Status line, code and sentence for what Node's parser reports; anything else is `NOT_HTTP`. */
const PROBLEMS: Readonly<Record<string, readonly [status: string, code: ErrorCode, sentence: string]>> = {
  HPE_HEADER_OVERFLOW: [
    '431 Request Header Fields Too Large',
    'invalid_request',
    "The request's headers are too large; send fewer or shorter ones.",
  ],
  ERR_HTTP_REQUEST_TIMEOUT: ['408 Request Timeout', 'request_timeout', errors.request_timeout.sentence],
  HPE_INVALID_EOF_STATE: [
    '400 Bad Request',
    'invalid_request',
    'The connection closed before the whole request arrived.',
  ],
};
const NOT_HTTP = [
  '400 Bad Request',
  'invalid_request',
  'The request is not valid HTTP; send well-formed HTTP/1.1.',
] as const;

/** Node's error for a request that arrives too slowly. */
const tooSlow = () =>
  Object.assign(new Error('The request arrives too slowly; send it again without pauses.'), {
    code: 'ERR_HTTP_REQUEST_TIMEOUT',
  });

/** Answers directly on the socket if a request is not HTTP, from its first byte or within its body, or is too slow. */
export class ClientErrors {
  /** The newest answer on each connection, until it ends. Its request contains the caller's key. */
  readonly #answers = new WeakMap<Socket, ServerResponse>();
  /** Connections on which the newest request was answered before its whole body arrived. */
  readonly #answeredEarly = new WeakSet<Socket>();
  readonly #requestIds: RequestIds;
  readonly #logger: Logger;

  constructor(requestIds: RequestIds, logger: Logger) {
    this.#requestIds = requestIds;
    this.#logger = logger;
  }

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

  /** For a request whose time is up: 408, or a plain close if an answer has begun. */
  expire(socket: Socket): void {
    this.handle(tooSlow(), socket);
  }

  handle(error: NodeJS.ErrnoException, socket: Socket): void {
    const answer = this.#answers.get(socket);
    if (answer === undefined && this.#answeredEarly.has(socket)) {
      socket.destroy();
      return;
    }
    if (answer?.req.complete === true && !answer.writableFinished && isUpload(answer.req.url)) {
      // The form was longer than its `Content-Length`. The bytes that follow are not a request, and the answer to the
      // form names the problem.
      socket.pause();
      answer.once('close', () => socket.destroySoon());
      return;
    }
    // The request broke off in the middle of its body, or bytes after a whole request are not HTTP.
    const broken = answer !== undefined && !answer.req.complete ? answer : null;
    // Nothing may be written into an answer that has begun, nor before an answer that will follow: a whole request may have
    // been admitted. A request with a broken body was not: a run is reserved after its body is read.
    const mayAnswer =
      broken === null ? (answer?.writableFinished ?? true) : !broken.headersSent && broken.socket !== null;
    if (socket.writable && mayAnswer) {
      const problem = error.code ?? '';
      const headers = broken?.req.headers ?? {};
      const id = this.#requestIds.of(headers);
      const [, code] = PROBLEMS[problem] ?? NOT_HTTP;
      this.#logger.debug({ ...toTrace({ id, headers, span: null }), code, problem }, 'refused');
      socket.write(bytes(problem, id, broken?.req.url ?? null));
    }
    socket.destroy();
  }
}

/** `url` is null if the request line was not read. */
function bytes(problem: string, requestId: string, url: string | null): string {
  const [status, code, sentence] = PROBLEMS[problem] ?? NOT_HTTP;
  const isForm = isUpload(url ?? undefined);
  const body = isForm
    ? errorXml(new S3Error('IncompleteBody'), requestId, requestId)
    : JSON.stringify({ error: sentence, code });
  return [
    `HTTP/1.1 ${status}`,
    ...(isForm
      ? ['content-type: application/xml', 'access-control-allow-origin: *']
      : ['content-type: application/json; charset=utf-8']),
    `x-request-id: ${requestId}`,
    'x-content-type-options: nosniff',
    // The request was not read to its end, so it reserved nothing.
    ...(url === null || getPath(url) === COMPLETION_PATH ? ['x-agent-run-admitted: false'] : []),
    `content-length: ${Buffer.byteLength(body)}`,
    'connection: close',
    '',
    body,
  ].join('\r\n');
}
