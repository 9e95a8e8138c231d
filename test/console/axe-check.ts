import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import type { CDPSession } from 'playwright-core';

const source = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');

/** WCAG 2.2 AA with everything that it contains, and what axe recommends beyond it. */
const TAGS = ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice'];

/** axe leaves this rule of WCAG 2.2 out unless it is named. */
const OPTIONS = { runOnly: TAGS, rules: { 'target-size': { enabled: true } }, resultTypes: ['violations'] };

const RUN = `axe.run(document, ${JSON.stringify(OPTIONS)}).then(({ violations }) => violations.flatMap(
  ({ id, help, nodes }) => nodes.map(({ target, html, any, all, none }) => ({
    id, help, target: target.flat(Infinity).join(' '), html,
    reason: [...any, ...all, ...none][0]?.message ?? '',
  })),
))`;

interface AxeFinding {
  readonly id: string;
  readonly help: string;
  readonly target: string;
  readonly html: string;
  readonly reason: string;
}

const MAX_HTML = 160;

/**
 * Runs all rules of axe on the page as it is now. It runs in a world of its own: the policy of the page forbids scripts
 * of others, and must stay in force. Returns one line for each finding: the rule, the element and the reason.
 */
export async function axeFindings(session: CDPSession): Promise<string[]> {
  const { frameTree } = await session.send('Page.getFrameTree');
  const world = { frameId: frameTree.frame.id, worldName: 'axe' };
  const { executionContextId: contextId } = await session.send('Page.createIsolatedWorld', world);
  // The world lives as long as the document. To load axe takes 250 ms.
  if ((await evaluate(session, contextId, 'typeof axe')) === 'undefined') {
    await evaluate(session, contextId, `${source};0`);
  }
  const findings = (await evaluate(session, contextId, RUN)) as AxeFinding[];
  return findings.map(
    ({ id, help, target, html, reason }) => `${id} (${help}): ${target}: ${html.slice(0, MAX_HTML)}: ${reason}`,
  );
}

async function evaluate(session: CDPSession, contextId: number, expression: string): Promise<unknown> {
  const options = { expression, contextId, awaitPromise: true, returnByValue: true };
  const { result, exceptionDetails } = await session.send('Runtime.evaluate', options);
  if (exceptionDetails !== undefined) {
    throw new Error(`axe: ${exceptionDetails.exception?.description ?? exceptionDetails.text}`);
  }
  return result.value;
}
