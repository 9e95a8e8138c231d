import type { ModelCall, ModelController } from '@runwire/test-kit';

export const isSummaryCall = ({ request }: Pick<ModelCall, 'request'>): boolean =>
  request.instructions.startsWith('You sum up');

const FACT = /FACT-\d+/g;

/** The facts in a text, each once, in the order in which they were stated. */
export const findFacts = (text: string): string[] => [...new Set(text.match(FACT) ?? [])];

/** What a model was sent, as text. */
export const sentText = ({ request }: Pick<ModelCall, 'request'>): string =>
  request.prompt.map((item) => ('text' in item ? item.text : '')).join('\n');

/** Answers every call. A summary has the facts of its messages, so that a fact which is lost once stays lost. */
export function answerWithFacts(controller: ModelController, answer: (call: ModelCall) => string): void {
  controller.onCall = async (call) => {
    await call.text(isSummaryCall(call) ? `Facts: ${findFacts(sentText(call)).join(' ')}` : answer(call));
    await call.end();
  };
}
