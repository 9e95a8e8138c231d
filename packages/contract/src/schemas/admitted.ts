import { ApiErrorResponse } from './error.ts';
import { oneOfStrings, ref, text } from './kit.ts';
import type { ErrorResponse } from './operation.ts';
import { streamEventSchemas } from './stream.ts';

/** The answer of an operation that starts a run and streams it. */
export const admittedResponses = () => ({
  200: {
    description:
      'The run was admitted. Server-sent events, or plain text when Text Only Mode is enabled for the integration.',
    schema: text("The events of the run, or the answer's text."),
    events: streamEventSchemas,
    contentTypes: ['text/event-stream', 'text/plain'],
    headers: {
      'X-Agent-Run-Admitted': oneOfStrings(['true'], { description: '`true`: the run is durably reserved.' }),
      'X-Run-Id': text('Identifier of the run.'),
      'X-Chat-Id': text('Identifier of the chat, percent-encoded.'),
      'X-Run-Replayed': oneOfStrings(['true'], {
        description: 'Present if the `usageRequestId` was known: the server started no run and charges nothing again.',
      }),
    },
  },
});

/** An error answer of an operation that starts a run. */
export const notAdmitted = (description: string) => ({
  description,
  schema: ref(ApiErrorResponse),
  headers: {
    'X-Agent-Run-Admitted': oneOfStrings(['false'], { description: '`false`: this request reserved no run.' }),
  },
});

/** The error answers of an operation that starts a run. */
export const notAdmittedAny = <const Status extends number>(answers: { readonly [S in Status]: ErrorResponse }) =>
  Object.fromEntries(
    Object.entries<ErrorResponse>(answers).map(([status, { description }]) => [status, notAdmitted(description)]),
  ) as { readonly [S in Status]: ReturnType<typeof notAdmitted> };
