import { compileJsonSchema } from '@runwire/lib/json-schema.ts';
import { linearCheck } from '@runwire/lib/linear-check.ts';
import type { LoadedAgency, LoadedAgent } from '../agencies/loaded-agency.ts';
import type { CheckInput, ModelTool } from '../agent/ports.ts';
import { shownFileTools } from '../agent/tools/file-tools.ts';
import { toDay } from '../domain/admission/allowance.ts';
import { Refusal } from '../domain/refusal.ts';
import { aboutMember, getMember } from './about-run.ts';
import { isListed, withApprovalLists } from './approval-lists.ts';
import type { EngineDeps } from './deps.ts';
import type { AnsweringRequest, CheckArguments } from './port.ts';
import { ownToolNames } from './prepared-agency.ts';

/** Servers have 5 s to list their tools. */
const MCP_LIMIT_MS = 10_000;

interface CheckDeps extends Pick<EngineDeps, 'store' | 'mcp' | 'logger'> {
  readonly commandTools: readonly ModelTool[];
}

/** A tool whose calls may be changed now, or why it cannot be. */
type FoundTool = { readonly checkInput: CheckInput } | Refusal;

/** Checks the arguments of answers with the tools of the agency's version that is loaded now: the run begins with it. */
export function openArgumentCheck(deps: CheckDeps): CheckArguments {
  return async (agency, request, changes) => {
    using _ = agency.code?.use();
    for (const { index, agent: name, tool, arguments: changed } of changes) {
      const at = `\`answers[${index}].arguments\``;
      const agent = agency.agents.get(name);
      const found = agent === undefined ? null : await findTool(deps, agency, agent, tool, request);
      if (found instanceof Refusal) return found;
      if (found === null) {
        const sentence = `${at} cannot be checked: \`${name}\` has no tool \`${tool}\` any more whose calls may be changed.`;
        return new Refusal('invalid_request', sentence);
      }
      const checked = await check(deps, found.checkInput, changed);
      if (checked instanceof Refusal) return checked;
      if ('problem' in checked)
        return new Refusal('invalid_request', `${at} is not what the tool \`${tool}\` accepts: ${checked.problem}`);
    }
    return null;
  };
}

/** The process that has the code may end. */
async function check({ logger }: CheckDeps, checkInput: CheckInput, value: unknown) {
  try {
    return await checkInput(value);
  } catch (error) {
    logger.error({ err: error }, 'changed arguments could not be checked by the code of an agency');
    return new Refusal('agency_unavailable', undefined, {}, 1);
  }
}

async function findTool(
  deps: CheckDeps,
  { id }: LoadedAgency,
  agent: LoadedAgent,
  name: string,
  request: AnsweringRequest,
): Promise<FoundTool | null> {
  const own = withApprovalLists(agent, agent.tools).find((tool) => tool.name === name);
  if (own !== undefined) return own.editable === true ? own : null;
  const isBuiltIn = agent.builtIn.some((one) => one === name);
  if (isBuiltIn) {
    const builtIn = [...shownFileTools, ...deps.commandTools].find((tool) => tool.name === name);
    const canChange = builtIn !== undefined && agent.editable.has(name);
    return canChange ? { checkInput: compileJsonSchema(builtIn.inputSchema) } : null;
  }
  return agent.mcp.length === 0 ? null : findMcpTool(deps, id, agent, name, request);
}

/** The schema is the server's, so only what is certain to be quick is checked. The server checks the rest at the call. */
async function findMcpTool(
  { store, mcp }: CheckDeps,
  agency: string,
  agent: LoadedAgent,
  name: string,
  request: AnsweringRequest,
): Promise<FoundTool | null> {
  const servers = mcp(agency);
  try {
    const run = { day: toDay(Date.now()), userContext: request.userContext };
    const about = async () => aboutMember(run, await getMember(store.reads, request));
    const signal = AbortSignal.timeout(MCP_LIMIT_MS);
    const { tools, isComplete } = await servers.tools(agent.mcp, ownToolNames(agent), about, signal);
    const found = tools.find((tool) => tool.name === name);
    if (found !== undefined) {
      return isListed(agent.editable, found) ? { checkInput: linearCheck(found.inputSchema) } : null;
    }
    if (isComplete) return null;
    const sentence = `The tools of an MCP server are not known now, so the arguments of \`${name}\` cannot be checked.`;
    return new Refusal('agency_unavailable', sentence, {}, 5);
  } finally {
    servers.release();
  }
}
