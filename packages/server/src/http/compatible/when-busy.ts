import type { TSchema } from 'typebox';
import { Refusal } from '../../domain/refusal.ts';
import type { CompatibleCall } from './compatible-route.ts';
import type { WhenBusy } from './compatible-starts.ts';

/** The query for operations that cancel their chat's active run. */
export const WhenBusyQuery: TSchema = { type: 'object', properties: { whenBusy: { type: 'string' } } };

/** Reads `?whenBusy=`: `cancel` if it is absent. */
export function readWhenBusy({ request }: Pick<CompatibleCall, 'request'>): WhenBusy {
  const { whenBusy = 'cancel' } = request.query as { readonly whenBusy?: string };
  if (whenBusy === 'cancel' || whenBusy === 'refuse') return whenBusy;
  throw new Refusal('invalid_request', '`whenBusy` must be `cancel` or `refuse`.');
}
