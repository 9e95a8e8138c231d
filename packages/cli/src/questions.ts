import type { Interface } from 'node:readline/promises';
import type { Answer, Question } from '@runwire/client';
import { type CliCommand, repeated } from './command.ts';
import { UsageError } from './exit-codes.ts';
import { parseJsonObject } from './json-object.ts';
import { note } from './output.ts';
import { jsonOrText } from './request-options.ts';
import { callText } from './run-display.ts';

/** The options that answer questions. A question is named by its id or its tool. */
export interface AnswerOptions {
  readonly approve?: readonly string[];
  readonly arguments?: readonly string[];
  readonly remember?: readonly string[];
  readonly decline?: readonly string[];
  readonly reason?: string;
  readonly output?: readonly string[];
  readonly failed?: readonly string[];
}

/** Adds the options for the answers, and for what the run gets besides. */
export function addAnswerOptions(command: CliCommand): CliCommand {
  return command
    .option('--approve <QUESTION>', 'approve a call; may be repeated', repeated)
    .option('--arguments <QUESTION=JSON>', 'approve a call with other arguments; may be repeated', repeated)
    .option('--remember <QUESTION>', 'approve a call, and allow the tool in this chat; may be repeated', repeated)
    .option('--decline <QUESTION>', 'decline a call; may be repeated', repeated)
    .option('--reason <TEXT>', 'why, for the tool or the agent')
    .option('--output <QUESTION=VALUE>', 'the output of a tool, JSON or text; may be repeated', repeated)
    .option('--failed <QUESTION=VALUE>', 'why a tool failed, JSON or text; may be repeated', repeated)
    .option('--message <TEXT>', 'a message that the agent reads after the answers', '')
    .option('--context <JSON>', 'user_context, for tools and instructions')
    .option('--request <ID>', 'your own id for the request: the same id never runs twice');
}

/** Names every open question in --approve and --decline. */
const ALL = 'all';

/** Asks a person all questions. Returns null if the person leaves before the last answer: then nothing may be sent. */
export async function askPerson(
  lines: Interface,
  questions: readonly Question[],
  signal: AbortSignal,
): Promise<Answer[] | null> {
  // A question to a closed input would wait forever.
  const closed = new AbortController();
  const close = () => closed.abort();
  lines.once('close', close);
  const until = AbortSignal.any([signal, closed.signal]);
  try {
    const answers: Answer[] = [];
    for (const question of questions) answers.push(await askOne(lines, question, until));
    return answers;
  } catch (error) {
    if (until.aborted) return null;
    throw error;
  } finally {
    lines.off('close', close);
  }
}

async function askOne(lines: Interface, question: Question, signal: AbortSignal): Promise<Answer> {
  const { questionId, kind } = question;
  if (kind === 'tool') {
    const value = await lines.question(`Output of ${callText(question)}, as JSON or text: `, { signal });
    return { questionId, output: jsonOrText(value) as NonNullable<Answer['output']> };
  }
  const { editable = false, rememberable = false } = question;
  const more = `${editable ? ', e to change the arguments' : ''}${rememberable ? ', a to allow it in this chat' : ''}`;
  const prompt = `Approve ${callText(question)}? [y/N${more}, or a reason to decline] `;
  const text = (await lines.question(prompt, { signal })).trim();
  if (/^y(es)?$/i.test(text)) return { questionId, approve: true };
  if (rememberable && /^a$/i.test(text)) return { questionId, approve: true, remember: 'chat' };
  if (editable && /^e$/i.test(text)) {
    return { questionId, approve: true, arguments: await askArguments(lines, question, signal) };
  }
  return { questionId, approve: false, ...(/^(no?)?$/i.test(text) ? {} : { reason: text }) };
}

/** The line begins with the arguments of the call. */
async function askArguments(lines: Interface, question: Question, signal: AbortSignal) {
  for (let text = JSON.stringify(question.arguments); ; ) {
    const typed = lines.question('Arguments: ', { signal });
    lines.write(text);
    text = await typed;
    const changed = parseJsonObject(text);
    if (changed !== null) return changed;
    note('Write the arguments as a JSON object.');
  }
}

