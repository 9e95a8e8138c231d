import { stat } from 'node:fs/promises';
import { basename, dirname, join, resolve } from 'node:path';
import { type Fault, faultLine } from '../agencies/fault.ts';
import { OpenedModels } from '../compose/open-models.ts';
import { openProcesses } from '../compose/open-processes.ts';
import { serverSentence } from '../compose/start-sentences.ts';
import { tryServers } from '../compose/try-servers.ts';
import { type Environment, readConfig } from '../config/read-config.ts';
import { createLogger } from '../telemetry/logger.ts';
import type { CommandOutcome } from './command-outcome.ts';
import { type InspectedAgency, inspectAgencies } from './inspect-agencies.ts';

const AGENCY_FILES = ['agency.yaml', 'agency.ts'];

/** Checks the agency in a folder, or all agencies below it, as a server with the same settings would. */
export async function checkAgencies(env: Environment, folder: string): Promise<CommandOutcome> {
  const path = resolve(folder);
  if ((await stat(path).catch(() => null))?.isDirectory() !== true) {
    throw new Error(`${folder} is not a folder; name the folder of an agency, or a folder of agencies.`);
  }
  const isAgency = (await Promise.all(AGENCY_FILES.map((name) => exists(join(path, name))))).includes(true);
  const agenciesDir = isAgency ? dirname(path) : path;
  const { config, secrets } = readConfig({
    ...env,
    RUNWIRE_AGENCIES_DIR: agenciesDir,
    RUNWIRE_AGENCIES_WATCH: undefined,
  });
  const { limits } = config;
  const logger = createLogger('silent');
  using processes = openProcesses(config, secrets, { limits, logger, metrics: null });
  await using models = new OpenedModels(config, secrets, { limits, logger, processes });
  await models.load();
  const inspected = await inspectAgencies(
    agenciesDir,
    config,
    secrets,
    { models, processes },
    isAgency ? basename(path) : null,
  );
  if (inspected.length === 0) return { text: `${folder} has no agencies.`, isWhole: false };
  const reports: CommandOutcome[] = isAgency ? [] : providersReport(models.faults);
  reports.push(...inspected.map(agencyReport));
  const whole = inspected.flatMap(({ loaded }) => loaded ?? []);
  // The files are right, and the server may run elsewhere, so this is no fault of the agency.
  for (const problem of await tryServers(whole, { config, secrets }))
    reports.push({ text: serverSentence(problem), isWhole: true });
  return { text: reports.map(({ text }) => text).join('\n'), isWhole: reports.every(({ isWhole }) => isWhole) };
}

/** Empty if the file is right. If one agency is checked, its own report names the fault that concerns it. */
function providersReport(faults: readonly Fault[]): CommandOutcome[] {
  return faults.length === 0 ? [] : [{ text: faults.map(faultLine).join('\n'), isWhole: false }];
}

function agencyReport({ id, loaded, faults, evals }: InspectedAgency): CommandOutcome {
  if (loaded === null || faults.length > 0)
    return { text: faults.map((fault) => `${id}/${faultLine(fault)}`).join('\n'), isWhole: false };
  const cases = evals.reduce((sum, suite) => sum + suite.cases.length, 0);
  const counts = [countText(loaded.agents.size, 'agent'), ...(cases === 0 ? [] : [countText(cases, 'eval case')])];
  return { text: `${id}: ok (${[loaded.source, ...counts].join(', ')})`, isWhole: true };
}

const countText = (count: number, noun: string) => `${count} ${noun}${count === 1 ? '' : 's'}`;

const exists = (path: string) =>
  stat(path).then(
    () => true,
    () => false,
  );
