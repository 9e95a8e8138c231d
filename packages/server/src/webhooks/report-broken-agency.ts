import { createHash } from 'node:crypto';
import { integrationsOfAgency } from '../store/queries/webhook-endpoints.ts';
import type { Store } from '../store/store.ts';
import type { EventOutbox } from './event-outbox.ts';

interface AgencyFault {
  readonly file: string;
  readonly line: number | null;
  readonly column: number | null;
  readonly message: string;
}

interface BrokenAgency {
  readonly message: string;
  readonly faults: readonly AgencyFault[];
}

/** More of them would make the body too large. */
const MAX_FAULTS = 10;
const MAX_CHARACTERS = 300;
const shorten = (text: string) => text.slice(0, MAX_CHARACTERS);

/** Records `agency.broken` for all integrations with endpoints that use the agency, once for each fault on all nodes. */
export async function reportBrokenAgency(
  store: Store,
  outbox: EventOutbox,
  agency: string,
  { message, faults }: BrokenAgency,
): Promise<void> {
  const fault = createHash('sha256')
    .update(JSON.stringify([message, faults]))
    .digest('hex');
  const shown = faults
    .slice(0, MAX_FAULTS)
    .map((one) => ({ ...one, file: shorten(one.file), message: shorten(one.message) }));
  const data = { agency, error: { message: shorten(message), faults: shown } };
  const type = 'agency.broken';
  for (const { integration_id: integrationId } of await store.reads.all(integrationsOfAgency, { agency })) {
    const onceKey = JSON.stringify([type, integrationId, agency, fault]);
    await store.transact('webhook', (tx) => outbox.record(tx, integrationId, [type], () => [{ type, onceKey, data }]));
    outbox.committed(integrationId);
  }
}
