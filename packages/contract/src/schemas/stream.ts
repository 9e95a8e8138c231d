import { endOfStream, runItemNames } from '../events.ts';
import { failure } from './error.ts';
import { StreamChangedFile } from './file.ts';
import { count, flag, freeObject, named, nullable, oneOfStrings, ref, text, time } from './kit.ts';
import { StreamQuestion } from './question.ts';
import { responseEvents } from './response-events.ts';
import { FunctionCallOutputItem, itemType, OutputItem } from './response-items.ts';
import { output } from './run.ts';
import { ToolAttachment } from './tool-image.ts';
import { Type } from './type.ts';
import { Usage } from './usage.ts';

const runId = () => text('Identifier of the run.');
const agent = () => text('The agent that speaks.');
const callerAgent = () => nullable(text('The agent that asked it. Null if the user asked, also after a hand-off.'));

export const StreamMeta = named(
  'StreamMeta',
  Type.Object(
    {
      run_id: runId(),
      chatId: text('Identifier of the chat.'),
      aliasChatId: nullable(text('Alias of the chat. Null if it has none.')),
      usageRequestId: nullable(text('`usageRequestId` of the request. Null if it had none.')),
      consumerId: nullable(text('The member of the run. Null if the request named none.')),
      agent: text('The agent that the run was started at.'),
      createdAt: time('When the run was admitted.'),
      ignored_fields: Type.Optional(
        Type.Array(Type.String(), {
          description: 'Unknown fields of the request that the server ignored, at most 20. Absent if there are none.',
        }),
      ),
    },
    { description: '`event: meta`, the first event of every run.' },
  ),
);

export const StreamResumed = named(
  'StreamResumed',
  Type.Object(
    {
      run_id: runId(),
      attempt: Type.Integer({ minimum: 2, description: 'Number of the attempt that begins.' }),
      discard_after: count('Events of earlier attempts with a higher id than this are void: discard their text.'),
      void_items: Type.Optional(
        Type.Array(Type.String(), {
          description:
            'Ids of items of delegated agents up to `discard_after` that are never finished. Absent if there are none.',
        }),
      ),
    },
    { description: '`event: resumed`, the first event after a crash or a hand-over.' },
  ),
);

const origin = { agent: agent(), callerAgent: callerAgent() };
const speaker = {
  ...origin,
  parent_run_id: Type.Optional(
    text('Id of the `send_message` call that asked the agent. Absent if the agent answers the user.'),
  ),
};
const timestamp = Type.Integer({ description: 'Microseconds since 1970-01-01 UTC.' });

const UserMessage = Type.Object(
  {
    type: itemType('message'),
    role: oneOfStrings(['user'], { description: '`user`.' }),
    content: text('The user message.'),
    ...origin,
    timestamp,
  },
  { description: 'The message of the user.' },
);

const newMessage = Type.Unsafe<Record<string, unknown>>({
  description: 'The message of the user, or an item of the answer with `agent`, `callerAgent` and `timestamp`.',
  anyOf: [
    UserMessage,
    ...[...OutputItem.anyOf, FunctionCallOutputItem].map((item) => ({
      ...item,
      required: [...item.required, ...Object.keys(origin), 'timestamp'],
      properties: { ...item.properties, ...origin, timestamp },
    })),
  ],
});

export const StreamMessages = named(
  'StreamMessages',
  Type.Object(
    {
      run_id: runId(),
      chatId: text('Identifier of the chat.'),
      status: oneOfStrings(['completed', 'failed', 'cancelled'], { description: 'End of the run.' }),
      cancelled: Type.Optional(flag('True if the run was cancelled, otherwise absent.')),
      new_messages: Type.Array(newMessage, {
        description: 'Everything that the run added to the chat, in order, as items of the OpenAI Responses API.',
      }),
      output: output(),
      pending: Type.Array(ref(StreamQuestion), {
        description: 'The questions with which the run ends. Empty if there are none.',
      }),
      usage: ref(Usage),
      files: Type.Array(ref(StreamChangedFile), {
        description: 'The files that the run changed, each path once, as the run left it.',
      }),
      error: failure('Why the run failed. Null if it did not fail.'),
    },
    { description: "`event: messages`, sent after the run's end is stored." },
  ),
);

