import { createHash } from 'node:crypto';
import type { Overrides } from '@runwire/server/src/compose/overrides.ts';
import { newIntegrationId } from '@runwire/server/src/domain/ids.ts';
import { changeFiles, type FileChange } from '@runwire/server/src/files/change-files.ts';
import { type BlobStore, newFileBlobKey } from '@runwire/server/src/storage/blob-store.ts';
import type { Store, Tx } from '@runwire/server/src/store/store.ts';
import { writing } from '../hook-blobs.ts';
import { ARM } from '../server-process.ts';
import { pathInMount } from '../test-files.ts';
import { around } from './tampered-store.ts';

/* A server of the proof `files-atomic`: it makes many changes to files in one transaction, as a step of a run can. */

/** Contains `StagedChanges` as JSON. */
export const CHANGES_VARIABLE = 'STAGED_CHANGES';

export interface StagedChanges {
  readonly integrationId: string;
  /** A path below the mount, and the text that it gets; null deletes the file. */
  readonly changes: readonly (readonly [path: string, text: string | null])[];
  /** The process dies by SIGKILL after this many writes of the transaction; null if it does not. */
  readonly killAfterWrites: number | null;
}

/** The server makes the changes after its parent has armed it. */
export function stageChanges(planted: Overrides = {}): Overrides {
  const staged = JSON.parse(process.env[CHANGES_VARIABLE] ?? 'null') as StagedChanges | null;
  const opened: { store?: Store; blobs?: BlobStore } = {};
  process.on('message', (message) => {
    const { store, blobs } = opened;
    if (message === ARM && staged !== null && store !== undefined && blobs !== undefined) {
      void makeChanges(staged, store, blobs);
    }
  });
  return {
    ...planted,
    wrapStore: (store) => {
      opened.store = planted.wrapStore?.(store) ?? store;
      return opened.store;
    },
    wrapBlobs: (blobs) => {
      opened.blobs = planted.wrapBlobs?.(blobs) ?? blobs;
      return opened.blobs;
    },
  };
}

async function makeChanges(
  { integrationId, changes, killAfterWrites }: StagedChanges,
  store: Store,
  blobs: BlobStore,
): Promise<void> {
  const prepared: FileChange[] = [];
  for (const [below, text] of changes) {
    const path = pathInMount(below);
    if (text === null) {
      prepared.push({ kind: 'delete', path });
      continue;
    }
    const blobKey = newFileBlobKey();
    const { size, md5 } = await blobs.write(blobKey, getPieces([Buffer.from(text)]));
    const about = { contentType: 'text/plain', modifiedAt: Date.now(), signedAt: null, chatKey: null };
    prepared.push({ kind: 'put', path, blobKey, size, etag: `"${md5}"`, ...about });
  }
  await store.transact('files', (tx) =>
    changeFiles(
      killAfterWrites === null ? tx : dyingAfter(tx, killAfterWrites),
      newIntegrationId(integrationId),
      prepared,
      Date.now(),
    ),
  );
}

async function* getPieces(pieces: readonly Uint8Array[]): AsyncGenerator<Uint8Array> {
  yield* pieces;
}

function dyingAfter(tx: Tx, writes: number): Tx {
  let left = writes;
  return {
    all: tx.all.bind(tx),
    query: tx.query.bind(tx),
    run: async (statement, params) => {
      const changed = await tx.run(statement, params);
      left -= 1;
      if (left === 0) process.kill(process.pid, 'SIGKILL');
      return changed;
    },
  };
}

/** A file's bytes are stored after the transaction that publishes it. */
export function rowBeforeBlob(): Overrides {
  const held: (() => Promise<unknown>)[] = [];
  return stageChanges({
    wrapBlobs: writing((write) => async (key, bytes) => {
      const pieces: Uint8Array[] = [];
      const md5 = createHash('md5');
      for await (const piece of bytes) {
        md5.update(piece);
        pieces.push(Buffer.from(piece));
      }
      held.push(() => write(key, getPieces(pieces)));
      return { size: pieces.reduce((sum, piece) => sum + piece.length, 0), md5: md5.digest('hex') };
    }),
    wrapStore: around((transact) => async (name, job, locks) => {
      const value = await transact(name, job, locks);
      if (name === 'files') for (const store of held.splice(0)) await store();
      return value;
    }),
  });
}

/** The quota is compared with what is committed, not with what the transaction sees. */
export function quotaOutsideTransaction(): Overrides {
  return {
    wrapStore: (store) =>
      around((transact) => (name, job, locks) => transact(name, (tx) => job(readingCommitted(store, tx)), locks))(
        store,
      ),
  };
}

function readingCommitted(store: Store, tx: Tx): Tx {
  return {
    all: (statement, params) => (statement.name === 'used bytes' ? store.reads : tx).all(statement, params),
    query: tx.query.bind(tx),
    run: tx.run.bind(tx),
  };
}
