/** How a request that came by a compatible API chooses its chat and member. */
export interface ChatRules {
  /** An unknown member is registered with the run, if the integration allows it. */
  readonly registersMember: boolean;
  /** An unknown chat id is refused with `chat_not_found` instead of becoming a new chat. */
  readonly mustExist: boolean;
  /**
   * Earlier turns that the request brings are used only if its chat is new, and are not read otherwise: these clients send
   * the whole conversation each time. With a client token they are refused with `token_forbidden` if the chat is new.
   */
  readonly historyIfNew: boolean;
  /** A request that does not answer every open question of its chat is refused. */
  readonly answersAll: boolean;
  /** A new chat is not listed and is deleted some days after its last run. */
  readonly isTransient: boolean;
  /**
   * The run's id after which the request continues, in whichever chat it is. If it is not the newest run of its chat, the
   * request continues in a fork. An unknown run, or a run of another member, is refused with `run_not_found`.
   */
  readonly afterRunId: string | null;
  /**
   * The request replaces the end of the chat that it names: a fork after the run `after` (null: before the first run) takes
   * over the id of the chat. Null if it does not.
   */
  readonly replacesEnd: { readonly after: string | null } | null;
}

/** The rules of `POST /get_completion_v2`. */
export const OWN_CHAT_RULES: ChatRules = {
  registersMember: false,
  mustExist: false,
  historyIfNew: false,
  answersAll: false,
  isTransient: false,
  afterRunId: null,
  replacesEnd: null,
};
