import { AgencyCode } from '@runwire/server/src/agencies/process/agency-code.ts';
import type { Overrides } from '@runwire/server/src/compose/overrides.ts';

/** Every call is repeated if its process ends. */
function repeatCalls(): Overrides {
  const { call } = AgencyCode.prototype;
  AgencyCode.prototype.call = function (this: AgencyCode, tool, ...rest) {
    return call.call(this, { ...tool, repeatable: true }, ...rest);
  };
  return {};
}

/** Earlier versions of an agency stay loaded. */
function keepModules(): Overrides {
  AgencyCode.prototype.retire = () => {};
  return {};
}

/** A run makes its calls with the version that is loaded now. */
function mixVersions(): Overrides {
  const { retire } = AgencyCode.prototype;
  AgencyCode.prototype.retire = function (this: AgencyCode, successor) {
    retire.call(this, successor);
    this.end();
  };
  return {};
}

export const PROCESS_FAULTS = {
  'repeat-calls': repeatCalls,
  'keep-modules': keepModules,
  'mix-versions': mixVersions,
};
