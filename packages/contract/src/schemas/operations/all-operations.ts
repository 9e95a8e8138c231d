import * as accounts from './accounts.ts';
import * as audit from './audit.ts';
import * as chats from './chats.ts';
import * as clientTokens from './client-tokens.ts';
import * as completion from './completion.ts';
import * as evals from './evals.ts';
import * as files from './files.ts';
import * as integrations from './integrations.ts';
import * as members from './members.ts';
import * as overview from './overview.ts';
import * as questions from './questions.ts';
import * as runs from './runs.ts';
import * as schedules from './schedules.ts';
import * as service from './service.ts';
import * as usage from './usage.ts';
import * as webhooks from './webhooks.ts';

/** Every operation by its operation id. */
export const operations = {
  ...completion,
  ...files,
  ...runs,
  ...evals,
  ...members,
  ...clientTokens,
  ...chats,
  ...questions,
  ...schedules,
  ...usage,
  ...overview,
  ...integrations,
  ...webhooks,
  ...accounts,
  ...audit,
  ...service,
};

export type OperationId = keyof typeof operations;
