import { createHash } from 'node:crypto';
import {
  createServer,
  request as httpRequest,
  type IncomingMessage,
  type Server,
  type ServerResponse,
} from 'node:http';
import type { AddressInfo } from 'node:net';
import { CopyObjectCommand, type S3Client } from '@aws-sdk/client-s3';
import { type S3Access, s3Client } from './s3-gateway.ts';

const IN_XML = /(?<=<ETag>(?:&quot;|"))[0-9a-f]{32}(?=(?:&quot;|")<)/g;
const IN_HEADER = /[0-9a-f]{32}/g;

/**
 * A relay to an S3 that shows objects as Amazon does if the bucket encrypts with SSE-KMS: an etag has 32 hexadecimal digits and
 * is not the MD5, and a copy has another etag than its source.
 */
export class KmsRelay implements AsyncDisposable {
  readonly url: string;
  readonly #server: Server;
  readonly #target: string;
  readonly #client: S3Client;
  readonly #md5ByShown = new Map<string, string>();

  private constructor(server: Server, target: string, client: S3Client) {
    this.#server = server;
    this.#target = target;
    this.#client = client;
    this.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    server.on('request', (request, response) => {
      this.#answer(request, response).catch((error) => response.destroy(error));
    });
  }

  static async start(access: S3Access): Promise<KmsRelay> {
    const server = createServer();
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    return new KmsRelay(server, access.endpoint, await s3Client(access));
  }

  async #answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    if (request.headers['x-amz-copy-source'] !== undefined) return await this.#copy(request, response);
    const { method, url = '/', headers } = request;
    const { promise, resolve, reject } = Promise.withResolvers<IncomingMessage>();
    // The host stays as it is, because the signature covers it.
    request.pipe(httpRequest(new URL(url, this.#target), { method, headers }, resolve).on('error', reject));
    const answer = await promise;
    for (const [name, value = ''] of Object.entries(answer.headers)) {
      response.setHeader(name, name === 'etag' ? String(value).replace(IN_HEADER, this.#shown) : value);
    }
    response.statusCode = answer.statusCode ?? 500;
    if (answer.headers['content-type']?.includes('xml') !== true) return void answer.pipe(response);
    response.removeHeader('content-length');
    response.end(
      Buffer.concat(await answer.toArray())
        .toString()
        .replace(IN_XML, this.#shown),
    );
  }

  /** Sent with the real etag, so it is signed again. */
  async #copy({ url = '/', headers }: IncomingMessage, response: ServerResponse): Promise<void> {
    const [, Bucket = '', ...key] = decodeURIComponent(new URL(url, this.#target).pathname).split('/');
    const CopySourceIfMatch = String(headers['x-amz-copy-source-if-match']).replace(
      IN_HEADER,
      (shown) => this.#md5ByShown.get(shown) ?? shown,
    );
    const CopySource = String(headers['x-amz-copy-source']);
    const { CopyObjectResult: copied } = await this.#client.send(
      new CopyObjectCommand({ Bucket, Key: key.join('/'), CopySource, CopySourceIfMatch }),
    );
    const etag = this.#shown(
      createHash('md5')
        .update(copied?.ETag ?? '')
        .digest('hex'),
    );
    response.writeHead(200, { 'content-type': 'application/xml', 'x-amz-server-side-encryption': 'aws:kms' });
    const time = copied?.LastModified?.toISOString();
    response.end(`<CopyObjectResult><LastModified>${time}</LastModified><ETag>"${etag}"</ETag></CopyObjectResult>`);
  }

  #shown = (md5: string): string => {
    const shown = createHash('md5').update(`kms ${md5}`).digest('hex');
    this.#md5ByShown.set(shown, md5);
    return shown;
  };

  async [Symbol.asyncDispose](): Promise<void> {
    this.#client.destroy();
    this.#server.closeAllConnections();
    await new Promise((resolve) => this.#server.close(resolve));
  }
}
