import type { CliCommand, Context } from '../command.ts';
import { connect } from '../connection.ts';
import { EXIT, failureText, toFailure } from '../exit-codes.ts';
import { measureWidth, note, print, printJson, wrapped } from '../output.ts';

interface DoctorOptions {
  readonly url?: string;
  readonly json?: true;
}

interface CheckResult {
  readonly check: string;
  readonly about: string;
  readonly finding: string | null;
}

export function addDoctorCommand(program: CliCommand, { env }: Context): void {
  program
    .command('doctor')
    .explain({
      summary: 'check a set-up, and name the cure of each problem',
      details: [
        'It checks the settings, the store, the files, the model and the sandbox that a server with the same environment variables would use, and with RUNWIRE_AGENCIES_DIR also providers.yaml, the agencies and the programs of their MCP servers. Servers may be running. The model gets one short question, which costs a few tokens; if it does not answer, it gets the question by the other protocol of OpenAI.',
        'With --url it also runs the offline model through the proxies between this machine and the server, for 13 seconds: do they hold streams back, remove headers, or cut silent streams? It needs RUNWIRE_API_KEY.',
        `Exit code ${EXIT.failed}: there is a problem.`,
      ],
      examples: ['runwire doctor', 'runwire doctor --url https://agents.example.com'],
    })
    .option('--url <URL>', 'the address that callers use')
    .printsJson('print the checks as a JSON array of {"check", "about", "finding"}')
    .action(async ({ url, json }: DoctorOptions) => {
      const { diagnose } = await import('@runwire/server');
      const results: CheckResult[] = [...(await diagnose(env))];
      if (!json) for (const result of results) printResult(result);
      if (url !== undefined) {
        const found = await proxyResults(env, url);
        if (!json) for (const result of found) printResult(result);
        results.push(...found);
      }
      const problems = results.filter(({ finding }) => finding !== null).length;
      if (json) printJson(results);
      else note(problems === 0 ? 'No problem was found.' : `Problems: ${problems}`);
      if (problems > 0) process.exitCode = EXIT.failed;
    });
}

async function proxyResults(env: Context['env'], url: string): Promise<CheckResult[]> {
  const findings = await proxyFindings(env, url).catch((error: unknown) => [failureText(toFailure(error))]);
  const all = findings.length === 0 ? [null] : findings;
  return all.map((finding) => ({ check: 'proxy', about: url, finding }));
}

async function proxyFindings(env: Context['env'], url: string): Promise<string[]> {
  const { checkProxy, PROXY_TIMES } = await import('../check-proxy.ts');
  const { WatchedFetch } = await import('../watched-fetch.ts');
  const watched = new WatchedFetch(fetch);
  const client = await connect(env, { url }, { fetch: watched.fetch });
  return await checkProxy(client, watched, PROXY_TIMES);
}

function printResult({ check, about, finding }: CheckResult): void {
  const start = `${finding === null ? 'ok     ' : 'PROBLEM'}  ${check.padEnd(9)}  `;
  const lines = wrapped(finding ?? about, measureWidth(process.stdout) - start.length);
  for (const [index, line] of lines.entries()) print(`${index === 0 ? start : ' '.repeat(start.length)}${line}`);
}
