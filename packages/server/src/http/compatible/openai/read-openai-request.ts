import { callerInstructions, type SentInstructions } from '../caller-instructions.ts';
import type { CompatibleCall } from '../compatible-route.ts';
import { type CompatibleRequest, headerContext } from '../compatible-starts.ts';
import type { Fields } from '../fields.ts';
import type { MessageContent } from '../message-parts.ts';
import {
  idempotencyKey,
  noteIgnored,
  readAgent,
  readConsumer,
  readMetadata,
  readOutputSchema,
  readTools,
  refuseUnsupported,
} from './openai-fields.ts';

/** What each of the two APIs that start runs reads in its own way. */
interface OwnFields extends MessageContent {
  readonly instructions: readonly SentInstructions[];
  readonly format: Fields | null;
  /** The part of a format of the type `json_schema` that has the schema. */
  readonly getSchema: (format: Fields) => Fields | null;
  /** The part of a tool that has its name. */
  readonly getFunction: (tool: Fields) => Fields;
}

/** Both APIs' part of a request. */
type OpenaiRequest = Omit<CompatibleRequest, 'chatId'> & Required<Pick<CompatibleRequest, 'extras' | 'clientTools'>>;

/** Reads the fields that Responses and Chat Completions share. Call it last: it names all other unread fields as ignored. */
export function readOpenaiRequest(call: CompatibleCall, body: Fields, own: OwnFields): OpenaiRequest {
  const { request } = call;
  refuseUnsupported(body);
  const outputSchema = readOutputSchema(own.format, own.getSchema);
  const metadata = readMetadata(body);
  const instructions = callerInstructions(own.instructions, call);
  const clientTools = readTools(body, own.getFunction);
  const consumerId = readConsumer(body, call);
  const agent = readAgent(body, call);
  const userContext = headerContext(request);
  noteIgnored(body, call);
  return {
    message: own.text,
    attachments: own.attachments,
    agent,
    consumerId,
    usageRequestId: idempotencyKey(request),
    userContext,
    clientTools,
    extras: { instructions, outputSchema, metadata },
    compared: { ...comparedFields(body.value), userContext: userContext ?? null },
  };
}

/** Everything that makes two requests with the same `Idempotency-Key` the same one. How it is answered does not. */
function comparedFields(body: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> {
  const { stream: _, stream_options: __, background: ___, ...rest } = body;
  return rest;
}
