import { type ErrorCode, errors } from '@runwire/contract';

/** The request bodies for schedules, as the contract defines them. */
export type {
  CreateScheduleRequest as NewSchedule,
  ScheduleRequest,
  UpdateScheduleRequest as ScheduleChange,
} from '@runwire/contract';

/** True if the same request may succeed as soon as the server is able to take it. */
export const isUnavailable = (code: ErrorCode): boolean => errors[code].status === 503;

export type { ErrorCode };
