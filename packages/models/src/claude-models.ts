/**
 * What a model of the Messages protocol accepts. The source is the model table of Anthropic's documentation, as the
 * clients of Anthropic and of the AI SDK contain it.
 */
export interface ClaudeModel {
  readonly maxOutputTokens: number;
  /** `adaptive` if the model decides how much it thinks; `budget` if the request must name a number of tokens. */
  readonly thinking: 'adaptive' | 'budget';
  /** The setting of `thinking` that makes the model think least. Null if the model cannot think less than it decides. */
  readonly leastThinking: 'disabled' | 'between_tools' | null;
  /** True if the model accepts `temperature` and `top_p`. */
  readonly takesSampling: boolean;
  /** True if the model accepts the effort `xhigh`. */
  readonly takesXhigh: boolean;
  /** True if a request may require a tool call. */
  readonly takesForcedCalls: boolean;
  /** True if the model can be held to a JSON Schema. */
  readonly takesSchema: boolean;
}

const BUDGET: ClaudeModel = {
  maxOutputTokens: 4096,
  thinking: 'budget',
  leastThinking: 'disabled',
  takesSampling: true,
  takesXhigh: false,
  takesForcedCalls: true,
  takesSchema: false,
};
const ADAPTIVE: ClaudeModel = { ...BUDGET, maxOutputTokens: 128_000, thinking: 'adaptive', takesSchema: true };
const CURRENT: ClaudeModel = { ...ADAPTIVE, takesSampling: false, takesXhigh: true };
const ALWAYS_THINKING: ClaudeModel = { ...CURRENT, leastThinking: null, takesForcedCalls: false };

/** The first rule whose pattern occurs in the model's name counts. Names have dates and prefixes of other platforms. */
const RULES: readonly (readonly [RegExp, ClaudeModel])[] = [
  [/claude-sonnet-5-5/, { ...ALWAYS_THINKING, leastThinking: 'between_tools' }],
  [/claude-opus-5-5|claude-(fable|mythos)-5/, ALWAYS_THINKING],
  [/claude-(sonnet|opus)-4-6/, ADAPTIVE],
  [/claude-(sonnet|opus|haiku)-4-5/, { ...BUDGET, maxOutputTokens: 64_000, takesSchema: true }],
  [/claude-opus-4-[78]/, CURRENT],
  [/claude-sonnet-4([-@]|$)/, { ...BUDGET, maxOutputTokens: 64_000 }],
  [/claude-opus-4([-@]|$)/, { ...BUDGET, maxOutputTokens: 32_000 }],
  [/claude-(instant|v?2|3)([-.:]|$)/, BUDGET],
  // Newer models are like the current ones.
  [/claude-/, CURRENT],
];

export function claudeModel(name: string): ClaudeModel {
  return RULES.find(([pattern]) => pattern.test(name))?.[1] ?? BUDGET;
}
