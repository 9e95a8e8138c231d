import type { Command } from 'commander';

/**
 * What a person types for a field of the API: the first of these options and arguments that the command has. The last
 * entry is the word for it in a sentence.
 */
const FIELDS: Readonly<Record<string, readonly [...string[], string]>> = {
  active: ['--active', 'active'],
  afterStep: ['--after-step', 'step'],
  agency: ['--agency', 'agency'],
  agent: ['--agent', 'agent'],
  aliasChatId: ['--alias', 'alias'],
  allowance: ['--limit', 'limit'],
  amount: ['AMOUNT', 'amount'],
  answers: ['answer'],
  apiKey: ['RUNWIRE_API_KEY'],
  apiIntegrationId: ['INTEGRATION', '--integration', 'integration id'],
  baseUrl: ['--url', 'address'],
  can: ['--can', 'permission'],
  chatId: ['CHAT', '--chat', 'chat id'],
  consumerId: ['MEMBER', '--member', 'member id'],
  contentType: ['--type', 'content type'],
  deliveryId: ['DELIVERY', 'delivery id'],
  description: ['--description', 'description'],
  email: ['EMAIL', '--email', 'e-mail address'],
  endpointId: ['ENDPOINT', 'endpoint id'],
  events: ['--events', 'event types'],
  expiresAt: ['--expires', 'end'],
  expiresInSeconds: ['--expires', 'lifetime'],
  filename: ['--name', 'file name'],
  folder: ['FOLDER', '--folder', 'folder'],
  from: ['--from', 'start'],
  groupBy: ['--by', 'group'],
  instructions: ['--instructions', 'instructions'],
  idempotencyKey: ['--key', 'key'],
  integrations: ['--integration', 'integrations'],
  keyId: ['KEY_ID', 'key id'],
  maxRunSeconds: ['time limit'],
  message: ['MESSAGE', '--message', 'message'],
  metadata: ['--metadata', 'metadata'],
  model: ['--model', 'model'],
  name: ['--name', 'name'],
  origins: ['--origin', 'origin'],
  ownerId: ['OWNER_ID', 'owner id'],
  personId: ['PERSON_ID', 'person id'],
  path: ['PATH', '--file', 'path'],
  q: ['--search', 'search text'],
  reason: ['--reason', 'reason'],
  recursive: ['--recursive', 'recursive'],
  role: ['--role', 'role'],
  runId: ['RUN_ID', 'run id'],
  sandboxFiles: ['--file', 'file'],
  sort: ['--sort', 'order'],
  status: ['--status', 'status'],
  title: ['--title', 'title'],
  to: ['--to', 'end'],
  type: ['--type', 'type'],
  types: ['--types', 'types'],
  updatedAfter: ['--after', 'time'],
  url: ['ADDRESS', '--address', 'address'],
  usageRequestId: ['--request', 'request id'],
  user_context: ['--context', 'context'],
  userContext: ['--context', 'context'],
};

/** The command of each operation that sentences of the server name. */
const COMMANDS: Readonly<Record<string, string>> = {
  'GET /v2/agencies': 'agencies list',
  'GET /v2/api_keys': 'keys list',
  'GET /v2/owners': 'owners list',
  'GET /v2/people': 'people list',
  'POST /v2/people': 'people invite',
  'POST /v2/owners': 'owners create',
  'PUT …/members/{consumerId}': 'members set',
};

/** What to do, for codes whose advice is for programs that send requests. It replaces what follows the fact. */
const ADVICE: Readonly<Record<string, string>> = {
  chat_not_found: '`runwire chats list` lists the chats',
  consumer_inactive: 'activate it with `runwire members set MEMBER --active`',
  delivery_not_found: '`runwire webhooks deliveries ENDPOINT` lists the deliveries',
  integration_not_found: '`runwire integrations list` lists yours',
  internal_error: 'its log has the details under this id',
  member_not_found: '`runwire members list` lists the members',
  run_active: 'wait for it, or cancel it with `runwire cancel RUN_ID`',
  run_not_found: '`runwire runs` lists the runs',
  run_timeout: 'ask for less, or raise the limit with `runwire integrations update INTEGRATION --set maxRunSeconds=…`',
  sandbox_file_not_found: 'upload it with `runwire upload`, and pass the path that it prints to --file',
  too_many_webhooks: 'delete one with `runwire webhooks delete ENDPOINT`',
  webhook_not_found: '`runwire webhooks list` lists the endpoints',
};

/** Whole sentences, for codes whose fact is about requests too. */
const SENTENCES: Readonly<Record<string, string>> = {
  method_not_allowed: 'The server does not have this operation; it may be older than this command, or another server.',
  not_found: 'The server does not have this operation; it may be older than this command, or another server.',
  question_not_pending:
    'The question is not open any more: it was answered, or a newer message arrived. `runwire answer CHAT` shows the open ones.',
};

interface Refusal {
  readonly message: string;
  readonly code: string;
  /** The JSON of the answer. */
  readonly body?: Readonly<Record<string, unknown>>;
}

/** Puts a sentence of the server into a command's words: commands and options, not paths and fields. */
export function inCommandWords({ message, code, body = {} }: Refusal, command?: Command): string {
  const sentence = SENTENCES[code];
  if (sentence !== undefined) return sentence;
  const advice = ADVICE[code];
  const [fact = ''] = message.split(/; |\.$/);
  const advised = advice === undefined ? message : `${fact}; ${withRun(advice, body)}.`;
  return (
    advised
      .replace(/; [^;]*`Authorization: Bearer[^;]*$/, '; set RUNWIRE_API_KEY to a complete key of this server.')
      .replace(/(?:GET|POST|PUT) [/…][\w/{}]+/g, (operation) => {
        const found = COMMANDS[operation];
        return found === undefined ? operation : `\`runwire ${found}\``;
      })
      .replace(/ is missing from the (?:body|query|path)/, ' is missing')
      // "this `consumerId`" is a value, not an option.
      .replace(/\b(this|same|new) `(\w+)`/gi, (text, before, field) => {
        const word = FIELDS[field]?.at(-1);
        return word === undefined ? text : `${before} ${word}`;
      })
      .replace(/`(\w+)([.[][\w.[\]]*)?`/g, (text, field) => typed(field, command) ?? text)
  );
}

const withRun = (advice: string, { runId }: NonNullable<Refusal['body']>): string =>
  typeof runId === 'string' ? advice.replace('RUN_ID', runId) : advice;

/** What a person types for a field. Returns null if the field has no name here. */
function typed(field: string, command: Command | undefined): string | null {
  const has = (name: string) =>
    command?.options.some(({ long }) => long === name) ||
    command?.registeredArguments.some((argument) => argument.name() === name);
  const names = FIELDS[field];
  if (names !== undefined) return names.find(has) ?? (has('--set') ? `--set ${field}` : (names.at(-1) ?? null));
  return has('--set') ? `--set ${field}` : null;
}
