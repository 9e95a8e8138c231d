import { mkdir, stat, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { MountStore, Overrides } from '@runwire/test-kit';

type Write = MountStore['write'];

/** Another way to write; all else is the store's own. */
function writing(write: (own: Write) => Write): Overrides {
  return {
    wrapMount: (mount) =>
      new Proxy(mount, {
        get(target, name) {
          if (name === 'write') return write(target.write.bind(target));
          const value = Reflect.get(target, name, target);
          return typeof value === 'function' ? value.bind(target) : value;
        },
      }),
  };
}

/** The last piece of a file lacks its last byte. */
export function loseAByte(): Overrides {
  const allBut = async function* (bytes: AsyncIterable<Uint8Array>) {
    let last: Uint8Array | null = null;
    for await (const piece of bytes) {
      if (last !== null) yield last;
      last = piece;
    }
    if (last !== null) yield last.subarray(0, -1);
  };
  return writing(
    (own) => (integrationId, path, contentType, bytes) => own(integrationId, path, contentType, allBut(bytes)),
  );
}

/** Every file is in memory whole before its first byte is stored. */
export function holdFiles(): Overrides {
  const held = async function* (bytes: AsyncIterable<Uint8Array>) {
    const all: Uint8Array[] = [];
    for await (const piece of bytes) all.push(Buffer.from(piece));
    yield* all;
  };
  return writing(
    (own) => (integrationId, path, contentType, bytes) => own(integrationId, path, contentType, held(bytes)),
  );
}

/** A file is written in its place, and nothing is synced. */
export function writePlainly(): Overrides {
  return writing(() => async (integrationId, path, contentType, bytes) => {
    const place = join(String(process.env.RUNWIRE_DATA_DIR), 'mounts', integrationId, 'files', path);
    await mkdir(dirname(place), { recursive: true });
    await writeFile(place, bytes);
    const { size, mtimeMs: modifiedAt } = await stat(place);
    return { kind: 'file', path, size, etag: '""', contentType, modifiedAt };
  });
}
