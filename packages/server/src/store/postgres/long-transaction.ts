import { Client } from 'pg';
import type { Row } from '../transfer/ports.ts';
import { BATCH_ROWS } from '../transfer/ports.ts';
import { translate } from './errors.ts';
import { type PostgresSettings, plainConfig } from './settings.ts';

/** The role or the database may set limits that are too short for a large installation. */
const NO_LIMITS =
  'set local statement_timeout = 0; set local lock_timeout = 0; set local idle_in_transaction_session_timeout = 0';

/** Begins a transaction on its own connection, without time limits. It also works through a pooler. */
export async function beginLongTransaction(settings: PostgresSettings, begin: string): Promise<Client> {
  const client = new Client(plainConfig(settings));
  // The next query on this connection reports the error.
  client.on('error', () => {});
  await client.connect();
  await client.query(`${begin}; ${NO_LIMITS}`);
  return client;
}

/** Closes the connection. The database rolls back whatever was not committed. */
export async function closeLongTransaction(client: Client): Promise<void> {
  await client.end().catch(() => {});
}

/** Lists the columns that can be written. The database computes the generated ones. */
export async function listColumns(client: Client, table: string): Promise<string[]> {
  const { rows } = await client.query<{ column_name: string }>(
    `select column_name from information_schema.columns where table_schema = current_schema() and table_name = $1
       and is_generated = 'NEVER'
     order by ordinal_position`,
    [table],
  );
  return rows.map((row) => row.column_name);
}

/** Reads with a cursor. Without it the driver would hold the whole table in memory. */
export async function* toRows(client: Client, table: string, columns: readonly string[]): AsyncGenerator<Row[]> {
  const names = columns.map((name) => client.escapeIdentifier(name)).join(', ');
  try {
    let isAborted = false;
    await client.query(`declare rows_of no scroll cursor for select ${names} from ${client.escapeIdentifier(table)}`);
    try {
      for (;;) {
        const { rows } = await client.query<Row[]>({ text: `fetch ${BATCH_ROWS} from rows_of`, rowMode: 'array' });
        if (rows.length > 0) yield rows as unknown as Row[];
        if (rows.length < BATCH_ROWS) break;
      }
    } catch (error) {
      isAborted = true;
      throw error;
    } finally {
      // An aborted transaction has closed the cursor. Closing it again would hide the error that aborted the
      // transaction.
      if (!isAborted) await client.query('close rows_of');
    }
  } catch (error) {
    throw translate(error);
  }
}
