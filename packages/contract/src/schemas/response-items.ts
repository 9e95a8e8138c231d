import { flag, freeObject, oneOfStrings, ref, text } from './kit.ts';
import { ToolAttachment } from './tool-image.ts';
import { Type } from './type.ts';

export const itemType = <const Name extends string>(name: Name) =>
  oneOfStrings([name], { description: 'Discriminator.' });

const itemId = () => text('Identifier of the item.');
const itemStatus = () =>
  oneOfStrings(['in_progress', 'completed', 'incomplete'], { description: 'State of the item.' });

export const textPart = Type.Object(
  {
    type: itemType('output_text'),
    text: text('Text of the part.'),
    annotations: Type.Array(freeObject(), { description: 'Always empty.' }),
  },
  { description: 'A part of a message.' },
);

const MessageItem = Type.Object(
  {
    type: itemType('message'),
    id: itemId(),
    role: oneOfStrings(['assistant'], { description: '`assistant`.' }),
    status: itemStatus(),
    content: Type.Array(textPart, { description: 'The text; empty while the item is in progress.' }),
  },
  { description: 'Text of the model.' },
);

const summaryPart = Type.Object(
  { type: itemType('summary_text'), text: text('Text of the summary.') },
  { description: 'A part of the summary.' },
);

const ReasoningItem = Type.Object(
  {
    type: itemType('reasoning'),
    id: itemId(),
    status: Type.Optional(itemStatus()),
    summary: Type.Array(summaryPart, { description: 'Summary of the reasoning.' }),
  },
  { description: 'Reasoning of the model.' },
);

const FunctionCallItem = Type.Object(
  {
    type: itemType('function_call'),
    id: itemId(),
    call_id: text('Identifier of the call; its output has the same.'),
    name: text('Name of the tool.'),
    arguments: text('Arguments as JSON text.'),
    status: itemStatus(),
  },
  { description: 'The model calls a tool.' },
);

export const FunctionCallOutputItem = Type.Object(
  {
    type: itemType('function_call_output'),
    call_id: text('Identifier of the call.'),
    output: text('Output of the tool.'),
    failed: Type.Optional(flag('True if the call failed. Absent otherwise.')),
    attachments: Type.Optional(
      Type.Array(ref(ToolAttachment), { description: 'The images that the tool returned. Absent if there are none.' }),
    ),
  },
  { description: 'The output of a tool.' },
);

export const OutputItem = {
  description: 'An item of the answer.',
  anyOf: [MessageItem, ReasoningItem, FunctionCallItem],
} as const;
