import type { Step } from '@runwire/client';
import { type CliCommand, type Context, wholeNumber } from '../command.ts';
import { connectToIntegration, type IntegrationOptions } from '../connection.ts';
import { costText, type ListOptions, print, printFields, printJson, printList, visible } from '../output.ts';

export function addPromptCommand(program: CliCommand, { env }: Context): void {
  program
    .command('prompt')
    .explain({
      summary: 'print what a model was sent in a step of a run',
      details: [
        'STEP is the number of a call of a model, as `runwire steps` lists it. No code of the agency is run: what a function made is left out.',
      ],
      examples: ['runwire prompt run_01HZX3 1', "runwire prompt --json run_01HZX3 1 | jq '.tools[].name'"],
    })
    .argument('RUN_ID')
    .argument('STEP', undefined, wholeNumber)
    .printsJson('print the prompt as JSON, with settings and tool definitions')
    .asksIntegration()
    .action(async (runId: string, step: number, options: PromptOptions) => {
      const client = await connectToIntegration(env, options);
      const prompt = await client.runs.prompt({ runId, step });
      if (options.json === true) {
        printJson(prompt);
        return;
      }
      const { model, agencyVersion: version, exact, tools } = prompt;
      printFields({ model, version, exact: exact ? 'yes' : 'no', tools: tools.map(({ name }) => name).join(', ') });
      print(`\ninstructions\n${visible(prompt.instructions ?? '(not known)')}`);
      for (const message of prompt.messages) print(`\n${shownItem(message)}`);
    });
}

interface PromptOptions extends IntegrationOptions {
  readonly json?: true;
}

/** An item as a heading and its text. */
function shownItem(item: Readonly<Record<string, unknown>>): string {
  const { type, role, name, content, arguments: given, output } = item;
  const text = given ?? output ?? content;
  const written = Array.isArray(text) ? text.map((part: { readonly text?: string }) => part.text ?? '').join('') : text;
  return `${String(role ?? name ?? type)}\n${visible(String(written))}`;
}

export function addStepsCommand(program: CliCommand, { env }: Context): void {
  program
    .command('steps')
    .explain({
      summary: 'list the steps of a run, the newest first',
      details: [
        'A step is a call of a model or a tool, or a check of the message by guardrails. Calls that failed, were cut or wait for an answer are listed too.',
        'The last columns have the guardrails that did not let the step pass as it was, and the tools and flows that the model did not see.',
      ],
      examples: ['runwire steps run_01HZX3', "runwire steps --json run_01HZX3 | jq '.[].usage'"],
    })
    .argument('RUN_ID')
    .option('--limit <N>', 'at most this many steps; default: 100', wholeNumber, 100)
    .printsJson('print the steps as a JSON array')
    .asksIntegration()
    .action(async (runId: string, options: ListOptions & IntegrationOptions) => {
      const client = await connectToIntegration(env, options);
      await printList(client.runs.steps({ runId }), options, [
        { title: 'step', value: ({ step }) => step },
        { title: 'agent', value: ({ agent }) => agent },
        { title: 'call', value: ({ tool, model, kind }) => tool ?? model ?? kind, canShrink: true },
        { title: 'end', value: ({ error, status }) => error?.code ?? status },
        { title: 'ms', value: durationMs },
        { title: 'tokens', value: ({ usage }) => usage?.total_tokens },
        { title: 'cost', value: ({ cost }) => costText(cost) },
        { title: 'files', value: ({ files }) => files.length },
        { title: 'guardrails', value: verdictText, canShrink: true },
        { title: 'hidden', value: hiddenText, canShrink: true },
      ]);
    });
}

/** The guardrails that did not let the step pass as it was. */
const verdictText = ({ guardrails }: Step): string | null =>
  guardrails.flatMap(({ name, verdict }) => (verdict === 'pass' ? [] : [`${name}: ${verdict}`])).join(', ') || null;

/** The tools, and the agents to which flows lead, that the model did not see. */
const hiddenText = ({ hidden }: Step): string | null =>
  hidden.map(({ kind, name }) => (kind === 'tool' ? name : `${kind} to ${name}`)).join(', ') || null;

const durationMs = ({ startedAt, completedAt }: Step): number => Date.parse(completedAt) - Date.parse(startedAt);
