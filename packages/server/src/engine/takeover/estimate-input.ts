import { parseOwnJson } from '@runwire/lib/strict-json.ts';
import { shownMessage } from '@runwire/models';
import { historyBudget, modelWindow } from '../../domain/model/model-window.ts';
import { BYTES_A_TOKEN, estimateTokens } from '../../domain/model/usage.ts';
import { getBeginningAgent } from '../../domain/run/beginning-agent.ts';
import type { RunEvent, RunItem } from '../../domain/run/events.ts';
import { parseExtras } from '../../domain/run/run-extras.ts';
import type { UnfinishedRun } from '../../store/queries/takeover.ts';
import type { Tx } from '../../store/store.ts';
import { aboutRun } from '../about-run.ts';
import { reachedWindow } from '../agent-windows.ts';
import type { PromptSetting } from '../build-prompt.ts';
import type { EngineDeps } from '../deps.ts';
import { foldItems, type OpenCall, runIdentity, storedMessage } from './stored-run.ts';

interface EstimateDeps extends Pick<EngineDeps, 'agencies' | 'models'> {
  readonly prompt: Pick<PromptSetting, 'windowTokens'>;
}

/**
 * About how many bytes a call's model was sent, without the turns that the model's window had no room for. It is needed for one
 * release: nodes of the version before store no size with a call.
 */
export const inputEstimate =
  (tx: Tx, { agencies, models, prompt }: EstimateDeps, run: UnfinishedRun, stored: readonly RunEvent[]) =>
  async ({ loop, model, firstId }: OpenCall): Promise<number> => {
    const agency = agencies.find(run.agency)?.loaded ?? null;
    // Instructions that a function writes are not counted: code of the agency could keep the transaction open for ever.
    const extras = parseExtras(run.extras_json);
    const beginningAgent = getBeginningAgent({ ...run, extras }, agency?.agents);
    const readInstructions = async (agent = agency?.agents.get(beginningAgent)) => {
      const userContext = run.user_context_json === null ? undefined : parseOwnJson(run.user_context_json);
      return agent?.fixedInstructions(await aboutRun(tx, { ...runIdentity(run), userContext }, agent)) ?? '';
    };
    const added = loop === '' ? extras.instructions : null;
    const instructions = Buffer.byteLength((await readInstructions().catch(() => '')) + (added ?? ''));
    const items = foldItems(stored.filter(({ id }) => id < firstId));
    const sumItems = (isShown: (item: RunItem) => boolean) =>
      items.filter(isShown).reduce((sum, { text }) => sum + Buffer.byteLength(text), instructions);
    // A delegated agent sees its message, which is in the call's arguments, and its own steps.
    const isOwn = (item: RunItem) => ('loop' in item ? (item.loop ?? '') : '') === loop;
    if (loop !== '') return sumItems((item) => isOwn(item) || (item.kind === 'tool_call' && item.callId === loop));
    const { message, sandboxFiles } = await storedMessage(tx, run);
    const own = Buffer.byteLength(shownMessage(message, sandboxFiles));
    const earlier = run.text_bytes - Buffer.byteLength(message) + run.attached_bytes + run.announced_bytes;
    const setting = {
      agencies,
      ofIntegration: run.integration_model,
      models: models(),
      otherwise: prompt.windowTokens,
    };
    const reached = agency === null ? Number.POSITIVE_INFINITY : reachedWindow({ ...setting, agency }, beginningAgent);
    const window = Math.min(reached, setting.models(model)?.windowTokens ?? modelWindow(model, setting.otherwise));
    const budget = historyBudget(window, estimateTokens(instructions + own)) * BYTES_A_TOKEN;
    return sumItems(isOwn) + own + Math.max(0, Math.min(earlier, budget));
  };
