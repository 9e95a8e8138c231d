/** One event of AG-UI. */
export const frame = (event: Readonly<Record<string, unknown>>): string => `data: ${JSON.stringify(event)}\n\n`;