/** True if an option answers a question. */
export const hasAnswers = ({
  approve,
  arguments: changed,
  remember,
  decline,
  output,
  failed,
}: AnswerOptions): boolean =>
  [approve, changed, remember, decline, output, failed].some((values) => values !== undefined);

/** Answers all questions by options. Throws if a question has no answer or two, or if an option names none. */
export function answersByOptions(questions: readonly Question[], options: AnswerOptions): Answer[] {
  const found = new Map<string, Answer>();
  const add = (question: Question, answer: Omit<Answer, 'questionId'>) => {
    if (found.has(question.questionId)) throw new UsageError(`${describe(question)} has two answers; give it one.`);
    found.set(question.questionId, { questionId: question.questionId, ...answer });
  };
  const { decline = [], output = [], failed = [], reason } = options;
  for (const [question, approval] of listApprovals(questions, options)) add(question, { ...approval, reason });
  for (const name of decline) {
    for (const question of name === ALL ? questions : named(questions, name)) {
      const sentence =
        options.reason === undefined ? 'Declined by the user.' : `Declined by the user: ${options.reason}`;
      const declined = { output: sentence, failed: true };
      add(question, question.kind === 'tool' ? declined : { approve: false, reason });
    }
  }
  for (const [option, pairs] of [
    ['--output', output],
    ['--failed', failed],
  ] as const) {
    for (const pair of pairs) {
      const [name, value] = splitPair(option, pair, 'QUESTION=VALUE, such as position=Rome');
      const given = { output: jsonOrText(value) as NonNullable<Answer['output']> };
      for (const question of named(questions, name)) {
        if (question.kind === 'approval') throw new UsageError(`${describe(question)} asks for an approval.`);
        add(question, option === '--output' ? given : { ...given, failed: true });
      }
    }
  }
  const open = questions.filter(({ questionId }) => !found.has(questionId)).map(describe);
  if (open.length === 0) return [...found.values()];
  throw new UsageError(`${open.join(', ')} has no answer; answer every question, or decline with --decline.`);
}

/** `--approve`, `--arguments` and `--remember` may name one question together. */
function listApprovals(
  questions: readonly Question[],
  options: AnswerOptions,
): Map<Question, Omit<Answer, 'questionId'>> {
  const approvals = new Map<Question, Omit<Answer, 'questionId'>>();
  const add = (name: string, more: Omit<Answer, 'questionId'>) => {
    for (const question of name === ALL
      ? questions.filter(({ kind }) => kind === 'approval')
      : named(questions, name)) {
      if (question.kind === 'tool') throw new UsageError(`${describe(question)} needs an output; use --output.`);
      approvals.set(question, { ...approvals.get(question), approve: true, ...more });
    }
  };
  for (const name of options.approve ?? []) add(name, {});
  for (const name of options.remember ?? []) add(name, { remember: 'chat' });
  for (const pair of options.arguments ?? []) {
    const [name, value] = splitPair('--arguments', pair, `QUESTION=JSON, such as refund='{"cents":500}'`);
    const changed = parseJsonObject(value);
    if (changed === null) throw new UsageError(`--arguments has \`${pair}\`; write a JSON object after the \`=\`.`);
    add(name, { arguments: changed });
  }
  return approvals;
}

function splitPair(option: string, pair: string, form: string): readonly [name: string, value: string] {
  const [, name = '', value = ''] = /^([^=]+)=([\s\S]*)$/.exec(pair) ?? [];
  if (name === '') throw new UsageError(`${option} has \`${pair}\`; write ${form}.`);
  return [name, value];
}

const describe = ({ tool, questionId }: Question) => `The question ${tool} (${questionId})`;

function named(questions: readonly Question[], name: string): readonly Question[] {
  const found = questions.filter(({ questionId, tool }) => questionId === name || tool === name);
  if (found.length > 0) return found;
  const open = questions.map(({ questionId, tool }) => `${tool} (${questionId})`).join(', ');
  throw new UsageError(`No open question is \`${name}\`; the open questions are ${open}.`);
}
