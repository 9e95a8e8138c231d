import type { BlobStore } from '@runwire/server/src/storage/blob-store.ts';

type Write = BlobStore['write'];

/** The override `wrapBlobs` of a server: the real store, with another `write` around its own. */
export function writing(change: (write: Write) => Write): (blobs: BlobStore) => BlobStore {
  return (blobs) =>
    new Proxy(blobs, {
      get(target, name) {
        if (name === 'write') return change(target.write.bind(target));
        const value: unknown = Reflect.get(target, name, target);
        return typeof value === 'function' ? value.bind(target) : value;
      },
    });
}
