import { idThatMayBeBlank, userContext } from './completion.ts';
import { named, nullable, oneOfStrings, ref, strictObject, text, time, toList } from './kit.ts';
import {
  Answer,
  allowedAnswers,
  approvalFields,
  askingAgent,
  callArguments,
  calledTool,
  questionKind,
} from './question.ts';
import { runStatus } from './run.ts';
import { Type } from './type.ts';

export const AskedQuestion = named(
  'AskedQuestion',
  Type.Object(
    {
      questionId: text('Identifier of the question, for `answers`.'),
      kind: questionKind(),
      tool: calledTool(),
      arguments: callArguments(),
      ...allowedAnswers,
      agent: askingAgent(),
      apiIntegrationId: text('Identifier of the integration.'),
      chatId: text('The chat in which the question was asked.'),
      consumerId: nullable(text('The member that the chat belongs to. Null if it belongs to no member.')),
      runId: text('The run that asked.'),
      askedAt: time('When the run asked.'),
      state: oneOfStrings(['open', 'answered', 'unanswered'], {
        description: '`unanswered`: a new message in the chat came instead of an answer.',
      }),
      decision: nullable(
        oneOfStrings(['approved', 'declined', 'output'], {
          description: 'What the answer decided. Null if there is no answer.',
        }),
      ),
      reason: nullable(text('The reason that was given with the decision. Null if there is none.')),
      ...approvalFields,
      answeredBy: nullable(
        Type.Object(
          {
            kind: oneOfStrings(['person', 'key', 'client_token'], { description: 'What answered.' }),
            id: nullable(
              text('Id of the person or the key, or the `consumerId` of the client token. Null for `RUNWIRE_API_KEY`.'),
            ),
            name: nullable(text('Name of the person or the key when it answered. Null for client tokens.')),
            at: time('When the answer arrived.'),
          },
          { description: 'Who answered. Null if there is no answer.' },
        ),
      ),
    },
    { description: 'A question of any chat of the owner, and what became of it.' },
  ),
);

export const AskedQuestionList = toList('AskedQuestionList', AskedQuestion);

export const AnswerQuestionsRequest = named(
  'AnswerQuestionsRequest',
  strictObject(
    {
      answers: Type.Array(ref(Answer), {
        maxItems: 64,
        description: 'One answer for every open question of the chat.',
      }),
      message: Type.Optional(
        text('A message that the agent reads after the answers. May be empty.', { maxLength: 1_000_000 }),
      ),
      user_context: Type.Optional(userContext()),
      usageRequestId: Type.Optional(
        idThatMayBeBlank(
          'Unique id of this request. Default: `answers:` and the first `questionId`, so the same answers start one run.',
        ),
      ),
    },
    { description: 'The answers to the open questions of a chat.' },
  ),
);

export const AnsweringRun = named(
  'AnsweringRun',
  Type.Object(
    {
      runId: text('The run that continues with the answers.'),
      chatId: text('Its chat.'),
      status: runStatus('State of the run.'),
    },
    { description: 'The run that continues after answers.' },
  ),
);
