import type { IncomingHttpHeaders, ServerResponse } from 'node:http';
import { HttpCall } from './http-call.ts';

/** A request as it arrived. */
export interface FileRequest {
  readonly method: string;
  readonly path: string;
  /** With its question mark; empty if there is none. */
  readonly query: string;
  readonly headers: IncomingHttpHeaders;
}

/** A request for a file. */
export class FileCall extends HttpCall {
  readonly request: FileRequest;

  constructor(request: FileRequest, response: ServerResponse) {
    super(response);
    this.request = request;
  }

  /** The connection breaks. */
  cut(): void {
    this.response.socket?.destroy();
  }

  answer(status: number, body: Uint8Array | string, headers: Readonly<Record<string, string>> = {}): void {
    this.response.writeHead(status, { 'content-length': String(Buffer.byteLength(body)), ...headers });
    this.response.end(body);
  }
}

export type FileAnswer = (call: FileCall) => void | Promise<void>;
