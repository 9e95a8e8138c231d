import { OFFLINE_MODEL } from '@runwire/models';
import { DEMO_INTEGRATION } from '../accounts/first-start.ts';
import type { Config } from '../config/config.ts';
import { VERSION } from '../domain/version.ts';
import type { ServerProblem } from '../mcp/server-problem.ts';
import type { RunningServer } from './running-server.ts';

/**
 * What a start prints for people, line by line. `keyFile` is the file with the line `RUNWIRE_API_KEY=…`, if the key is not
 * a variable of the caller's shell.
 */
export function startSentences(server: StartedServer, config: StartConfig, keyFile?: string): readonly string[] {
  const { resumedRuns, endedRuns, setupLink } = server;
  const allowed = config.fetchAllow.entries;
  const receivers = config.webhookAllow.entries;
  const first = firstParagraphs(server, keyFile);
  return [
    ...addressSentences(server),
    `Console: ${config.publicUrl ?? server.url}/console/`,
    `API reference: ${server.url}/docs`,
    ...(server.metricsUrl === null ? [] : [`Metrics, without a key: ${server.metricsUrl}/metrics`]),
    ...(config.database === null ? [] : [`Database: PostgreSQL at ${config.database.location}`]),
    `Data folder: ${config.dataDir}`,
    filesSentence(config),
    ...(allowed.length === 0 ? [] : [`Files are also fetched from: ${allowed.join(', ')}`]),
    ...tracingSentences(config),
    ...(receivers.length === 0 ? [] : [`Webhooks are also posted to: ${receivers.join(', ')}`]),
    sandboxSentence(server.sandbox),
    ...modelSentences(config, server),
    ...agencySentences(config, server),
    ...(resumedRuns === 0 ? [] : [`Runs left unfinished by the last stop, now resumed: ${resumedRuns}`]),
    ...(endedRuns === 0 ? [] : [`Runs left unfinished by the last stop, now ended: ${endedRuns}`]),
    ...(server.awaitsSetUp && setupLink === null
      ? ['The console is not set up yet; `runwire owners link` prints a new link for it.']
      : []),
    ...(first.length === 0 ? [] : [`\n${first.join('\n\n')}\n`]),
  ];
}

type StartedServer = Pick<
  RunningServer,
  | 'url'
  | 'address'
  | 'metricsUrl'
  | 'apiKey'
  | 'setupLink'
  | 'awaitsSetUp'
  | 'firstIntegration'
  | 'modelLocation'
  | 'usesOfflineModel'
  | 'agencies'
  | 'sandbox'
  | 'resumedRuns'
  | 'endedRuns'
>;

type StartConfig = Pick<
  Config,
  | 'publicUrl'
  | 'database'
  | 'dataDir'
  | 's3'
  | 'fetchAllow'
  | 'webhookAllow'
  | 'model'
  | 'providers'
  | 'agenciesDir'
  | 'tracing'
>;

function tracingSentences({ tracing }: StartConfig): string[] {
  if (tracing === null) return [];
  const contents = tracing.hasContent ? ', with message texts (RUNWIRE_TRACE_CONTENT=true)' : '';
  return [`Traces are sent to: ${new URL(tracing.url).host}${contents}`];
}

/** All addresses of a machine, of either version of IP. */
const EVERY_ADDRESS = /^(?:0\.0\.0\.0|\[::\]):/;

function addressSentences({ address }: Pick<StartedServer, 'address'>): string[] {
  const sentence = `Runwire ${VERSION} listens on http://${address}`;
  if (!EVERY_ADDRESS.test(address)) return [sentence];
  const warning = 'Warning: every computer that can reach this machine can reach the server, without encryption.';
  return [sentence, `${warning} Put a proxy with TLS in front, or set HOST=127.0.0.1.`];
}

export function stoppingSentence(runs: number): string {
  const count = runs === 1 ? '1 active run' : `${runs} active runs`;
  return `Stopping: ${count} may continue for a while; a second signal ends the process immediately.`;
}

/** Reports an MCP server that could not be connected, or some of whose tools cannot be used. */
export function serverSentence({ agency, server, error }: ServerProblem): string {
  return `The MCP server ${server} of the agency ${agency} has a problem: ${error}`;
}

