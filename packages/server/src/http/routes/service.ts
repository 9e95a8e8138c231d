import { AgencyFile, EvalFile, operations } from '@runwire/contract/schemas';
import type { FastifyInstance, FastifyReply } from 'fastify';
import { type Agencies, type ListedAgency, toolNames } from '../../agencies/agencies.ts';
import { type LoadedAgency, type LoadedAgent, usesSandbox } from '../../agencies/loaded-agency.ts';
import { reaches } from '../../domain/account/role-refusals.ts';
import { decodeCursor } from '../../domain/list-cursor.ts';
import { cursorBy, pageOfRows } from '../../domain/list-page.ts';
import { Refusal } from '../../domain/refusal.ts';
import type { GuardrailPosition } from '../../domain/run/guardrail-record.ts';
import { iso } from '../../domain/time.ts';
import type { Nodes } from '../../nodes/node-list.ts';
import { agencyProcessJson, type IsOwnRun } from '../agency-process-json.ts';
import { DOCS_POLICY, type OpenApiDocument, renderDocs } from '../docs/render-docs.ts';
import { METRICS_TYPE } from '../metrics-listener.ts';
import { publicPath } from '../public-path.ts';
import { route } from '../route.ts';

/** What the models of an agency read. */
interface ShownGuardrail {
  readonly name: string;
  readonly on: GuardrailPosition;
}

export interface ShownDefinition {
  readonly sharedInstructions: string;
  readonly guardrails: readonly ShownGuardrail[];
  readonly agents: readonly {
    readonly name: string;
    readonly instructions: string | null;
    readonly tools: readonly {
      readonly name: string;
      readonly description: string;
      readonly inputSchema: object;
      readonly server: string | null;
    }[];
    readonly output: object | null;
    readonly guardrails: readonly ShownGuardrail[];
  }[];
}

interface McpState {
  readonly server: string;
  readonly state: string;
  readonly tools: number;
  readonly error: string | null;
  /** In milliseconds since 1970. */
  readonly since: number;
  readonly lastOutput: string | null;
}

export interface ServiceRoutesDeps {
  readonly agencies: Agencies;
  readonly defineAgency: (loaded: LoadedAgency) => ShownDefinition;
  /** The MCP servers of an agency. */
  readonly mcpStates: (agency: string) => readonly McpState[];
  /** Resolves to undefined if the run does not exist. */
  readonly findRun: (
    runId: string,
  ) => Promise<{ readonly owner_id: string; readonly integration_id: string } | undefined>;
  /** Rejects, or returns what is missing, while the server cannot accept requests. */
  readonly isReady: () => Promise<boolean>;
  readonly storeKind: string;
  /** Shown as it is. */
  readonly sandbox: { readonly kind: string };
  readonly metrics: () => string;
  readonly nodes: Nodes;
  readonly publicUrl: string | null;
}

