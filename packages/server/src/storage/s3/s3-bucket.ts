import { Readable } from 'node:stream';
import type { ListMultipartUploadsOutput, MultipartUpload, S3Client } from '@aws-sdk/client-s3';
import type { ByteRange } from '../blob-store.ts';
import { isMissing, notNow, type S3Place, statusOf } from './s3-errors.ts';

type Sdk = typeof import('@aws-sdk/client-s3');

/** Nothing waits longer on S3 than these allow; the SDK tries a failed request again within `s3RequestMs`. */
export interface S3Times {
  readonly s3ConnectMs: number;
  /** Without a byte in either direction. */
  readonly s3SilenceMs: number;
  /** Of one request with all its attempts. */
  readonly s3RequestMs: number;
  /** Of one that carries a whole file. */
  readonly s3TransferMs: number;
}

const ATTEMPTS = 3;
/** More wait for a connection; the SDK's own 50 are too few for a page of files that are looked at one by one. */
const SOCKETS = 200;

export interface S3Object {
  readonly key: string;
  readonly size: number;
  /** With its quotes. */
  readonly etag: string;
  readonly modifiedAt: number;
}

export interface TypedObject extends S3Object {
  readonly contentType: string;
}

export interface StreamedObject {
  readonly object: TypedObject;
  readonly body: Readable;
}

export interface S3Page {
  /** In the order of the UTF-8 bytes of their keys. */
  readonly objects: readonly S3Object[];
  /** What stands before the next `/`, with it, where one is asked for. */
  readonly folders: readonly string[];
  /** Where the next page goes on; null: this is the last. */
  readonly next: string | null;
}

export interface ListQuery {
  readonly prefix: string;
  readonly delimiter?: '/';
  /** Keys behind this one. */
  readonly after?: string;
  readonly next?: string;
  readonly limit?: number;
}

export interface PutBody {
  /** Asked for once an attempt. */
  readonly bytes: () => Uint8Array | Readable;
  readonly length: number;
  readonly contentType: string;
  /** In base64: S3 refuses other bytes. Without it the signature covers them. */
  readonly md5?: string;
}

/** One bucket, asked through the AWS SDK; what it throws dies here. */
export class S3Bucket implements Disposable {
  readonly place: S3Place;
  readonly #sdk: Sdk;
  readonly #client: S3Client;
  readonly #times: S3Times;

  private constructor(place: S3Place, sdk: Sdk, client: S3Client, times: S3Times) {
    this.place = place;
    this.#sdk = sdk;
    this.#client = client;
    this.#times = times;
  }

  /** Loads the SDK, and asks nobody yet. */
  static async of(place: S3Place, times: S3Times): Promise<S3Bucket> {
    // Not at the top: servers that keep files on the disk do not load it.
    const sdk = await import('@aws-sdk/client-s3');
    const client = new sdk.S3Client({
      region: place.region,
      ...(place.endpoint === null ? {} : { endpoint: place.endpoint, forcePathStyle: true }),
      // Not those of AWS_ENDPOINT_URL or of a profile: forms are signed for S3_ENDPOINT, or for AWS, alone.
      ignoreConfiguredEndpointUrls: true,
      maxAttempts: ATTEMPTS,
      // Other makes of S3 do not know the newer checksums, or not within a stream.
      requestChecksumCalculation: 'WHEN_REQUIRED',
      responseChecksumValidation: 'WHEN_REQUIRED',
      requestHandler: {
        connectionTimeout: times.s3ConnectMs,
        socketTimeout: times.s3SilenceMs,
        httpAgent: { keepAlive: true, maxSockets: SOCKETS },
        httpsAgent: { keepAlive: true, maxSockets: SOCKETS },
      },
    });
    return new S3Bucket(place, sdk, client, times);
  }

  /** What forms are signed with; of lent ones, those that hold a while longer. */
  async credentials(): Promise<{ accessKeyId: string; secretAccessKey: string; sessionToken: string | null }> {
    try {
      const { accessKeyId, secretAccessKey, sessionToken } = await this.#client.config.credentials();
      return { accessKeyId, secretAccessKey, sessionToken: sessionToken ?? null };
    } catch (error) {
      throw notNow(error);
    }
  }

