import type { TSchema } from 'typebox';
import * as account from './account.ts';
import * as agency from './agency.ts';
import * as askedQuestion from './asked-question.ts';
import * as attachment from './attachment.ts';
import * as audit from './audit.ts';
import * as chat from './chat.ts';
import * as clientToken from './client-token.ts';
import * as completion from './completion.ts';
import * as error from './error.ts';
import * as evals from './eval.ts';
import * as file from './file.ts';
import * as history from './history.ts';
import * as integration from './integration.ts';
import * as member from './member.ts';
import * as overview from './overview.ts';
import * as question from './question.ts';
import * as rerun from './rerun.ts';
import { responseEvents } from './response-events.ts';
import * as run from './run.ts';
import * as schedule from './schedule.ts';
import * as service from './service.ts';
import * as stream from './stream.ts';
import * as toolImage from './tool-image.ts';
import * as upload from './upload.ts';
import * as usage from './usage.ts';
import * as webhook from './webhook.ts';

export type NamedSchema = TSchema & { readonly $id: string };

function isNamed(value: unknown): value is NamedSchema {
  return typeof value === 'object' && value !== null && '$id' in value;
}

/** Every schema that has a name, for `addSchema`. References have the form `Name#`. */
export const namedSchemas: readonly NamedSchema[] = [
  completion,
  question,
  error,
  upload,
  file,
  usage,
  overview,
  run,
  rerun,
  evals,
  chat,
  askedQuestion,
  member,
  clientToken,
  integration,
  schedule,
  account,
  audit,
  agency,
  service,
  responseEvents,
  stream,
  toolImage,
  attachment,
  history,
  webhook,
].flatMap((module) => Object.values(module as Record<string, unknown>).filter(isNamed));
