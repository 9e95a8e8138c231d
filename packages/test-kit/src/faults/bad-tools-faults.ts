import { AgencyCode } from '@runwire/server/src/agencies/process/agency-code.ts';
import { type AgencyProcess, AgencyProcess as Processes } from '@runwire/server/src/agencies/process/agency-process.ts';
import { AgencyProcesses } from '@runwire/server/src/agencies/process/agency-processes.ts';
import { AgencyCodeTable } from '@runwire/server/src/agencies/process/code-table.ts';
import type { LoadAnswer } from '@runwire/server/src/agencies/process/messages.ts';
import type { Overrides } from '@runwire/server/src/compose/overrides.ts';

const RESULT_CHARACTERS = 40_000;

/** The server loads the code of agencies itself, and makes their calls. */
function loadInProcess(): Overrides {
  const tables = new WeakMap<AgencyProcess, AgencyCodeTable>();
  const { ask } = Processes.prototype;
  AgencyProcesses.prototype.load = async (process, { folder, source }) => {
    const table = new AgencyCodeTable(() => {});
    tables.set(process, table);
    const limits = { resultCharacters: RESULT_CHARACTERS, withheld: [] };
    const question = { kind: 'load', folder, source, stripped: new Map(), ...limits } as const;
    return (await table.answer(question, open(undefined))) as LoadAnswer;
  };
  Processes.prototype.ask = async function (this: AgencyProcess, question, options) {
    const table = tables.get(this);
    if (table === undefined || question.kind === 'ping') return ask.call(this, question, options);
    return table.answer(question, open(options?.signal));
  };
  return {};
}

const open = (signal = new AbortController().signal) => ({ signal, progress() {}, part() {}, room: async () => {} });

/** A repeatable call is made again however often it ended its process. */
function repeatForever(): Overrides {
  const { call } = AgencyCode.prototype;
  AgencyCode.prototype.call = async function (this: AgencyCode, ...given) {
    while (true) {
      const outcome = await call.apply(this, given);
      if (!outcome.text.includes('ended its process twice')) return outcome;
    }
  };
  return {};
}

export const BAD_TOOL_FAULTS = { 'in-process': loadInProcess, 'repeat-forever': repeatForever };
