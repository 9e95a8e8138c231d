import { createHash } from 'node:crypto';
import { crc32 } from 'node:zlib';
import { S3Error } from './s3-error.ts';

interface Checksum {
  readonly update: (chunk: Uint8Array) => void;
  readonly digest: () => Buffer;
}

const CHECKSUM = /^x-amz-checksum-(?!algorithm$)(.+)$/;
/** A checksum's size by algorithm, in bytes. */
const SIZES: Readonly<Record<string, number>> = { md5: 16, sha256: 32, sha1: 20, crc32: 4 };

export interface SizeLimits {
  readonly minBytes: number;
  readonly maxBytes: number;
  /** By lower-case names. */
  readonly fields: ReadonlyMap<string, string>;
}

/** Passes on a file's bytes. Throws as soon as there are too many, and at the end if too few arrived or a checksum is wrong. */
export async function* checkedBytes(bytes: AsyncIterable<Uint8Array>, limits: SizeLimits): AsyncGenerator<Uint8Array> {
  const { minBytes, maxBytes } = limits;
  const checksums = checksumsIn(limits.fields);
  let size = 0;
  for await (const chunk of bytes) {
    size += chunk.length;
    if (size > maxBytes) {
      throw new S3Error('EntityTooLarge', undefined, { ProposedSize: `${size}`, MaxSizeAllowed: `${maxBytes}` });
    }
    for (const { checksum } of checksums) checksum.update(chunk);
    yield chunk;
  }
  if (size < minBytes) {
    throw new S3Error('EntityTooSmall', undefined, { ProposedSize: `${size}`, MinSizeAllowed: `${minBytes}` });
  }
  for (const { name, wanted, checksum } of checksums) {
    const found = checksum.digest();
    if (!found.equals(wanted)) throw badDigest(name, wanted, found);
  }
}

interface WantedChecksum {
  readonly name: string;
  readonly wanted: Buffer;
  readonly checksum: Checksum;
}

/** Throws if the form requests an unknown algorithm or contains an invalid checksum. */
export function checksumsIn(fields: ReadonlyMap<string, string>): WantedChecksum[] {
  const found: WantedChecksum[] = [];
  for (const [field, value] of fields) {
    const name = field === 'content-md5' ? 'md5' : CHECKSUM.exec(field)?.[1];
    if (name === undefined) continue;
    const size = SIZES[name];
    if (size === undefined || field === 'x-amz-checksum-md5') {
      throw new S3Error('NotImplemented', undefined, { Header: field });
    }
    const wanted = Buffer.from(value, 'base64');
    if (wanted.length !== size || wanted.toString('base64') !== value) throw invalidChecksum(field, value);
    found.push({ name, wanted, checksum: name === 'crc32' ? crc() : hash(name) });
  }
  return found;
}

function invalidChecksum(field: string, value: string): S3Error {
  if (field === 'content-md5') return new S3Error('InvalidDigest', undefined, { 'Content-MD5': value });
  return new S3Error('InvalidRequest', `Value for ${field} header is invalid.`);
}

function badDigest(name: string, wanted: Buffer, found: Buffer): S3Error {
  if (name !== 'md5') {
    return new S3Error('BadDigest', `The ${name.toUpperCase()} you specified did not match the calculated checksum.`);
  }
  return new S3Error('BadDigest', undefined, {
    ExpectedDigest: wanted.toString('base64'),
    CalculatedDigest: found.toString('base64'),
  });
}

function hash(name: string): Checksum {
  const under = createHash(name);
  return { update: (chunk) => under.update(chunk), digest: () => under.digest() };
}

function crc(): Checksum {
  let value = 0;
  return {
    update: (chunk) => {
      value = crc32(chunk, value);
    },
    digest: () => {
      const bytes = Buffer.alloc(4);
      bytes.writeUInt32BE(value);
      return bytes;
    },
  };
}
