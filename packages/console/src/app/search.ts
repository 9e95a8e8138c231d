/**
 * Reads the address's named fields. It contains every list's state as plain text, so that a link to a page
 * shows the same page.
 */
export const searchFields =
  <const Name extends string>(...names: readonly Name[]) =>
  (search: Readonly<Record<string, unknown>>): Partial<Readonly<Record<Name, string>>> =>
    Object.fromEntries(
      names.flatMap((name) => {
        const value = search[name];
        return value === undefined || value === '' ? [] : [[name, String(value)]];
      }),
    ) as Partial<Readonly<Record<Name, string>>>;

/** Changes some fields of the address. An empty text removes a field. */
export const changedSearch =
  <Search extends Readonly<Record<string, string>>>(changed: { readonly [Name in keyof Search]?: string }) =>
  (search: Search): Search =>
    Object.fromEntries(Object.entries({ ...search, ...changed }).filter(([, value]) => value !== '')) as Search;
