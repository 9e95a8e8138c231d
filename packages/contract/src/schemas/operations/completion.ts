import { admittedResponses, notAdmitted } from '../admitted.ts';
import { GetCompletionV2Request } from '../completion.ts';
import { ref, text } from '../kit.ts';
import { operation } from '../operation.ts';
import { Type } from '../type.ts';
import { eventStream } from './examples.ts';

export const getCompletionV2 = operation({
  operationId: 'getCompletionV2',
  method: 'POST',
  path: '/get_completion_v2',
  summary: 'Start a streamed agent run',
  description:
    'Runs an agent for a message and streams the result. If the connection is interrupted and the response carries no ' +
    '`X-Agent-Run-Admitted` header, check the chat status with the same `usageRequestId` before retrying. With a client token, ' +
    '`apiIntegrationId` and the other fields of the token may be omitted, and `user_context` must be.',
  tags: ['Completions'],
  auth: true,
  clientToken: 'run',
  headers: Type.Object({
    'last-event-id': Type.Optional(
      text('In a replay, the stream continues after this event. Otherwise it is ignored.'),
    ),
  }),
  body: ref(GetCompletionV2Request),
  example: {
    body: {
      apiIntegrationId: 'demo',
      message: 'Hi',
      chatId: 'c1',
      consumerId: 'user-42',
      usageRequestId: 'req-1',
      attachments: [{ type: 'input_file', file_url: 'https://files.example.com/report.pdf' }],
    },
    status: 200,
    answer: { 'text/event-stream': eventStream, 'text/plain': 'Hello' },
  },
  responses: {
    ...admittedResponses(),
    400: notAdmitted('Invalid request, or missing allowance attribution.'),
    401: notAdmitted('Missing or invalid platform API key or client token.'),
    403: notAdmitted('The API key does not own this integration, or the client token does not permit this.'),
    404: notAdmitted('Integration or member not found. Register the member before starting a completion.'),
    408: notAdmitted('The request did not arrive in time. The server closes the connection.'),
    409: notAdmitted('The previous run is still active. Wait for it or cancel that exact run before starting another.'),
    429: notAdmitted('The consumer is inactive, or has used up the current allowance; or too many streams are open.'),
    500: notAdmitted('Internal error.'),
    503: notAdmitted(
      'The server cannot accept the request now; try again. Without the header the outcome is unknown: check the chat ' +
        'status first.',
    ),
  },
});
