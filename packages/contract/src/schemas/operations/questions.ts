import { AnsweringRun, AnswerQuestionsRequest, AskedQuestionList } from '../asked-question.ts';
import { oneOfStrings, ref, text } from '../kit.ts';
import {
  bodyRefusals,
  integrationParams,
  integrationPath,
  integrationRefusals,
  operation,
  pageQuery,
  refusals,
} from '../operation.ts';
import { Type } from '../type.ts';
import { askedQuestion, integrationExample, json, page } from './examples.ts';

export const listQuestions = operation({
  operationId: 'listQuestions',
  method: 'GET',
  path: '/v2/questions',
  summary: 'List the questions of all chats, newest first',
  description:
    'The questions of all integrations of the owner. Questions end with their chat: a deleted chat has none.',
  tags: ['Questions'],
  auth: true,
  query: Type.Object({
    state: Type.Optional(
      oneOfStrings(['open', 'answered', 'all'], {
        default: 'open',
        description: '`all` also lists questions that a new message left without an answer.',
      }),
    ),
    ...pageQuery,
  }),
  example: { query: { state: 'open', limit: 50 }, status: 200, answer: page(askedQuestion) },
  responses: {
    200: { description: 'A page of questions.', schema: ref(AskedQuestionList) },
    ...refusals(401, 503),
  },
});

export const answerQuestions = operation({
  operationId: 'answerQuestions',
  method: 'POST',
  path: `${integrationPath}/chats/:chatId/answers`,
  summary: 'Send answers to the open questions of a chat',
  description:
    'Starts the run that continues, for the member of the chat, with the `clientTools` and `instructions` of the run that ' +
    'asked. `answers` must name every open question. Read the run at `…/runs/{runId}/events`, or do not: it continues ' +
    'without a reader.',
  tags: ['Questions'],
  auth: true,
  params: Type.Object({ ...integrationParams, chatId: text('Identifier of the chat.') }),
  body: ref(AnswerQuestionsRequest),
  example: {
    params: { ...integrationExample, chatId: 'c1' },
    body: { answers: [{ questionId: 'qst_1', approve: false, reason: 'Too much.' }] },
    status: 201,
    answer: json({ runId: 'run_2', chatId: 'c1', status: 'admitted' }),
  },
  responses: {
    200: { description: 'The run that an earlier request with this id started.', schema: ref(AnsweringRun) },
    201: { description: 'The run was admitted.', schema: ref(AnsweringRun) },
    ...integrationRefusals(),
    ...bodyRefusals(),
    ...refusals(409, 429),
  },
});
