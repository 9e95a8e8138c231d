import type { Config } from '../config/config.ts';
import { type ListedNode, OtherNodes, type OtherNodesOptions } from '../nodes/other-nodes.ts';
import { NODE_ALIVE } from '../store/schema.ts';
import type { Row, Snapshot } from '../store/transfer/ports.ts';
import { checkFiles, readKeptMark } from './open-files.ts';

type OpenSnapshot = () => Promise<Snapshot & AsyncDisposable>;

/**
 * Refuses a start before it migrates the tables of an earlier version, because a node of that version cannot start on the
 * new tables. The same checks run again later, when the files are opened and the node is registered.
 */
export async function checkEarlier(config: Config, options: OtherNodesOptions, open: OpenSnapshot): Promise<void> {
  const isPostgres = await checkPlace(config, open);
  if (!isPostgres || config.sharedDisk || config.s3 !== null) return;
  const listed = async () => {
    await using tables = await open();
    return await listedNodes(tables);
  };
  await new OtherNodes(listed, options).silent();
}

async function checkPlace(config: Config, open: OpenSnapshot): Promise<boolean> {
  await using tables = await open();
  const isInstalled = (await rowsIn(tables, 'installation', ['id'])).length > 0;
  if (isInstalled) await checkFiles(config, await readKeptMark(tables));
  return tables.kind === 'postgres';
}

async function listedNodes(tables: Snapshot): Promise<ListedNode[]> {
  const beats = new Map<string, number>();
  // Without this column the nodes are of an earlier version that sends no heartbeats.
  if ((await tables.columns('node_beats')).includes('seen_at')) {
    for (const [nodeId, beat, seenAt] of await rowsIn(tables, 'node_beats', ['node_id', 'beat', 'seen_at'])) {
      if (Number(seenAt) > 0) beats.set(String(nodeId), Number(beat));
    }
  }
  const nodes = await rowsIn(tables, 'nodes', ['node_id', 'dead']);
  return nodes
    .filter(([, dead]) => Number(dead) === NODE_ALIVE)
    .map(([nodeId]) => ({ nodeId: String(nodeId), beat: beats.get(String(nodeId)) ?? null }));
}

async function rowsIn(tables: Snapshot, table: string, columns: readonly string[]): Promise<Row[]> {
  const all: Row[] = [];
  for await (const rows of tables.rows(table, columns)) all.push(...rows);
  return all;
}
