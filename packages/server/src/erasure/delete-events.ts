import type { Person } from '../store/queries/erasures.ts';
import type { FileRange } from '../store/queries/files.ts';
import {
  deletePathDeliveries,
  deletePathEvents,
  deletePersonsDeliveries,
  deletePersonsEvents,
} from '../store/queries/webhook-sweeps.ts';
import type { Tx } from '../store/store.ts';

/** Events per statement, each with all its deliveries: PostgreSQL ends a statement after 5 s. */
const PORTION = 250;

/** Deletes some webhook events about the person with their deliveries. Resolves to true if there may be more. */
export async function deleteSomeEvents(tx: Tx, person: Person): Promise<boolean> {
  await tx.run(deletePersonsDeliveries, { ...person, limit: PORTION });
  return (await tx.run(deletePersonsEvents, { ...person, limit: PORTION })) === PORTION;
}

/** Deletes some webhook events about uploads below a folder. Resolves to true if there may be more. */
export async function deleteSomeUploadEvents(tx: Tx, files: FileRange): Promise<boolean> {
  await tx.run(deletePathDeliveries, { ...files, limit: PORTION });
  return (await tx.run(deletePathEvents, { ...files, limit: PORTION })) === PORTION;
}
