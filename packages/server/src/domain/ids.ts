import { readTimePart, sortableId, timePart } from '@runwire/lib/sortable-id.ts';
import type { CheckedText } from './checked-text.ts';

/** The id of an integration that exists. Only `IntegrationOwnership` makes one from a request's text. */
export type IntegrationId = CheckedText<'IntegrationId'>;

/** The id of an owner that was loaded or made. */
export type OwnerId = CheckedText<'OwnerId'>;

/** The id of a person that was loaded or made. The first person of an owner has the id of the owner. */
export type PersonId = CheckedText<'PersonId'>;

/** The id of a run that was loaded or made. The text of a request becomes one by a read in its caller's scope. */
export type RunId = CheckedText<'RunId'>;

/** A chat's key, which callers do not choose. */
export type ChatKey = CheckedText<'ChatKey'>;

/** The id of a chat within its integration. A caller chose it, and it was checked, or it is the chat's key. */
export type ChatId = CheckedText<'ChatId'>;

/** The id of a schedule that was loaded or made. */
export type ScheduleId = CheckedText<'ScheduleId'>;

export const newScheduleId = (): ScheduleId => newId('sch') as ScheduleId;

/** The id of an integration that is being created. */
export const newIntegrationId = (wanted: string = newId('int')): IntegrationId => wanted as IntegrationId;

export const newOwnerId = (): OwnerId => newId('own') as OwnerId;

export const newPersonId = (): PersonId => newId('per') as PersonId;

/** The person who signs in for an owner since its creation. Versions without people have one per owner. */
export const firstPersonId = (ownerId: OwnerId): PersonId => ownerId as string as PersonId;

export const newRunId = (): RunId => newId('run') as RunId;

/** The id of an imported turn, which no run has. */
export const newImportedId = (): RunId => newId('imp') as RunId;

export const newChatKey = (): ChatKey => newId('chat') as ChatKey;

/** A chat's id for which the caller chose none. */
export const ownChatId = (chatKey: ChatKey): ChatId => chatKey as string as ChatId;

/** The id that a caller chose for a chat. The schema has refused others already. */
export function chosenChatId(id: string): ChatId {
  if (!isCallerId(id)) throw new Error('The id of the chat was not checked.');
  return id as ChatId;
}

export type IdPrefix =
  | 'run'
  | 'imp'
  | 'chat'
  | 'msg'
  | 'own'
  | 'per'
  | 'aud'
  | 'key'
  | 'tok'
  | 'ses'
  | 'int'
  | 'node'
  | 'resp'
  | 'fc'
  | 'rs'
  | 'call'
  | 'att'
  | 'form'
  | 'adj'
  | 'qst'
  | 'blobs'
  | 'sch'
  | 'whe'
  | 'whd'
  | 'evt'
  | 'claim';

export function newId(prefix: IdPrefix): string {
  return `${prefix}_${sortableId()}`;
}

/** Sorts after every run id that was made before `ms`, and before every other one. */
export function firstRunId(ms: number): RunId {
  return `run_${timePart(ms)}` as RunId;
}

/** Returns the time of `firstRunId`. */
export function readRunIdTime(id: string): number {
  return readTimePart(id.slice('run_'.length));
}

const CONTROL = /[\u0000-\u001f\u007f-\u009f]/;

/** Ids of callers have 1–256 characters and no control characters (`contract-4-ids`). */
export function isCallerId(value: string): boolean {
  if (value.length === 0 || CONTROL.test(value)) return false;
  if (value.length <= 256) return true;
  return value.length <= 512 && [...value].length <= 256;
}