export const StreamEnd = named(
  'StreamEnd',
  oneOfStrings([endOfStream], { description: '`event: end`, the last event of every run.' }),
);

export const StreamError = named(
  'StreamError',
  Type.Object(
    {
      error: text('What was wrong and what to do, for a person.'),
      code: text('Machine-readable code.'),
      run_id: runId(),
    },
    { description: 'An event without a name: the run failed. `messages` and `end` follow.' },
  ),
);

export const StreamRawResponse = named(
  'StreamRawResponse',
  Type.Object(
    {
      data: Type.Object(
        {
          type: itemType('raw_response_event'),
          ...speaker,
          data: Type.Unsafe<Record<string, unknown>>({
            description: 'An event of the OpenAI Responses API; `type` tells which one.',
            anyOf: responseEvents.map((event) => ref(event)),
          }),
        },
        { description: 'The event.' },
      ),
    },
    { description: 'An event without a name: output of the model.' },
  ),
);

const runItem = Type.Object(
  {
    type: text('Kind of the item, such as `tool_call_item`.'),
    question_id: Type.Optional(text('Identifier of the question, for an item that asks.')),
    raw_item: freeObject({
      description:
        'The item as in `new_messages`. For `tool_progress`: `call_id`, and `text` of at most 4 000 characters. For ' +
        '`mcp_server_failed`: `agency`, `server` and `error`.',
    }),
    output: Type.Optional(text('Output of the tool, for `tool_output`.')),
    failed: Type.Optional(flag('True if the call failed, for `tool_output`. Absent otherwise.')),
    attachments: Type.Optional(
      Type.Array(ref(ToolAttachment), {
        description: 'The images that the tool returned, for `tool_output`. Absent if there are none.',
      }),
    ),
    source_agent: Type.Optional(text('The agent that handed over, for `handoff_occured`.')),
    target_agent: Type.Optional(text('The agent that continues, for `handoff_occured`.')),
  },
  { description: 'The item.' },
);

export const StreamRunItem = named(
  'StreamRunItem',
  Type.Object(
    {
      data: Type.Object(
        {
          type: itemType('run_item_stream_event'),
          ...speaker,
          name: oneOfStrings([...runItemNames, 'history_left_out', 'history_summarized', 'file_changed'], {
            description:
              'What happened. `history_left_out`: the oldest turns do not fit into the window of the model and were ' +
              'left out. `history_summarized`: a model summed up the oldest `raw_item.turns` turns, and the prompt has ' +
              'this summary instead of them. `handoff_requested` and `handoff_occured`: another agent continues. `tool_approval_requested` ' +
              'and `client_tool_requested`: a call needs an answer. `tool_progress`: a tool reports how far its call is. ' +
              '`mcp_server_failed`: the run cannot use an MCP server of the agent now. ' +
              '`file_changed`: a tool changed a file; `raw_item` has the fields of an item of `messages.files`, and ' +
              '`call_id`. Ignore names that you do not know.',
          }),
          item: runItem,
        },
        { description: 'The event.' },
      ),
    },
    { description: 'An event without a name: an item is complete, or a tool reports its progress.' },
  ),
);

export const StreamAgentUpdated = named(
  'StreamAgentUpdated',
  Type.Object(
    {
      data: Type.Object(
        {
          type: itemType('agent_updated_stream_event'),
          ...speaker,
          new_agent: Type.Object({ name: text('Its name.') }, { description: 'The agent that continues.' }),
        },
        { description: 'The event.' },
      ),
    },
    { description: 'An event without a name: after a hand-off another agent continues.' },
  ),
);

/** The schema of the data of each event, by the value of its `event:` line. `message` is the name of events without one. */
export const streamEventSchemas = {
  meta: ref(StreamMeta),
  message: { anyOf: [StreamRawResponse, StreamRunItem, StreamAgentUpdated, StreamError].map((schema) => ref(schema)) },
  resumed: ref(StreamResumed),
  messages: ref(StreamMessages),
  end: ref(StreamEnd),
};
