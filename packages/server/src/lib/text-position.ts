/** Describes an offset for a person: `line 3, column 7`, both counted from 1, in characters. */
export function textPosition(text: string, offset: number): string {
  const before = text.slice(0, offset);
  const lineStart = before.lastIndexOf('\n') + 1;
  let line = 1;
  for (let at = before.indexOf('\n'); at !== -1; at = before.indexOf('\n', at + 1)) line += 1;
  let column = 1;
  for (const _ of before.slice(lineStart)) column += 1;
  return `line ${line}, column ${column}`;
}
