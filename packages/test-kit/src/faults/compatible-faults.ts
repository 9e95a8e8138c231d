import type { Overrides } from '@runwire/server/src/compose/overrides.ts';
import { AgUiEncoder } from '@runwire/server/src/http/compatible/ag-ui/ag-ui-encoder.ts';

/** Messages of AG-UI have no end. */
function leaveOpen(): Overrides {
  const { page } = AgUiEncoder.prototype;
  AgUiEncoder.prototype.page = function (this: AgUiEncoder, ...args) {
    const made = page.apply(this, args);
    return { ...made, data: String(made.data).replace(/^data: \{"type":"TEXT_MESSAGE_END".*\n\n/gm, '') };
  };
  return {};
}

export const COMPATIBLE_FAULTS = { 'leave-open': leaveOpen };
