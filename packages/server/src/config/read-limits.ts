import { DEFAULT_LIMITS, type Limits, SettingRefused } from './config.ts';

interface LimitSetting {
  readonly limit: keyof Limits;
  /** Converts the unit of the setting to the unit of the limit. */
  readonly scale: number;
  readonly min: number;
  readonly max: number;
}

const MEBIBYTE = 1024 * 1024;
const DAY_SECONDS = 86_400;
const PEBIBYTE = 2 ** 50;

/** Limits that are settings: whole numbers, in the unit at the end of the name. */
export const LIMIT_SETTINGS: Readonly<Record<string, LimitSetting>> = {
  RUNWIRE_MAX_BODY_BYTES: { limit: 'bodyBytes', scale: 1, min: 1024, max: 256 * MEBIBYTE },
  RUNWIRE_MAX_REQUEST_SECONDS: { limit: 'requestMs', scale: 1000, min: 1, max: DAY_SECONDS },
  RUNWIRE_MAX_REQUEST_IDLE_SECONDS: { limit: 'requestIdleMs', scale: 1000, min: 1, max: DAY_SECONDS },
  RUNWIRE_MAX_MESSAGE_CHARACTERS: { limit: 'messageCharacters', scale: 1, min: 1, max: 256 * MEBIBYTE },
  RUNWIRE_MAX_USER_CONTEXT_BYTES: { limit: 'userContextBytes', scale: 1, min: 1, max: 256 * MEBIBYTE },
  RUNWIRE_MAX_IMAGE_BYTES: { limit: 'imageBytes', scale: 1, min: 1, max: 256 * MEBIBYTE },
  // Half of `attachmentsBytes`: an owner may hold no more if there are several.
  RUNWIRE_MAX_ATTACHMENT_BYTES: { limit: 'attachmentBytes', scale: 1, min: 1, max: 128 * MEBIBYTE },
  RUNWIRE_MAX_ATTACHMENT_SECONDS: { limit: 'attachmentMs', scale: 1000, min: 1, max: DAY_SECONDS },
  RUNWIRE_MAX_ATTACHMENT_PAGES: { limit: 'attachmentPages', scale: 1, min: 1, max: 100_000 },
  RUNWIRE_MAX_ATTACHMENT_CHARACTERS: { limit: 'attachmentCharacters', scale: 1, min: 1, max: 10_000_000 },
  RUNWIRE_MAX_CONVERSION_SECONDS: { limit: 'conversionMs', scale: 1000, min: 1, max: DAY_SECONDS },
  RUNWIRE_MAX_BODY_VALUES: { limit: 'bodyValues', scale: 1, min: 100, max: 10_000_000 },
  RUNWIRE_MAX_RUN_SECONDS: { limit: 'maxRunSeconds', scale: 1, min: 1, max: DAY_SECONDS },
  RUNWIRE_MAX_SILENCE_SECONDS: { limit: 'modelSilenceMs', scale: 1000, min: 1, max: DAY_SECONDS },
  RUNWIRE_MAX_STEPS: { limit: 'stepsPerRun', scale: 1, min: 1, max: 10_000 },
  // 1 ends a run whose server died.
  RUNWIRE_MAX_ATTEMPTS: { limit: 'maxAttempts', scale: 1, min: 1, max: 1000 },
  // 0 reserves only for the text of the prompt.
  RUNWIRE_RESERVE_TOKENS: { limit: 'reserveTokens', scale: 1, min: 0, max: 999_999_999 },
  RUNWIRE_MAX_ACTIVE_RUNS: { limit: 'activeRuns', scale: 1, min: 1, max: 1_000_000 },
  RUNWIRE_MAX_STREAMS_PER_MEMBER: { limit: 'streamsPerMember', scale: 1, min: 1, max: 1_000_000 },
  RUNWIRE_MAX_STREAMS_PER_KEY: { limit: 'streamsPerKey', scale: 1, min: 1, max: 1_000_000 },
  RUNWIRE_MAX_STREAMS_PER_OWNER: { limit: 'streamsPerOwner', scale: 1, min: 1, max: 1_000_000 },
  // 0 compacts a run at the next sweep after its end.
  RUNWIRE_LOG_DAYS: { limit: 'logMs', scale: DAY_SECONDS * 1000, min: 0, max: 36_500 },
  // 0: each erasure rewrites the database.
  RUNWIRE_ERASE_REWRITE_MINUTES: { limit: 'eraseRewriteMs', scale: 60_000, min: 0, max: DAY_SECONDS / 60 },
  RUNWIRE_MODEL_WINDOW: { limit: 'modelWindowTokens', scale: 1, min: 1000, max: 999_999_999 },
  RUNWIRE_DRAIN_SECONDS: { limit: 'drainMs', scale: 1000, min: 0, max: DAY_SECONDS },
  RUNWIRE_HAND_OVER_SECONDS: { limit: 'handOverMs', scale: 1000, min: 0, max: DAY_SECONDS },
  // 0: no quota.
  RUNWIRE_MOUNT_QUOTA_BYTES: { limit: 'mountQuotaBytes', scale: 1, min: 0, max: PEBIBYTE },
  RUNWIRE_MEMBER_QUOTA_BYTES: { limit: 'memberQuotaBytes', scale: 1, min: 0, max: PEBIBYTE },
  // Node itself needs 50 MiB.
  RUNWIRE_AGENCY_MEMORY_MIB: { limit: 'agencyMemoryMib', scale: 1, min: 64, max: 1_048_576 },
  // The most that a model may ask for.
  RUNWIRE_SANDBOX_SECONDS: { limit: 'commandSeconds', scale: 1, min: 1, max: 300 },
  // Node, which interprets the commands of just-bash, needs 100 MiB itself.
  RUNWIRE_SANDBOX_MEMORY_MIB: { limit: 'commandMemoryMib', scale: 1, min: 128, max: 1_048_576 },
  RUNWIRE_SANDBOX_PROCESSES: { limit: 'commandProcesses', scale: 1, min: 8, max: 32_768 },
  RUNWIRE_SANDBOX_FILE_MIB: { limit: 'commandFileBytes', scale: MEBIBYTE, min: 1, max: 1_048_576 },
};

export function readLimits(env: Readonly<Record<string, string | undefined>>): Limits {
  const given: Partial<Record<keyof Limits, number>> = {};
  for (const [name, { limit, scale, min, max }] of Object.entries(LIMIT_SETTINGS)) {
    const text = env[name];
    if (text === undefined || text === '') continue;
    const value = Number(text);
    if (!/^\d{1,16}$/.test(text) || value < min || value > max) {
      throw new SettingRefused(`${name} is \`${text}\`; set it to a whole number from ${min} to ${max}.`);
    }
    given[limit] = value * scale;
  }
  const limits = { ...DEFAULT_LIMITS, ...given };
  // If there are several owners, each has half of the bytes of all bodies: one body must fit into a half.
  return { ...limits, bodiesBytes: Math.max(limits.bodiesBytes, 2 * limits.bodyBytes) };
}
