import type { TProperties } from 'typebox';
import { count, named, nullable, oneOfStrings, text } from './kit.ts';
import { itemType, OutputItem, textPart } from './response-items.ts';
import { Type } from './type.ts';

const itemPosition = {
  item_id: text('Identifier of the item.'),
  output_index: count('Position of the item in the output.'),
};
const contentPart = { ...itemPosition, content_index: count('Position of the part in the item.') };
const summaryPart = { ...itemPosition, summary_index: count('Position of the part in the summary.') };
const delta = { delta: text('The text that follows.') };
const outputIndex = { output_index: itemPosition.output_index };
const item = { item: Type.Unsafe<Record<string, unknown>>(OutputItem) };
const part = { part: textPart };
const completeText = { text: text('The complete text.') };

const details = (name: string, description: string) =>
  Type.Object({ [name]: count(description) }, { description: 'Part of these tokens.' });

const response = {
  response: Type.Object(
    {
      id: text('Identifier of the answer.'),
      object: itemType('response'),
      status: oneOfStrings(['in_progress', 'completed'], { description: 'State of the answer.' }),
      model: text('Model, as `provider/model`.'),
      output: Type.Array(Type.Unsafe<Record<string, unknown>>(OutputItem), { description: 'Items of the answer.' }),
      usage: nullable(
        Type.Object(
          {
            input_tokens: count('Tokens of the prompt.'),
            input_tokens_details: details('cached_tokens', 'Tokens that the provider read from its cache.'),
            output_tokens: count('Tokens of the answer.'),
            output_tokens_details: details('reasoning_tokens', 'Tokens that the model used for reasoning.'),
            total_tokens: count('`input_tokens` + `output_tokens`.'),
          },
          { description: 'Tokens of this call. Null while it is in progress.' },
        ),
      ),
    },
    { description: 'One answer of the model.' },
  ),
};

function responseEvent<const Name extends string>(type: Name, description: string, fields: TProperties) {
  const name = type.replace(/(?:^|[._])([a-z])/g, (_, letter: string) => letter.toUpperCase());
  return named(
    name,
    Type.Object({ type: itemType(type), ...fields, sequence_number: count("The event's id.") }, { description }),
  );
}

/** One schema for each of `responseEventTypes`. */
export const responseEvents = [
  responseEvent('response.created', 'The model was called.', response),
  responseEvent('response.output_item.added', 'An item begins.', { ...outputIndex, ...item }),
  responseEvent('response.content_part.added', 'A part of a message begins.', { ...contentPart, ...part }),
  responseEvent('response.output_text.delta', 'More text of a message.', { ...contentPart, ...delta }),
  responseEvent('response.output_text.done', "A message's text is complete.", { ...contentPart, ...completeText }),
  responseEvent('response.content_part.done', 'A part of a message is complete.', { ...contentPart, ...part }),
  responseEvent('response.output_item.done', 'An item is complete.', { ...outputIndex, ...item }),
  responseEvent('response.function_call_arguments.delta', 'More of the arguments of a call.', {
    ...itemPosition,
    ...delta,
  }),
  responseEvent('response.function_call_arguments.done', 'The arguments of a call are complete.', {
    ...itemPosition,
    name: text('Name of the tool.'),
    arguments: text('Arguments as JSON text.'),
  }),
  responseEvent('response.reasoning_summary_text.delta', 'More of a summary of reasoning.', {
    ...summaryPart,
    ...delta,
  }),
  responseEvent('response.reasoning_summary_text.done', 'A summary of reasoning is complete.', {
    ...summaryPart,
    ...completeText,
  }),
  responseEvent('response.completed', 'The answer of the model is complete.', response),
];
