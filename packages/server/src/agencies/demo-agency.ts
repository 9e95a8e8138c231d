import { defineAgency, defineAgent } from '@runwire/agency';
import { calculate } from './demo-tools/calculate.ts';
import { clock } from './demo-tools/clock.ts';

const concierge = defineAgent({
  name: 'Concierge',
  description: 'Answers whatever it is asked.',
  instructions:
    'You are a friendly concierge. Answer briefly and to the point. Ask your clock for the time, and your calculator for sums.',
  tools: [clock, calculate],
});

/** Included so that a new installation has an agent to talk to. */
export const demoAgency = defineAgency({ name: 'Demo', agents: [concierge] });
