import { admittedResponses, notAdmittedAny } from '../admitted.ts';
import { EvalRunRequest } from '../eval.ts';
import { ref } from '../kit.ts';
import {
  bodyRefusals,
  integrationParams,
  integrationPath,
  integrationRefusals,
  operation,
  refusals,
} from '../operation.ts';
import { Type } from '../type.ts';
import { eventStream, integrationExample } from './examples.ts';

export const runEval = operation({
  operationId: 'runEval',
  method: 'POST',
  path: `${integrationPath}/evals/run`,
  summary: 'Start a run for an eval',
  description:
    'Starts a run in a new chat that is not listed, and streams it like `POST /get_completion_v2`. Calls get the outcomes that ' +
    'the body gives; others are executed only if they may be repeated. The run is charged to no member.',
  tags: ['Runs'],
  auth: true,
  params: Type.Object(integrationParams),
  body: ref(EvalRunRequest),
  example: {
    params: integrationExample,
    body: {
      request: { message: 'Refund invoice A1, please.' },
      tools: { find_invoice: { output: { invoice: 'A1', cents: 9900 } } },
    },
    status: 200,
    answer: { 'text/event-stream': eventStream, 'text/plain': 'Hello' },
  },
  responses: {
    ...admittedResponses(),
    ...notAdmittedAny({ ...integrationRefusals(), ...bodyRefusals(), ...refusals(409, 429) }),
  },
});
