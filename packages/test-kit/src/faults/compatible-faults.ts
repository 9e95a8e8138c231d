import type { Overrides } from '@runwire/server/src/compose/overrides.ts';
import { UiAnswer } from '@runwire/server/src/http/compatible/ai-sdk/ui-answer.ts';

/** The UI message stream does not remove what became void. */
function ignoreReset(): Overrides {
  const { read } = UiAnswer.prototype;
  UiAnswer.prototype.read = function (this: UiAnswer, event) {
    if (event.type !== 'resumed') read.call(this, event);
  };
  return {};
}

export const COMPATIBLE_FAULTS = {
  'ignore-reset': ignoreReset,
};
