/** A sentence of the API or the console, in which backticks mark code. */
export function Prose({ text }: { readonly text: string }) {
  return text.split('`').map((part, index) =>
    // biome-ignore lint/suspicious/noArrayIndexKey: the parts of a sentence have no other identity.
    index % 2 === 1 ? <code key={index}>{part}</code> : part,
  );
}
