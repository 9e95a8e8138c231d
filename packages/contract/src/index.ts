export { type ErrorCode, type ErrorEntry, errors } from './errors.ts';
export {
  endOfStream,
  eventIdsPerAttempt,
  headerNames,
  type ResponseEventType,
  type RunItemName,
  responseEventTypes,
  runItemNames,
  type SseEvent,
  type StreamEventType,
  sseEvents,
  streamEventTypes,
} from './events.ts';
export { maxFileBytes } from './limits.ts';
export type * from './operations.gen.ts';
export {
  includesRole,
  keyRoles,
  operationRoles,
  type Role,
  type RoleOperation,
  roles,
  scopedKeyOperations,
} from './roles.ts';
export type * from './types.gen.ts';
