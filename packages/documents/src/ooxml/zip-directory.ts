import { Unreadable } from '../unreadable.ts';

/** A part of a ZIP file, from the directory at its end. */
export interface ZipEntry {
  readonly name: string;
  readonly method: number;
  readonly crc: number;
  readonly packedBytes: number;
  readonly bytes: number;
  /** The compressed bytes' offset. */
  readonly start: number;
}

const END_BYTES = 22;
const MAX_COMMENT_BYTES = 65_535;
const DIRECTORY_ENTRY_BYTES = 46;
const LOCAL_HEADER_BYTES = 30;
const IN_ZIP64 = 0xffffffff;
/** More than any real document has. */
const MAX_ENTRIES = 10_000;
const ENCRYPTED = 1;

const damaged = () => new Unreadable('is damaged: it cannot be unzipped; attach an undamaged copy');

/** Reads the parts of a ZIP file. Throws if parts overlap, are outside of the file, are encrypted or share a name. */
export function readZipDirectory(zip: Buffer): readonly ZipEntry[] {
  try {
    const entries = listEntries(zip);
    refuseOverlaps(entries);
    return entries;
  } catch (error) {
    // A read beyond the file's end.
    if (error instanceof RangeError) throw damaged();
    throw error;
  }
}

function listEntries(zip: Buffer): ZipEntry[] {
  const { count, offset } = findDirectory(zip);
  if (count > MAX_ENTRIES) throw new Unreadable(`is too complex: it has more than ${MAX_ENTRIES} parts`);
  const entries = new Map<string, ZipEntry>();
  for (let i = 0, at = offset; i < count; i += 1) {
    if (zip.readUInt32LE(at) !== 0x02014b50) throw damaged();
    if ((zip.readUInt16LE(at + 8) & ENCRYPTED) !== 0)
      throw new Unreadable('is encrypted; attach it without a password');
    const nameBytes = zip.readUInt16LE(at + 28);
    const extraBytes = zip.readUInt16LE(at + 30);
    const nameAt = at + DIRECTORY_ENTRY_BYTES;
    const name = zip.toString('utf8', nameAt, nameAt + nameBytes);
    if (entries.has(name)) throw damaged();
    const extra = zip.subarray(nameAt + nameBytes, nameAt + nameBytes + extraBytes);
    const [bytes, packedBytes, header] = largeNumbers(extra, [
      zip.readUInt32LE(at + 24),
      zip.readUInt32LE(at + 20),
      zip.readUInt32LE(at + 42),
    ]);
    if (zip.readUInt32LE(header) !== 0x04034b50) throw damaged();
    const start = header + LOCAL_HEADER_BYTES + zip.readUInt16LE(header + 26) + zip.readUInt16LE(header + 28);
    if (start + packedBytes > zip.length) throw damaged();
    const [method, crc] = [zip.readUInt16LE(at + 10), zip.readUInt32LE(at + 16)];
    entries.set(name, { name, method, crc, packedBytes, bytes, start });
    at = nameAt + nameBytes + extraBytes + zip.readUInt16LE(at + 32);
  }
  return [...entries.values()];
}

function findDirectory(zip: Buffer): { count: number; offset: number } {
  const lowest = Math.max(0, zip.length - END_BYTES - MAX_COMMENT_BYTES);
  for (let at = zip.length - END_BYTES; at >= lowest; at -= 1) {
    if (zip.readUInt32LE(at) !== 0x06054b50) continue;
    const count = zip.readUInt16LE(at + 10);
    const offset = zip.readUInt32LE(at + 16);
    if (count !== 0xffff && offset !== IN_ZIP64) return { count, offset };
    if (zip.readUInt32LE(at - 20) !== 0x07064b50) throw damaged();
    const end = Number(zip.readBigUInt64LE(at - 12));
    return { count: Number(zip.readBigUInt64LE(end + 32)), offset: Number(zip.readBigUInt64LE(end + 48)) };
  }
  throw damaged();
}

/** Numbers that did not fit are in an extra field, in this order. */
function largeNumbers(extra: Buffer, [...numbers]: [number, number, number]): [number, number, number] {
  for (let at = 0; numbers.includes(IN_ZIP64) && at + 4 <= extra.length; at += 4 + extra.readUInt16LE(at + 2)) {
    if (extra.readUInt16LE(at) !== 1) continue;
    let from = at + 4;
    for (const [index, number] of numbers.entries()) {
      if (number !== IN_ZIP64) continue;
      numbers[index] = Number(extra.readBigUInt64LE(from));
      from += 8;
    }
    break;
  }
  return numbers;
}

/** Parts that share their bytes would let a small file contain a huge one. */
function refuseOverlaps(entries: readonly ZipEntry[]): void {
  let end = 0;
  for (const { start, packedBytes } of entries.toSorted((a, b) => a.start - b.start)) {
    if (start < end) throw damaged();
    end = start + packedBytes;
  }
}
