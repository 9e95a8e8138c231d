import { defineAgency, defineAgent } from '@runwire/agency';

const concierge = defineAgent({
  name: 'Concierge',
  description: 'Answers whatever it is asked.',
  instructions: 'You are a friendly concierge. Answer briefly and to the point.',
});

/** Bundled, so that a fresh installation has something to talk to. */
export const demoAgency = defineAgency({ name: 'Demo', agents: [concierge] });
