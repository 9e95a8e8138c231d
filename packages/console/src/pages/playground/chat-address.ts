/** The fields of the page's address. */
export interface ChatAddress {
  readonly chat?: string | undefined;
  readonly member?: string | undefined;
  readonly agent?: string | undefined;
  readonly run?: string | undefined;
  /** The agent of the second column, and its chat. */
  readonly with?: string | undefined;
  readonly other?: string | undefined;
}
