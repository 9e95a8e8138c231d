import { flag, freeObject, named, nullable, oneOfStrings, ref, strictObject, text, time, toolName } from './kit.ts';
import { Type } from './type.ts';

export const questionKind = () =>
  oneOfStrings(['approval', 'tool'], {
    description: '`approval`: a person must decide about the call. `tool`: only the caller can make the call.',
  });
const callId = () => text('Id of the call.');
export const askingAgent = () => text('The agent that made the call.');
const callerAgent = () => nullable(text('The agent that asked it. Null if the user asked.'));
export const calledTool = () => text('Name of the tool.');
export const callArguments = () =>
  freeObject({
    description: 'The arguments of the call. An approved call is made with exactly these, or with those of the answer.',
  });

/** What an approval may do besides, as the tool allowed it when the run asked. */
export const allowedAnswers = {
  editable: Type.Optional(
    flag('True if the answer may have other `arguments`. Absent if the tool of the call has no `editable`.'),
  ),
  rememberable: Type.Optional(
    flag('True if the answer may have `remember`. Absent if the tool of the call has no `remember`.'),
  ),
};

export const Question = named(
  'Question',
  Type.Object(
    {
      questionId: text('Identifier of the question, for `answers`.'),
      kind: questionKind(),
      callId: callId(),
      agent: askingAgent(),
      callerAgent: callerAgent(),
      tool: calledTool(),
      arguments: callArguments(),
      ...allowedAnswers,
    },
    { description: 'A call that waits for an answer of the caller.' },
  ),
);

/** A question's fields in the stream, whose names are in snake case. */
export const StreamQuestion = named(
  'StreamQuestion',
  Type.Object(
    {
      question_id: text('Identifier of the question, for `answers`.'),
      kind: questionKind(),
      call_id: callId(),
      agent: askingAgent(),
      callerAgent: callerAgent(),
      tool: calledTool(),
      arguments: callArguments(),
      ...allowedAnswers,
    },
    { description: 'A call that waits for an answer of the caller.' },
  ),
);

export const answererFields = {
  kind: oneOfStrings(['person', 'key', 'client_token'], { description: 'Who answered.' }),
  id: nullable(
    text('Id of the person or key, or the member of the client token. Null for the key of `RUNWIRE_API_KEY`.'),
  ),
  name: nullable(text('Name of the person or key. Null if there is none.')),
};

/** It is always nullable, so it has no name. */
export const answeredBy = (description: string) =>
  nullable(Type.Object({ ...answererFields, at: time('When the answer arrived.') }, { description }));

/** What an approval had besides. */
export const approvalFields = {
  changedArguments: nullable(
    freeObject({
      description: 'The arguments with which the call was approved instead. Null if they were not changed.',
    }),
  ),
  remember: nullable(
    oneOfStrings(['chat'], { description: '`chat`: the tool was allowed for the chat. Null if it was not.' }),
  ),
};

export const pending = (description: string) => Type.Array(ref(Question), { description });

export const Answer = named(
  'Answer',
  strictObject(
    {
      questionId: text('The question.', { minLength: 1, maxLength: 64 }),
      approve: Type.Optional(flag('For a question of the kind `approval`: true if the call may be made.')),
      reason: Type.Optional(
        text('Why. The tool gets it if the call is approved, the model if it is declined.', { maxLength: 4000 }),
      ),
      arguments: Type.Optional(
        freeObject({
          description:
            'With `approve: true`, if the question is `editable`: the call is made with these arguments. At most 1 MiB.',
        }),
      ),
      remember: Type.Optional(
        oneOfStrings(['chat'], {
          description:
            'With `approve: true`, if the question is `rememberable`: further calls of the tool in this chat do not ask.',
        }),
      ),
      output: Type.Optional(
        Type.Unsafe<Record<string, unknown> | unknown[] | string | number | boolean | null>({
          description:
            'For a question of the kind `tool`: the output of the call, as text or any other JSON value, at most 1 MiB.',
          anyOf: [
            Type.String(),
            nullable(freeObject()),
            Type.Array(Type.Unsafe<unknown>({})),
            Type.Number(),
            Type.Boolean(),
          ],
        }),
      ),
      failed: Type.Optional(flag('True if the call failed; then `output` tells why.')),
    },
    { description: 'The answer to a question: either `approve` or `output`.' },
  ),
);

export const ClientTool = named(
  'ClientTool',
  strictObject(
    {
      name: text('Name of the tool. No agent of the agency has a tool with this name.', {
        pattern: toolName,
      }),
      description: text('What the tool does, for the model.', { maxLength: 4000 }),
      inputSchema: freeObject({ description: 'JSON Schema of the arguments, which are an object.' }),
    },
    { description: 'A tool that only the caller can run.' },
  ),
);
