import { defineAgency, defineAgent, delegate, handOff } from '@runwire/agency';
import { calculate } from './demo-tools/calculate.ts';
import { clock } from './demo-tools/clock.ts';

const concierge = defineAgent({
  name: 'Concierge',
  description: 'Answers whatever it is asked.',
  instructions:
    'You are a friendly concierge. Answer briefly and to the point. Ask your clock for the time, and your calculator for sums. ' +
    'If the user plans a trip, ask Guide for places and Accountant for the costs, both in one answer. Then hand over to Guide.',
  tools: [clock, calculate],
  starters: ['What time is it in Athens?', 'Plan 3 days in Athens for 80 euros a day.'],
});

const guide = defineAgent({
  name: 'Guide',
  description: 'Knows places, and writes plans of trips.',
  instructions:
    'You are a city guide. Another agent asks you for places: name three, one sentence each. ' +
    'If you have taken over the conversation, write the plan from what is known, day by day, with the costs.',
  files: false,
});

const accountant = defineAgent({
  name: 'Accountant',
  description: 'Calculates what a trip costs.',
  instructions: 'You are an accountant. Calculate with your calculator, and answer with the sum and how you got it.',
  tools: [calculate],
  files: false,
});

/**
 * Included so that a new installation has agents to talk to. They show a tool, two delegations in one answer, and a
 * hand-off.
 */
export const demoAgency = defineAgency({
  name: 'Demo',
  agents: [concierge, guide, accountant],
  entryPoints: [concierge],
  flows: [delegate(concierge, guide), delegate(concierge, accountant), handOff(concierge, guide)],
});
