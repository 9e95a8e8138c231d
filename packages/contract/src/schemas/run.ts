import { failure } from './error.ts';
import { ChangedFile } from './file.ts';
import {
  count,
  flag,
  freeObject,
  named,
  nullable,
  oneOfStrings,
  ref,
  strictObject,
  text,
  time,
  toList,
} from './kit.ts';
import { answeredBy, pending } from './question.ts';
import { ToolAttachment } from './tool-image.ts';
import { Type } from './type.ts';
import { cost, firstTokenMs, Usage } from './usage.ts';

export const runStatus = (description: string) =>
  oneOfStrings(['admitted', 'running', 'completed', 'failed', 'cancelled'], { description });

const CANCEL_MODES = '`immediate` stops the run now, `after_step` when its current step has finished.';
const cancelMode = (description: string) => oneOfStrings(['immediate', 'after_step'], { description });
const attempt = () =>
  Type.Integer({ minimum: 1, description: 'Number of the attempt; it grows when a run is resumed after a crash.' });

export const output = () =>
  Type.Unsafe<unknown>({ description: 'Value of the answer if the agent has an output schema, otherwise null.' });

const preview = (what: string) =>
  nullable(
    text(`${what}, with white space folded to one space. Null if there is none, and after the chat was deleted.`),
  );
const finalText = () => nullable(text('The final assistant text. Null until the run has ended.'));

export const originalRun = () =>
  nullable(
    Type.Object(
      {
        runId: text('The original run.'),
        afterStep: count('The last step of the original run that was kept; 0 if none was.'),
      },
      { description: 'The run that this one reruns. Null if it is no rerun.' },
    ),
  );

const UNTIL_DELETED = 'Null after the chat was deleted.';

const runFields = {
  runId: text('Identifier of the run.'),
  apiIntegrationId: text('Identifier of the integration.'),
  chatId: text('Identifier of the chat.'),
  chatDeleted: flag('True if the chat was deleted; then `message` is null.'),
  consumerId: nullable(text('The member that the run was started for. Null if the request named none.')),
  usageRequestId: nullable(text('`usageRequestId` of the request. Null if it had none.')),
  status: runStatus('State of the run. `completed`, `failed` and `cancelled` are final.'),
  cancelRequested: nullable(cancelMode(`How the run was asked to stop: ${CANCEL_MODES} Null if it was not asked.`)),
  agent: text('The agent that the run was started at.'),
  agencyVersion: nullable(text('Hash of the agency that the run was started with. Null if it is not known.')),
  attempt: attempt(),
  lastEventId: count('Id of the last stored event of the stream.'),
  createdAt: time('When the run was admitted.'),
  startedAt: nullable(time('When the run was started. Null if it was not started yet.')),
  completedAt: nullable(time('When the run ended. Null if it has not ended.')),
  error: failure('Why the run failed. Null if it did not fail.'),
  continues: nullable(text('The run whose questions this one settled. Null if it settled none.')),
  rerunOf: originalRun(),
  pending: pending('The open questions of the run. Empty if there are none, or if they were settled.'),
  agents: nullable(Type.Array(text('An agent.'), { description: `The agents that spoke, in order. ${UNTIL_DELETED}` })),
  models: nullable(
    Type.Array(text('A model.'), {
      description: `The models that were asked, as \`provider/model\`. ${UNTIL_DELETED}`,
    }),
  ),
  waiting: nullable(flag(`True if the run ended with questions that are open. ${UNTIL_DELETED}`)),
  continuedBy: nullable(text('The run that settled the questions of this one. Null if there is none.')),
  messagePreview: preview('The first 200 characters of the message that the run answers'),
  answerPreview: preview('The first 200 characters of the final assistant text'),
  usage: nullable(Usage),
  firstTokenMs: firstTokenMs('From admission to the first output by a model.'),
  cost: cost('What the run cost, from its end on. Also null for client tokens.'),
  durationMs: nullable(
    count('Milliseconds from admission to the end. Null until the run has ended, and after the chat was deleted.'),
  ),
};

export const Run = named(
  'Run',
  Type.Object(
    { ...runFields, output: output(), message: finalText() },
    { description: 'A run: one request that an agent answers.' },
  ),
);

export const RunListItem = named(
  'RunListItem',
  Type.Object(
    { ...runFields, output: Type.Optional(output()), message: Type.Optional(finalText()) },
    { description: 'A run in a list. With `texts=false` it has neither `output` nor `message`.' },
  ),
);

export const RunList = toList('RunList', RunListItem);

export const CancelRunRequest = named(
  'CancelRunRequest',
  strictObject(
    { mode: Type.Optional(cancelMode(`${CANCEL_MODES} The default is \`immediate\`.`)) },
    { description: 'How to stop the run.' },
  ),
);

export const CancelResult = named(
  'CancelResult',
  Type.Object(
    {
      runId: text('Identifier of the run.'),
      chatId: text('Identifier of the chat.'),
      status: oneOfStrings(['cancelling', 'completed', 'failed', 'cancelled'], {
        description: 'End of the run, or `cancelling` if it has not stopped yet.',
      }),
      cancelled: flag('True exactly if `status` is `cancelled`.'),
      usage: nullable(Usage),
    },
    { description: "A run's state after it was asked to stop." },
  ),
);

