import { defineTool } from '@runwire/agency';

interface ClockInput {
  readonly timeZone?: string;
}

export const clock = defineTool({
  name: 'clock',
  description: 'Tells the date and time, in UTC or in the time zone asked for.',
  inputSchema: {
    type: 'object',
    properties: {
      timeZone: { type: 'string', description: 'An IANA time zone such as Europe/Athens; UTC if not given.' },
    },
    additionalProperties: false,
  },
  repeatable: true,
  execute(input) {
    const { timeZone = 'UTC' } = input as ClockInput;
    const now = new Date();
    // Throws if the zone is unknown. The model receives the error.
    const local = new Intl.DateTimeFormat('en-GB', { timeZone, dateStyle: 'full', timeStyle: 'long' }).format(now);
    return { utc: now.toISOString(), timeZone, local };
  },
});
