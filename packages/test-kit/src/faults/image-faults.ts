import { FinishedSteps } from '@runwire/server/src/agent/finished-steps.ts';
import type { Overrides } from '@runwire/server/src/compose/overrides.ts';

/** A later attempt shows the outcomes of calls without their images. */
function dropImageOnResume(): Overrides {
  const { outcome } = FinishedSteps.prototype;
  FinishedSteps.prototype.outcome = function (this: FinishedSteps, callId) {
    const found = outcome.call(this, callId);
    if (found?.images === undefined) return found;
    const { images: _, ...text } = found;
    return text;
  };
  return {};
}

export const IMAGE_FAULTS = { 'drop-image-on-resume': dropImageOnResume };
