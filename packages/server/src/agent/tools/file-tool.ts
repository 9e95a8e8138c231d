import { compileJsonSchema } from '@runwire/lib/json-schema.ts';
import type { ImageResult } from '../../domain/run/tool-image.ts';
import type { AgentFiles, FILE_TOOLS } from '../files-port.ts';
import { checkedCall, type ModelTool, type Tool } from '../ports.ts';

interface FileToolDefinition<Input> {
  readonly name: (typeof FILE_TOOLS)[number];
  readonly description: string;
  readonly properties: { readonly [Field in keyof Required<Input>]: Readonly<Record<string, unknown>> };
  readonly required: readonly (keyof Input & string)[];
  /** Resolves to the result for the model, also if the file does not exist. */
  execute(files: AgentFiles, input: Input, signal: AbortSignal): Promise<string | ImageResult>;
}

/** Makes the tool for a run's files. Models get `shown`, which is the same for all files. */
export interface FileTool {
  (files: AgentFiles): Tool;
  readonly shown: ModelTool;
}

/** Defines a file tool. It only reads, so a call whose outcome is unknown is repeated. */
export function fileTool<Input>(definition: FileToolDefinition<Input>): FileTool {
  const { name, description, properties, required, execute } = definition;
  const inputSchema = { type: 'object', properties, required, additionalProperties: false };
  const checkInput = compileJsonSchema(inputSchema);
  const shown = { name, description, inputSchema };
  const forFiles = (files: AgentFiles): Tool => ({
    ...shown,
    repeatable: true,
    checkInput,
    call: checkedCall({
      checkInput,
      execute: (input, { abortSignal }) => execute(files, input as Input, abortSignal),
    }),
  });
  return Object.assign(forFiles, { shown });
}
