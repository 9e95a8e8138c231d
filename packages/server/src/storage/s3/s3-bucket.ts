import { Readable } from 'node:stream';
import type { ListMultipartUploadsOutput, MultipartUpload, S3Client } from '@aws-sdk/client-s3';
import type { ByteRange } from '../blob-store.ts';
import { asUnavailable, getStatus, isMissing, type S3Location } from './s3-errors.ts';

type Sdk = typeof import('@aws-sdk/client-s3');

/** The time limits for S3. The SDK repeats a failed request within `s3RequestMs`. */
export interface S3Times {
  readonly s3ConnectMs: number;
  /** The longest time without a byte in either direction. */
  readonly s3SilenceMs: number;
  /** One request's time limit with all its attempts. */
  readonly s3RequestMs: number;
  /** The time limit of a request with a whole file. */
  readonly s3TransferMs: number;
}

const ATTEMPTS = 3;
/**
 * The SDK's default, 50, is too low for a page of files that are looked up one by one. Further requests wait for a
 * connection.
 */
const SOCKETS = 200;

export interface S3Object {
  readonly key: string;
  readonly size: number;
  /** Includes the quotes. */
  readonly etag: string;
  readonly modifiedAt: number;
}

export interface TypedObject extends S3Object {
  readonly contentType: string;
}

export interface CopiedObject {
  /** Includes the quotes, or not. */
  readonly etag: string;
  /** True if S3 encrypted the copy with a key of KMS or of the caller. The etag is then no MD5 of the bytes. */
  readonly hidesMd5: boolean;
}

export interface StreamedObject {
  readonly object: TypedObject;
  readonly body: Readable;
}

export interface S3Page {
  /** In the order of the UTF-8 bytes of the keys. */
  readonly objects: readonly S3Object[];
  /** The prefixes up to and including the next `/`, if they were requested. */
  readonly folders: readonly string[];
  /** The token for the next page. Null if this is the last page. */
  readonly next: string | null;
}

export interface ListQuery {
  readonly prefix: string;
  readonly delimiter?: '/';
  /** Only keys after this one. */
  readonly after?: string;
  readonly next?: string;
  readonly limit?: number;
}

export interface PutBody {
  /** Called once per attempt. */
  readonly bytes: () => Uint8Array | Readable;
  readonly length: number;
  readonly contentType: string;
  /** In base64. S3 refuses other bytes. Without it the signature covers the bytes. */
  readonly md5?: string;
}

/** One bucket, through the AWS SDK. Errors of the SDK are converted here. */
export class S3Bucket implements Disposable {
  readonly location: S3Location;
  readonly #sdk: Sdk;
  readonly #client: S3Client;
  readonly #times: S3Times;

  private constructor(location: S3Location, sdk: Sdk, client: S3Client, times: S3Times) {
    this.location = location;
    this.#sdk = sdk;
    this.#client = client;
    this.#times = times;
  }

  /** Loads the SDK and sends no request. */
  static async of(location: S3Location, times: S3Times): Promise<S3Bucket> {
    // Imported here, because servers that store files on disk do not need it.
    const sdk = await import('@aws-sdk/client-s3');
    const client = new sdk.S3Client({
      region: location.region,
      ...(location.endpoint === null ? {} : { endpoint: location.endpoint, forcePathStyle: true }),
      // AWS_ENDPOINT_URL and profiles are ignored, because forms are signed only for S3_ENDPOINT or AWS.
      ignoreConfiguredEndpointUrls: true,
      maxAttempts: ATTEMPTS,
      // Other S3 implementations do not support the newer checksums, or not in streams.
      requestChecksumCalculation: 'WHEN_REQUIRED',
      responseChecksumValidation: 'WHEN_REQUIRED',
      requestHandler: {
        connectionTimeout: times.s3ConnectMs,
        socketTimeout: times.s3SilenceMs,
        httpAgent: { keepAlive: true, maxSockets: SOCKETS },
        httpsAgent: { keepAlive: true, maxSockets: SOCKETS },
      },
    });
    return new S3Bucket(location, sdk, client, times);
  }

  /** The credentials that sign forms. Temporary ones stay valid for a while. */
  async credentials(): Promise<{ accessKeyId: string; secretAccessKey: string; sessionToken: string | null }> {
    try {
      const { accessKeyId, secretAccessKey, sessionToken } = await this.#client.config.credentials();
      return { accessKeyId, secretAccessKey, sessionToken: sessionToken ?? null };
    } catch (error) {
      throw asUnavailable(error);
    }
  }

