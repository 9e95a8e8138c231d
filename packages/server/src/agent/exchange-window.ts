import { promptBytes } from '@runwire/models';
import { estimateTokens } from '../domain/model/usage.ts';
import type { PromptItem } from './ports.ts';
import type { Exchange } from './team.ts';

/**
 * Returns the newest exchanges that fit into the budget, oldest first, as the recipient sees them: without tool calls. It
 * decides by the exchanges alone, so a node that takes the run over shows the same ones.
 */
export function exchangeItems(exchanges: readonly Exchange[], budgetTokens: number): readonly PromptItem[] {
  const shown: (readonly PromptItem[])[] = [];
  let tokens = 0;
  for (const { message, answer } of exchanges.toReversed()) {
    const pair: readonly PromptItem[] = [
      { kind: 'user', text: message },
      ...(answer.trim() === '' ? [] : [{ kind: 'assistant' as const, text: answer }]),
    ];
    tokens += estimateTokens(promptBytes('', pair));
    if (tokens > budgetTokens) break;
    shown.push(pair);
  }
  return shown.reverse().flat();
}
