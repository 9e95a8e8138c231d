/* An archive without compression. Every system opens it, and it needs no library. */

export interface ZipEntry {
  /** Below the archive's root, with `/` between folders. */
  readonly name: string;
  readonly bytes: Uint8Array<ArrayBuffer>;
  readonly modifiedAt: Date;
}

const VERSION = 20;
const NAMES_ARE_UTF8 = 0x0800;
const LOCAL = 0x04034b50;
const CENTRAL = 0x02014b50;
const END = 0x06054b50;

/** At most 65 535 entries and 4 GB in all. */
export function zip(entries: readonly ZipEntry[]): Blob {
  const files: Uint8Array<ArrayBuffer>[] = [];
  const directory: Uint8Array<ArrayBuffer>[] = [];
  let offset = 0;
  for (const { name, bytes, modifiedAt } of entries) {
    const encoded = new TextEncoder().encode(name);
    const { time, date } = toDosTime(modifiedAt);
    const common: readonly Field[] = [
      [2, VERSION],
      [2, NAMES_ARE_UTF8],
      [2, 0],
      [2, time],
      [2, date],
      [4, crc32(bytes)],
      [4, bytes.length],
      [4, bytes.length],
      [2, encoded.length],
      [2, 0],
    ];
    const local = fields([[4, LOCAL], ...common]);
    files.push(local, encoded, bytes);
    // No comment, the first disk, no attributes.
    directory.push(
      fields([[4, CENTRAL], [2, VERSION], ...common, [2, 0], [2, 0], [2, 0], [4, 0], [4, offset]]),
      encoded,
    );
    offset += local.length + encoded.length + bytes.length;
  }
  const size = directory.reduce((sum, part) => sum + part.length, 0);
  const count = entries.length;
  const end = fields([
    [4, END],
    [2, 0],
    [2, 0],
    [2, count],
    [2, count],
    [4, size],
    [4, offset],
    [2, 0],
  ]);
  return new Blob([...files, ...directory, end], { type: 'application/zip' });
}

type Field = readonly [bytes: 2 | 4, value: number];

function fields(values: readonly Field[]): Uint8Array<ArrayBuffer> {
  const bytes = new Uint8Array(values.reduce((sum, [size]) => sum + size, 0));
  const view = new DataView(bytes.buffer);
  let at = 0;
  for (const [size, value] of values) {
    if (size === 2) view.setUint16(at, value, true);
    else view.setUint32(at, value, true);
    at += size;
  }
  return bytes;
}

/** The format has no time zone, and programs read it as local time. */
function toDosTime(at: Date): { readonly time: number; readonly date: number } {
  const year = Math.max(at.getFullYear(), 1980);
  return {
    time: (at.getHours() << 11) | (at.getMinutes() << 5) | (at.getSeconds() >> 1),
    date: ((year - 1980) << 9) | ((at.getMonth() + 1) << 5) | at.getDate(),
  };
}

const CRC_TABLE = Uint32Array.from({ length: 256 }, (_, index) => {
  let value = index;
  for (let bit = 0; bit < 8; bit += 1) value = value & 1 ? (value >>> 1) ^ 0xedb88320 : value >>> 1;
  return value;
});

function crc32(bytes: Uint8Array): number {
  let crc = 0xffffffff;
  for (const byte of bytes) crc = (CRC_TABLE[(crc ^ byte) & 0xff] as number) ^ (crc >>> 8);
  return (crc ^ 0xffffffff) >>> 0;
}
