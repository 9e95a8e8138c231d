import type { Generated } from 'kysely';
import type { IntegrationId } from '../domain/ids.ts';

/** Blobs whose bytes an erasure deletes. */
export interface ErasedBlobsTable {
  integration_id: IntegrationId;
  erased_id: string;
  blob_key: string;
}

/** Erasures that are running, and erasures that were finished within the last 30 days. */
export interface ErasuresTable {
  integration_id: IntegrationId;
  /** Replaces the `consumerId`. */
  erased_id: string;
  /** The caller's id until it is replaced, then null. While it is set, the id is refused. */
  consumer_id: string | null;
  /** The hash of the person's folder. Nodes of earlier versions refuse forms below it that were signed up to `replaced_at`. */
  folder_id: string | null;
  started_at: number;
  replaced_at: number | null;
  finished_at: number | null;
  /** 0 if the person never had anything but its id. */
  has_content: Generated<number>;
  /**
   * `started_at` of the erasure that has deleted everything of the person. It then waits for a rewrite of the embedded
   * database. Any other value belongs to an earlier erasure of the id: nodes of earlier versions begin an erasure again
   * without a change of this column, or store the time here.
   */
  deleted_at: Generated<number | null>;
}

/** Blobs that are written before the transaction that refers to them. That transaction deletes the row. */
export interface PendingBlobsTable {
  batch_id: string;
  /** The node that writes the blobs. If it is dead, any node deletes them. */
  node_id: string;
  integration_id: IntegrationId;
  /** The hash of the person that the bytes belong to. Null if there is none, or if only the path tells. */
  erased_id: string | null;
  /** The file that the bytes are for, if it is not made by a run, as a `StoredPath`. */
  path: string | null;
  /** The blobs' keys. */
  keys_json: string;
  /** 1 if no transaction may refer to the blobs any more. */
  abandoned: Generated<number>;
}
