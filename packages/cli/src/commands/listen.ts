import { hostname } from 'node:os';
import type { Runwire, WebhookEndpointWithSecret } from '@runwire/client';
import type { CliCommand, Context } from '../command.ts';
import { connectToIntegration, type IntegrationOptions } from '../connection.ts';
import { EXIT, failureText, hasCode, toFailure, UsageError } from '../exit-codes.ts';
import { leave, onEndSignal } from '../interrupts.ts';
import { jsonLine, measureWidth, note, print, shortened } from '../output.ts';
import { toEvents } from '../request-options.ts';
import { type Attempt, WebhookForwarder } from '../webhook-forwarder.ts';

interface ListenOptions extends IntegrationOptions {
  readonly forwardTo: string;
  readonly events?: string;
  readonly json?: true;
}

/** A server sends everything that happens this long after an endpoint was made, or later. */
const READY_MS = 5000;

export function addListenCommand(webhooks: CliCommand, { env }: Context): void {
  webhooks
    .command('listen')
    .explain({
      summary: 'forward events to a local address while you develop',
      details: [
        'It creates an endpoint without an address, posts its events from this machine, signed with its secret, and deletes it at its end. Any http or https address is accepted; redirects are not followed.',
        'An event that is not answered with 2xx is posted at most three times. Ctrl-C ends it.',
        'While it runs, `webhooks test`, `redeliver` and `replay` work with its endpoint.',
      ],
      examples: [
        'runwire webhooks listen --forward-to http://127.0.0.1:3000/hook',
        'runwire webhooks listen --forward-to http://127.0.0.1:3000 --events run.asked',
      ],
    })
    .requiredOption('--forward-to <ADDRESS>', 'the address of your receiver')
    .option('--events <TYPES>', 'types of events to forward, with commas between them; default: all')
    .printsJson('print the endpoint with its secret, then each attempt, as one line of JSON')
    .asksIntegration()
    .action(async (options: ListenOptions) => {
      const forwardTo = toAddress(options.forwardTo);
      const client = await connectToIntegration(env, options);
      const description = `runwire webhooks listen on ${hostname()}`;
      const endpoint = await client.webhooks.create({ url: null, ...toEvents(options.events), description });
      try {
        await listen(client, endpoint, { ...options, forwardTo });
      } finally {
        await deleteEndpoint(client, endpoint);
      }
    });
}

function toAddress(text: string): string {
  if (URL.canParse(text) && /^https?:/.test(text)) return text;
  throw new UsageError(`--forward-to is \`${text}\`; write an address such as http://127.0.0.1:3000/hook.`);
}

/** Resolves after Ctrl-C, and rejects if the endpoint cannot be followed any more. */
async function listen(client: Runwire, endpoint: WebhookEndpointWithSecret, options: ListenOptions): Promise<void> {
  const { forwardTo, json } = options;
  const stop = new AbortController();
  using _interrupt = onEndSignal(() => {
    if (stop.signal.aborted) leave();
    stop.abort();
  });
  if (json) print(jsonLine(endpoint));
  else note(`Events of ${endpoint.endpointId} are posted to ${forwardTo}. Their secret is ${endpoint.secret}`);
  const ready = setTimeout(() => note('Ready. Press Ctrl-C to end.'), READY_MS);
  try {
    const show = (attempt: Attempt) => (json ? print(jsonLine(attempt)) : printAttempt(attempt));
    await new WebhookForwarder(client, endpoint, { forwardTo, show, warn: note, signal: stop.signal }).run();
  } catch (error) {
    if (!stop.signal.aborted) throw error;
    process.exitCode = EXIT.interrupted;
  } finally {
    clearTimeout(ready);
  }
}

async function deleteEndpoint(client: Runwire, { endpointId }: WebhookEndpointWithSecret): Promise<void> {
  try {
    await client.webhooks.delete({ endpointId });
  } catch (error) {
    if (hasCode(error, 'webhook_not_found')) return;
    const cure = `delete it with \`runwire webhooks delete ${endpointId}\``;
    note(`The endpoint was not deleted; ${cure}. ${failureText(toFailure(error))}`);
  }
}

function printAttempt({ at, type, runId, deliveryId, status, error, nextInSeconds, milliseconds }: Attempt): void {
  const outcome = [status, error].filter((part) => part !== null).join(' ');
  const next = nextInSeconds === null ? '' : `; again in ${nextInSeconds} s`;
  const line = `${at.slice(11, 19)}  ${type}  ${runId ?? deliveryId}  ${outcome}${next}  (${milliseconds} ms)`;
  print(shortened(line, measureWidth(process.stdout)));
}
