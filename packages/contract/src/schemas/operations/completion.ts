import { GetCompletionV2Request } from '../completion.ts';
import { ApiErrorResponse } from '../error.ts';
import { oneOfStrings, ref } from '../kit.ts';
import { operation } from '../operation.ts';
import { Type } from '../type.ts';

const notAdmitted = (description: string) => ({
  description,
  schema: ref(ApiErrorResponse),
  headers: {
    'X-Agent-Run-Admitted': oneOfStrings(['false'], { description: '`false`: this request reserved no run.' }),
  },
});

export const getCompletionV2 = operation({
  operationId: 'getCompletionV2',
  method: 'POST',
  path: '/get_completion_v2',
  summary: 'Start a streamed agent run',
  description:
    'Runs an agent for a message and streams the result. If the connection is interrupted and the response carries no ' +
    '`X-Agent-Run-Admitted` header, check the chat status with the same `usageRequestId` before retrying.',
  tags: ['Completions'],
  auth: true,
  headers: Type.Object({
    'last-event-id': Type.Optional(
      Type.String({ description: 'In a replay: the stream goes on after this event. Otherwise ignored.' }),
    ),
  }),
  body: ref(GetCompletionV2Request),
  responses: {
    200: {
      description:
        'The run was admitted. Server-sent events, or plain text when Text Only Mode is enabled for the integration.',
      schema: Type.String(),
      contentTypes: ['text/event-stream', 'text/plain'],
      headers: {
        'X-Agent-Run-Admitted': oneOfStrings(['true'], { description: '`true`: the run is durably reserved.' }),
        'X-Run-Id': Type.String({ description: 'The run.' }),
        'X-Chat-Id': Type.String({ description: 'The chat, percent-encoded.' }),
        'X-Run-Replayed': oneOfStrings(['true'], {
          description: 'Present when the `usageRequestId` was known: nothing was started, nothing is charged again.',
        }),
      },
    },
    400: notAdmitted('Invalid request, or missing allowance attribution.'),
    401: notAdmitted('Missing or invalid platform API key.'),
    403: notAdmitted('The API key does not own this integration.'),
    404: notAdmitted('Integration or member not found. Register the member before starting a completion.'),
    408: notAdmitted('The request did not arrive in time; the connection is closed.'),
    409: notAdmitted('The previous run is still active. Wait for it or cancel that exact run before starting another.'),
    429: notAdmitted('The consumer is inactive, or has used up the current allowance.'),
    500: notAdmitted('Internal error.'),
    503: notAdmitted(
      'Not available now; try again. Without the header, the outcome is unknown: check the chat status first.',
    ),
  },
});
