/** The store cannot take writes now and may later; nothing of what was asked happened. */
export class StoreUnavailable extends Error {
  override readonly name = 'StoreUnavailable';
}