function filesSentence({ s3 }: StartConfig): string {
  if (s3 === null) return 'Files: in the data folder';
  const uploads = s3.uploads === 'direct' ? 'uploads go there directly' : 'uploads go through this server';
  return `Files: in the bucket ${s3.bucket} at ${s3.endpoint ?? `Amazon S3 in ${s3.region}`}; ${uploads}`;
}

function sandboxSentence({ info, reason }: StartedServer['sandbox']): string {
  const because = reason === null ? '' : `; ${reason}`;
  switch (info.kind) {
    case 'bubblewrap':
      return `Sandbox: bubblewrap${info.proc ? '' : ', without /proc'}`;
    case 'just-bash':
      return `Sandbox: just-bash, which runs no programs of this machine${because}`;
    case 'exec':
      return 'Sandbox: the program that RUNWIRE_SANDBOX names';
    case 'off':
      return `Sandbox: off${because}`;
  }
}

/** Returns lines that name the model, and what to set if a provider is set up but not used. */
function modelSentences(
  { model, providers }: StartConfig,
  { modelLocation: location, usesOfflineModel }: StartedServer,
): string[] {
  if (location !== null) return [`The demo agency uses ${model} (${location}).`];
  if (model !== OFFLINE_MODEL) return [`${model} cannot be used: providers.yaml is broken; the log has its faults.`];
  if (!usesOfflineModel) return [];
  const offline = 'the offline demo model answers';
  const unused = providers
    .filter(({ isSet }) => isSet)
    .map(({ name, baseUrl }) => {
      const remedy = `To use ${baseUrl}, set RUNWIRE_MODEL to ${name}/ and the name of one of its models.`;
      return `A provider is set up, but none of its models is chosen: ${offline}. ${remedy}`;
    });
  return unused.length > 0 ? unused : [`No provider key and no RUNWIRE_MODEL is set: ${offline}.`];
}

/** Returns lines that name your agencies, and what is wrong with broken ones. */
function agencySentences({ agenciesDir }: StartConfig, { agencies }: StartedServer): string[] {
  if (agenciesDir === null) return [];
  const advice = 'none; make a folder with an agency.yaml in it, see docs/first-agency.md';
  const broken = agencies.flatMap(({ id, problem }) =>
    problem === null ? [] : [`The agency ${id} is broken: ${id}/${problem}`],
  );
  return [`Agencies in ${agenciesDir}: ${agencies.map(({ id }) => id).join(', ') || advice}`, ...broken];
}

/** What a person needs to begin. Empty at later starts. */
function firstParagraphs({ url, setupLink, apiKey, firstIntegration }: StartedServer, keyFile?: string): string[] {
  const integration = firstIntegration ?? (apiKey === null ? null : DEMO_INTEGRATION);
  return [
    ...(setupLink === null ? [] : [`Your link to set up the console, shown this once:\n\n  ${setupLink}`]),
    ...(apiKey === null ? [] : [`Your API key, shown this once:\n\n  ${apiKey}`]),
    ...(integration === null ? [] : [`Try it:\n\n${curl(url, authorization(apiKey, keyFile), integration)}`]),
  ];
}

/** Returns the header as a word of a shell. A key that the operator chose is not printed. */
function authorization(apiKey: string | null, keyFile?: string): string {
  if (apiKey !== null) return `'Authorization: Bearer ${apiKey}'`;
  if (keyFile === undefined) return '"Authorization: Bearer $RUNWIRE_API_KEY"';
  const file = `'${keyFile.replaceAll("'", "'\\''")}'`;
  return `"Authorization: Bearer $(sed -n s/^RUNWIRE_API_KEY=//p ${file})"`;
}

/** Returns a command that works as pasted. */
function curl(url: string, header: string, apiIntegrationId: string): string {
  const body = JSON.stringify({ apiIntegrationId, message: 'Hello' });
  return [
    `  curl -N ${url}/get_completion_v2 \\`,
    `    -H ${header} \\`,
    "    -H 'Content-Type: application/json' \\",
    `    -d '${body}'`,
  ].join('\n');
}