export const GuardrailDecision = named(
  'GuardrailDecision',
  Type.Object(
    {
      name: text('Name of the guardrail.'),
      on: oneOfStrings(['input', 'output', 'toolCall', 'toolResult'], { description: 'What it checked.' }),
      verdict: oneOfStrings(['pass', 'block', 'replace', 'ask'], { description: 'What it decided.' }),
      reason: nullable(text('Why it blocked. Null for other verdicts.')),
      callId: nullable(text('The call that it checked. Null if it was no call.')),
    },
    { description: 'What a guardrail decided about a step.' },
  ),
);

export const HiddenPart = named(
  'HiddenPart',
  Type.Object(
    {
      kind: oneOfStrings(['tool', 'handoff', 'delegate'], { description: 'A tool, a hand-off or a delegation.' }),
      name: text('Name of the tool, or the agent to which the hand-off or delegation leads.'),
    },
    { description: 'What the model did not see in a step.' },
  ),
);

export const Step = named(
  'Step',
  Type.Object(
    {
      step: Type.Integer({ minimum: 1, description: 'Number of the step within the run.' }),
      attempt: attempt(),
      kind: oneOfStrings(['model', 'tool', 'guardrail', 'summary'], {
        description:
          "An answer of the model, a call of a tool, a check of the user's message by guardrails, or a summary that a model " +
          'wrote of the oldest turns.',
      }),
      agent: text('The agent of the step.'),
      callerAgent: nullable(text('The agent that asked it. Null if the user asked.')),
      model: nullable(text('Model of the step, as `provider/model`. Null for other steps.')),
      tool: nullable(text('Name of the tool. Null for other steps.')),
      callId: nullable(text('Id of the tool call. Null for other steps.')),
      loop: nullable(text('Id of the `send_message` call that began the delegation. Null outside of one.')),
      files: Type.Array(ref(ChangedFile), { description: 'The files that the call changed, together with the step.' }),
      attachments: Type.Array(ref(ToolAttachment), { description: 'The images that the call returned.' }),
      arguments: nullable(
        freeObject({
          description:
            'The arguments with which the call was made, if a person or a guardrail changed them. Null for all other calls and for a model.',
        }),
      ),
      shownArguments: nullable(
        freeObject({ description: 'What the model wrote instead of `arguments`. Null if these are null.' }),
      ),
      stateChanges: nullable(
        Type.Object(
          {
            set: freeObject({ description: 'The new values by their keys.' }),
            removed: Type.Array(text('A key.'), { description: 'The keys that the call removed.' }),
          },
          {
            description:
              'How the call changed the state of the chat, together with the step. Null if it did not, and for client tokens.',
          },
        ),
      ),
      guardrails: Type.Array(ref(GuardrailDecision), {
        description: 'What guardrails decided about the step, in the order in which they were asked.',
      }),
      hidden: Type.Array(ref(HiddenPart), {
        description:
          'The tools and flows that the model did not see, because `isEnabled` was false. Empty if it saw all.',
      }),
      summary: nullable(
        Type.Object(
          {
            turns: count('How many of the oldest turns it replaces in prompts.'),
            text: text('What the model wrote.'),
          },
          { description: 'The summary. Null for other steps, and for client tokens.' },
        ),
      ),
      handoff: nullable(text('The agent to which the call handed over. Null if it did not.')),
      status: oneOfStrings(['completed', 'failed', 'cancelled', 'waiting'], {
        description:
          'End of the step. `cancelled`: the run was cancelled during the call. `waiting`: the run ended with a question ' +
          'about the call; `answeredBy` tells whether it was answered.',
      }),
      firstEventId: count('Id of the first event of the step.'),
      lastEventId: count('Id of the last event of the step.'),
      usage: nullable(Usage),
      firstTokenMs: firstTokenMs('From the start of a model step to its first output.'),
      cost: cost('What the model step cost. Also null for tools, and for client tokens.'),
      error: failure('Why the step failed or was cut. Null otherwise.'),
      tries: Type.Integer({ minimum: 1, description: 'How often models were asked for the step. 1 for a tool.' }),
      answeredBy: answeredBy('Who answered the question about the call. Null if it asked nothing or has no answer.'),
      continuedBy: nullable(text('The run that continued with the answer. Null if there is no answer.')),
      startedAt: time('When the step was started.'),
      completedAt: time(
        'When the step ended. If the call waited: when it asked, and after the answer when it was answered.',
      ),
    },
    { description: 'A step of a run: it has finished, failed, was cut, or waits for an answer.' },
  ),
);

export const StepList = toList('StepList', Step);

export const StepPrompt = named(
  'StepPrompt',
  Type.Object(
    {
      instructions: nullable(
        text('The instructions. Null if a function of the agency made them, or if they are not known.'),
      ),
      messages: Type.Array(freeObject({ description: 'An item as in `new_messages`.' }), {
        description: 'What the model was shown of the chat and of the run, in order. Empty if it is not known.',
      }),
      tools: Type.Array(
        Type.Object({
          name: text('Name of the tool.'),
          description: text('What the model reads about the tool.'),
          inputSchema: freeObject({ description: 'JSON Schema of the arguments.' }),
        }),
        { description: 'The tools that the model could call, without tools of MCP servers.' },
      ),
      settings: freeObject({
        description: 'The settings of the agent, with `reasoning`, `webSearch` and the schema `output` if it has them.',
      }),
      model: nullable(text('The model that was asked, as `provider/model`.')),
      agencyVersion: nullable(text('Hash of the agency that the run was started with. Null if it is not known.')),
      exact: flag('True if the version of the agency is loaded and the prompt has the size that was sent.'),
    },
    { description: 'What a model was sent in a step.' },
  ),
);
