import { sortableId } from '@runwire/lib/sortable-id.ts';

/** The id of a tool call whose provider sent none. */
export const newCallId = (): string => `call_${sortableId()}`;