  /** Stores an object completely or not at all. Resolves to its etag when it is durable. */
  async put(key: string, { bytes, length, contentType, md5 }: PutBody): Promise<string> {
    const abortSignal = AbortSignal.timeout(this.#times.s3TransferMs);
    for (let attempt = 1; ; attempt += 1) {
      const body = bytes();
      const input = { Body: body, ContentLength: length, ContentType: contentType, ContentMD5: md5 };
      try {
        const command = new this.#sdk.PutObjectCommand({ Bucket: this.location.bucket, Key: key, ...input });
        return (await this.#client.send(command, { abortSignal })).ETag ?? '';
      } catch (error) {
        const again = asUnavailable(error);
        // The stream is consumed, so the SDK cannot send it again.
        if (again === error || body instanceof Uint8Array || attempt === ATTEMPTS || abortSignal.aborted) throw again;
      } finally {
        if (!(body instanceof Uint8Array)) body.destroy();
      }
    }
  }

  /** Resolves to null if the object does not exist. */
  async head(key: string): Promise<TypedObject | null> {
    const command = new this.#sdk.HeadObjectCommand({ Bucket: this.location.bucket, Key: key });
    const found = await this.#unlessMissing(this.#client.send(command, this.#within()));
    return found === null ? null : toObject(key, found, found.ContentLength ?? 0);
  }

  /** Reads the whole object into memory. Resolves to null if it does not exist. */
  async get(key: string): Promise<Uint8Array | null> {
    const found = await this.stream(key);
    return found === null ? null : await buffered(found.body);
  }

  /**
   * Streams the object. A range that begins after the end has no bytes. Resolves to null if the object does not exist
   * or has another etag. The caller must read or destroy the stream.
   */
  async stream(
    key: string,
    range: ByteRange | null = null,
    etag: string | null = null,
  ): Promise<StreamedObject | null> {
    const command = new this.#sdk.GetObjectCommand({
      Bucket: this.location.bucket,
      Key: key,
      ...(range === null ? {} : { Range: `bytes=${range.first}-${range.last}` }),
      ...(etag === null ? {} : { IfMatch: etag }),
    });
    const late = new AbortController();
    // The limit applies until S3 answers. The body can be long and its reader slow.
    const timer = setTimeout(() => late.abort(), this.#times.s3RequestMs);
    try {
      const found = await this.#client.send(command, { abortSignal: late.signal });
      const size = Number(/\/(\d+)$/.exec(found.ContentRange ?? '')?.[1] ?? found.ContentLength ?? 0);
      const body = (found.Body as Readable | undefined) ?? Readable.from([]);
      // An error before the stream is read is reported to the later reader.
      body.on('error', () => {});
      return { object: toObject(key, found, size), body };
    } catch (error) {
      if (isMissing(error) || getStatus(error) === 412) return null;
      if (getStatus(error) !== 416) throw asUnavailable(error);
      const object = await this.head(key);
      return object === null ? null : { object, body: Readable.from([]) };
    } finally {
      clearTimeout(timer);
    }
  }

  /** Copies an object within the bucket. Resolves to null if it does not exist or has another etag. */
  async copy(from: string, to: string, etag: string): Promise<CopiedObject | null> {
    const { bucket } = this.location;
    const command = new this.#sdk.CopyObjectCommand({
      Bucket: bucket,
      Key: to,
      CopySource: `${bucket}/${encodeURIComponent(from)}`,
      CopySourceIfMatch: etag,
    });
    try {
      const copied = await this.#client.send(command, this.#within(this.#times.s3TransferMs));
      const { CopyObjectResult: result, ServerSideEncryption: encryption = 'AES256' } = copied;
      return { etag: result?.ETag ?? '', hidesMd5: encryption !== 'AES256' };
    } catch (error) {
      if (isMissing(error) || getStatus(error) === 412) return null;
      throw asUnavailable(error);
    }
  }

  /** Idempotent. */
  async delete(key: string): Promise<void> {
    const command = new this.#sdk.DeleteObjectCommand({ Bucket: this.location.bucket, Key: key });
    await this.#unlessMissing(this.#client.send(command, this.#within()));
  }

  async list({ prefix, delimiter, after, next, limit }: ListQuery): Promise<S3Page> {
    const command = new this.#sdk.ListObjectsV2Command({
      Bucket: this.location.bucket,
      Prefix: prefix,
      Delimiter: delimiter,
      StartAfter: after,
      ContinuationToken: next,
      MaxKeys: limit,
      // XML cannot represent every name.
      EncodingType: 'url',
    });
    const found = await this.#asked(this.#client.send(command, this.#within()));
    return {
      objects: (found.Contents ?? []).map((object) => ({
        key: decoded(object.Key),
        size: object.Size ?? 0,
        etag: object.ETag ?? '',
        // Some implementations return milliseconds here, but all headers have only seconds.
        modifiedAt: Math.floor((object.LastModified?.getTime() ?? 0) / 1000) * 1000,
      })),
      folders: (found.CommonPrefixes ?? []).map(({ Prefix: folder }) => decoded(folder)),
      next: found.IsTruncated === true ? (found.NextContinuationToken ?? null) : null,
    };
  }

  /** Yields all objects below a prefix, page by page. */
  async *pages(prefix: string): AsyncGenerator<readonly S3Object[]> {
    for (let next: string | null | undefined; next !== null; ) {
      const page: S3Page = await this.list({ prefix, ...(next === undefined ? {} : { next }) });
      yield page.objects;
      ({ next } = page);
    }
  }

  /** Aborts multipart uploads that were not finished since `until`. Resolves to their number. */
  async dropUnfinished(prefix: string, until: number): Promise<number> {
    const Bucket = this.location.bucket;
    let count = 0;
    for await (const { Key, UploadId, Initiated } of this.#unfinished(prefix)) {
      if (Initiated === undefined || Initiated.getTime() > until) continue;
      const command = new this.#sdk.AbortMultipartUploadCommand({ Bucket, Key, UploadId });
      await this.#unlessMissing(this.#client.send(command, this.#within()));
      count += 1;
    }
    return count;
  }

  async *#unfinished(prefix: string): AsyncGenerator<MultipartUpload> {
    let at: { readonly KeyMarker?: string; readonly UploadIdMarker?: string } | null = {};
    while (at !== null) {
      const command = new this.#sdk.ListMultipartUploadsCommand({
        Bucket: this.location.bucket,
        Prefix: prefix,
        ...at,
      });
      const found: ListMultipartUploadsOutput = await this.#asked(this.#client.send(command, this.#within()));
      yield* found.Uploads ?? [];
      const { NextKeyMarker: KeyMarker, NextUploadIdMarker: UploadIdMarker } = found;
      at =
        found.IsTruncated === true && KeyMarker !== undefined && UploadIdMarker !== undefined
          ? { KeyMarker, UploadIdMarker }
          : null;
    }
  }

  #within(ms = this.#times.s3RequestMs) {
    return { abortSignal: AbortSignal.timeout(ms) };
  }

  async #asked<T>(answer: Promise<T>): Promise<T> {
    try {
      return await answer;
    } catch (error) {
      throw asUnavailable(error);
    }
  }

  async #unlessMissing<T>(answer: Promise<T>): Promise<T | null> {
    try {
      return await answer;
    } catch (error) {
      if (isMissing(error)) return null;
      throw asUnavailable(error);
    }
  }

  [Symbol.dispose](): void {
    this.#client.destroy();
  }
}

async function buffered(body: Readable): Promise<Uint8Array> {
  try {
    const pieces: Uint8Array[] = await body.toArray();
    return Buffer.concat(pieces);
  } catch (error) {
    throw asUnavailable(error);
  }
}

/** In a listing a space is written as `+` and a plus as `%2B`. */
const decoded = (text: string | undefined): string => decodeURIComponent((text ?? '').replaceAll('+', '%20'));

interface ObjectHeaders {
  readonly ETag?: string | undefined;
  readonly ContentType?: string | undefined;
  readonly LastModified?: Date | undefined;
}

function toObject(key: string, { ETag, ContentType, LastModified }: ObjectHeaders, size: number): TypedObject {
  const modifiedAt = LastModified?.getTime() ?? 0;
  return { key, size, etag: ETag ?? '', contentType: ContentType ?? 'application/octet-stream', modifiedAt };
}