export function serviceRoutes(app: FastifyInstance, deps: ServiceRoutesDeps): void {
  const { agencies, defineAgency, mcpStates, findRun, isReady, storeKind, sandbox, metrics, nodes, publicUrl } = deps;

  route(app, operations.listAgencies, async ({ principal, query }) => {
    // Agencies have no time of creation. The agency that was loaded last is first.
    const listed = agencies.list().toReversed();
    const start = decodeCursor(query.cursor)?.createdAt ?? 0;
    const limit = query.limit ?? 50;
    const isOwnRun: IsOwnRun = async (runId) => {
      const run = await findRun(runId);
      return run?.owner_id === principal.ownerId && reaches(principal, run.integration_id);
    };
    // What a program writes to stderr can quote runs of other owners.
    const seesOutput = principal.administrator && principal.role === 'manager' && principal.integrations === null;
    const states = (agency: string) =>
      mcpStates(agency).map((state) => (seesOutput ? state : { ...state, lastOutput: null }));
    const shown = listed.slice(start, start + limit + 1).map(async (agency, index) => ({
      place: start + index,
      agency: {
        ...agencyJson(agencies, agency, states(agency.id)),
        process: await agencyProcessJson(agency.loaded?.code ?? null, isOwnRun),
      },
    }));
    const at = (row: { place: number }) => ({ createdAt: row.place + 1, id: '' });
    return pageOfRows(await Promise.all(shown), limit, cursorBy(at), ({ agency }) => agency);
  });

  route(app, operations.getAgencyDefinition, async ({ params: { agency } }) => {
    const listed = agencies.find(agency);
    if (listed === undefined) throw new Refusal('unknown_agency');
    const { loaded } = listed;
    const nothing: ShownDefinition = { sharedInstructions: '', guardrails: [], agents: [] };
    return { agency, version: loaded?.version ?? null, ...(loaded === null ? nothing : defineAgency(loaded)) };
  });

  route(app, operations.listNodes, async ({ principal, query }) => nodes.list(principal, query));

  route(app, operations.getRoot, async (_request, reply) => reply.redirect(`${publicPath(publicUrl)}/console/`));

  const health = async () => ({ status: 'ok' });
  route(app, operations.getHealth, health);
  route(app, operations.headHealth, health);

  const readiness = async () => {
    const ready = await isReady().catch(() => false);
    if (!ready) throw new Refusal('unavailable', undefined, {}, 1);
    return { status: 'ok', store: storeKind, sandbox };
  };
  route(app, operations.getReadiness, readiness);
  route(app, operations.headReadiness, readiness);

  route(app, operations.getMetrics, async (_request, reply) => reply.type(METRICS_TYPE).send(metrics()));

  const openApi = async () => app.describe();
  route(app, operations.getOpenApi, openApi);
  route(app, operations.headOpenApi, openApi);

  route(app, operations.getAgencySchema, async () => AgencyFile);
  route(app, operations.getEvalSchema, async () => EvalFile);

  let rendered: string | null = null;
  const docs = async (_request: unknown, reply: FastifyReply) => {
    rendered ??= renderDocs((await app.describe()) as unknown as OpenApiDocument);
    return reply
      .type('text/html; charset=utf-8')
      .header('content-security-policy', DOCS_POLICY)
      .header('referrer-policy', 'no-referrer')
      .header('cache-control', 'no-cache')
      .send(rendered);
  };
  route(app, operations.getDocs, docs);
  route(app, operations.headDocs, docs);
}

/** The tools that have the field, and the tools in the agent's list. */
const listed = ({ tools, ...agent }: LoadedAgent, field: 'editable' | 'remember'): readonly string[] => [
  ...new Set([...tools.filter((tool) => tool[field] === true).map(({ name }) => name), ...agent[field]]),
];

/** The tools whose calls need or may need an approval, without those of MCP servers. */
function getApproval({ tools, approval }: LoadedAgent): readonly string[] {
  const own = tools.flatMap(({ name, asks }) => (asks?.kind === 'approval' ? [name] : []));
  return [...new Set([...own, ...approval])];
}

function agencyJson(agencies: Agencies, { id, loaded, error }: ListedAgency, mcp: readonly McpState[]) {
  const agents = [...(loaded?.agents.values() ?? [])];
  return {
    agency: id,
    name: loaded?.name ?? id,
    defaultAgent: loaded?.defaultAgent ?? null,
    entryPoints: loaded?.entryPoints ?? [],
    agents: agents.map((agent) => ({
      name: agent.name,
      description: agent.description === '' ? null : agent.description,
      model: loaded === null ? null : agencies.getModel(loaded, agent, null),
      fallback: agent.fallback,
      tools: toolNames(agent),
      approval: getApproval(agent),
      editable: listed(agent, 'editable'),
      remember: listed(agent, 'remember'),
      conditional: agent.tools.flatMap(({ name, isEnabled }) => (isEnabled === undefined ? [] : [name])),
      sandbox: usesSandbox(agent),
      starters: agent.starters,
    })),
    flows: agents.flatMap(({ name, flows }) =>
      flows.map(({ to, kind, lasts = null, isEnabled }) => {
        const conditional = isEnabled !== undefined;
        return { from: name, to, kind, lasts, conditional };
      }),
    ),
    source: loaded?.source ?? null,
    version: loaded?.version ?? null,
    longChats: loaded === null ? null : loaded.longChats.isSummarized ? 'summarize' : 'leave_out',
    summaryModel: loaded?.longChats.modelId ?? null,
    loadedAt: loaded === null ? null : iso(loaded.loadedAt),
    mcp: mcp.map(({ server, state, tools, error: problem, since, lastOutput }) => ({
      server,
      state,
      tools,
      error: problem,
      since: iso(since),
      lastOutput,
    })),
    error,
  };
}
