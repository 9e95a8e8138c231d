import type { LoadedAgent } from '../agencies/agencies.ts';
import type { PromptItem } from '../agent/ports.ts';
import type { HistoryItem } from '../chats/heal-history.ts';
import type { Attachment } from '../domain/attachment.ts';
import { planPrompt } from './build-prompt.ts';
import type { EngineDeps } from './deps.ts';
import type { AdmittedRun } from './port.ts';
import { promptAttachment } from './prompt-attachment.ts';
import type { RunAttachments } from './ready-attachments.ts';
import type { StopHandle } from './stop-handle.ts';
import { storeSurely } from './store-surely.ts';

export interface ReadyPrompt {
  readonly prompt: readonly PromptItem[];
  readonly turnsLeftOut: number;
}

/**
 * The prompt with all that it needs in reach: the run's own attachments first, since what they take decides how many of
 * the earlier turns are shown, then those of these turns.
 */
export async function readyPrompt(
  deps: Pick<EngineDeps, 'store' | 'prompt' | 'retryMs'>,
  run: AdmittedRun,
  agent: Pick<LoadedAgent, 'definition' | 'model' | 'tools'>,
  attachments: Pick<RunAttachments, 'ready' | 'read'>,
  stop: StopHandle,
): Promise<ReadyPrompt> {
  const own = await attachments.ready(run.attachments);
  const { items, turnsLeftOut } = await storeSurely(deps, stop, () => {
    stop.signal.throwIfAborted();
    return planPrompt(deps.store.reads, { ...run, attachments: own }, agent, deps.prompt);
  });
  const earlier = items.flatMap(attachmentsOf).filter((one) => !own.some((ready) => ready === one));
  const ready = [...(await attachments.ready(earlier)), ...own];
  const shown = new Map<Attachment, (typeof ready)[number]>();
  for (const [place, one] of [...earlier, ...own].entries()) shown.set(one, ready[place] as (typeof ready)[number]);
  const prompt = items.map((item): PromptItem => {
    if (item.kind !== 'user' || item.attachments === undefined) return item as PromptItem;
    const sent = item.attachments.flatMap((one) => shown.get(one) ?? []);
    return { ...item, attachments: sent.map((one) => promptAttachment(one, attachments)) };
  });
  return { prompt, turnsLeftOut };
}

const attachmentsOf = (item: HistoryItem): readonly Attachment[] =>
  item.kind === 'user' ? (item.attachments ?? []) : [];