  /** Durable when it resolves, there whole or not at all; resolves to its etag. */
  async put(key: string, { bytes, length, contentType, md5 }: PutBody): Promise<string> {
    const abortSignal = AbortSignal.timeout(this.#times.s3TransferMs);
    for (let attempt = 1; ; attempt += 1) {
      const body = bytes();
      const input = { Body: body, ContentLength: length, ContentType: contentType, ContentMD5: md5 };
      try {
        const command = new this.#sdk.PutObjectCommand({ Bucket: this.place.bucket, Key: key, ...input });
        return (await this.#client.send(command, { abortSignal })).ETag ?? '';
      } catch (error) {
        const again = notNow(error);
        // A stream is spent: the SDK cannot send it again by itself.
        if (again === error || body instanceof Uint8Array || attempt === ATTEMPTS || abortSignal.aborted) throw again;
      } finally {
        if (!(body instanceof Uint8Array)) body.destroy();
      }
    }
  }

  /** Null: it is not there. */
  async head(key: string): Promise<TypedObject | null> {
    const command = new this.#sdk.HeadObjectCommand({ Bucket: this.place.bucket, Key: key });
    const found = await this.#unlessMissing(this.#client.send(command, this.#within()));
    return found === null ? null : objectOf(key, found, found.ContentLength ?? 0);
  }

  /** The whole of it in memory. Null: it is not there. */
  async get(key: string): Promise<Uint8Array | null> {
    const found = await this.stream(key);
    return found === null ? null : await buffered(found.body);
  }

  /**
   * The bytes as they come; of a range that begins behind the end there are none. Null: it is not there, or not with this
   * etag any more. Whoever gets the stream reads or destroys it.
   */
  async stream(
    key: string,
    range: ByteRange | null = null,
    etag: string | null = null,
  ): Promise<StreamedObject | null> {
    const command = new this.#sdk.GetObjectCommand({
      Bucket: this.place.bucket,
      Key: key,
      ...(range === null ? {} : { Range: `bytes=${range.first}-${range.last}` }),
      ...(etag === null ? {} : { IfMatch: etag }),
    });
    const late = new AbortController();
    // Until it answers: what comes then may be long, and its reader slow.
    const timer = setTimeout(() => late.abort(), this.#times.s3RequestMs);
    try {
      const found = await this.#client.send(command, { abortSignal: late.signal });
      const size = Number(/\/(\d+)$/.exec(found.ContentRange ?? '')?.[1] ?? found.ContentLength ?? 0);
      const body = (found.Body as Readable | undefined) ?? Readable.from([]);
      // One that breaks off while nobody reads says so to whoever reads on.
      body.on('error', () => {});
      return { object: objectOf(key, found, size), body };
    } catch (error) {
      if (isMissing(error) || statusOf(error) === 412) return null;
      if (statusOf(error) !== 416) throw notNow(error);
      const object = await this.head(key);
      return object === null ? null : { object, body: Readable.from([]) };
    } finally {
      clearTimeout(timer);
    }
  }

  /** Of one that is not there, it is done already. */
  async delete(key: string): Promise<void> {
    const command = new this.#sdk.DeleteObjectCommand({ Bucket: this.place.bucket, Key: key });
    await this.#unlessMissing(this.#client.send(command, this.#within()));
  }

  async list({ prefix, delimiter, after, next, limit }: ListQuery): Promise<S3Page> {
    const command = new this.#sdk.ListObjectsV2Command({
      Bucket: this.place.bucket,
      Prefix: prefix,
      Delimiter: delimiter,
      StartAfter: after,
      ContinuationToken: next,
      MaxKeys: limit,
      // XML has no way to say every name.
      EncodingType: 'url',
    });
    const found = await this.#asked(this.#client.send(command, this.#within()));
    return {
      objects: (found.Contents ?? []).map((object) => ({
        key: decoded(object.Key),
        size: object.Size ?? 0,
        etag: object.ETag ?? '',
        // Some say it to the millisecond, where all headers say the second.
        modifiedAt: Math.floor((object.LastModified?.getTime() ?? 0) / 1000) * 1000,
      })),
      folders: (found.CommonPrefixes ?? []).map(({ Prefix: folder }) => decoded(folder)),
      next: found.IsTruncated === true ? (found.NextContinuationToken ?? null) : null,
    };
  }

  /** All objects below a prefix, page by page. */
  async *pages(prefix: string): AsyncGenerator<readonly S3Object[]> {
    for (let next: string | null | undefined; next !== null; ) {
      const page: S3Page = await this.list({ prefix, ...(next === undefined ? {} : { next }) });
      yield page.objects;
      ({ next } = page);
    }
  }

  /** Gives up uploads in parts that nobody has finished since then; resolves to how many. */
  async dropUnfinished(prefix: string, until: number): Promise<number> {
    const Bucket = this.place.bucket;
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
      const command = new this.#sdk.ListMultipartUploadsCommand({ Bucket: this.place.bucket, Prefix: prefix, ...at });
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
      throw notNow(error);
    }
  }

  async #unlessMissing<T>(answer: Promise<T>): Promise<T | null> {
    try {
      return await answer;
    } catch (error) {
      if (isMissing(error)) return null;
      throw notNow(error);
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
    throw notNow(error);
  }
}

/** A listing writes a space as `+`, and a plus as `%2B`. */
const decoded = (text: string | undefined): string => decodeURIComponent((text ?? '').replaceAll('+', '%20'));

interface Found {
  readonly ETag?: string | undefined;
  readonly ContentType?: string | undefined;
  readonly LastModified?: Date | undefined;
}

function objectOf(key: string, { ETag, ContentType, LastModified }: Found, size: number): TypedObject {
  const modifiedAt = LastModified?.getTime() ?? 0;
  return { key, size, etag: ETag ?? '', contentType: ContentType ?? 'application/octet-stream', modifiedAt };
}
